"""One cell: the prompt exactly as sent, the answer, and how it was read."""

from __future__ import annotations

from typing import Any

from nongrata.answer_view import Cell, view_cell
from nongrata.answers.trace import trace_answer
from nongrata.errors import NongrataError
from nongrata.question_answers import Row, plan_of, row_of_cell, rows_of
from nongrata.viewer.run_on_disk import RunState

_PROVENANCE = ("finish", "prompt_tokens", "cached_tokens", "completion_tokens")


def read_cell(state: RunState, model: str, text: str) -> Cell:
    """The cell that an address names.

    Parameters
    ----------
    state
        The run.
    model
        Id of the model.
    text
        Label, level of each factor and replicate, separated by commas, as in
        ``a-cook,you,answer,0.5,0``; the replicate may be left out.
    """
    parts = text.split(",")
    factors = len(state.plan.study.factors)
    wrong = NongrataError(
        f"the run has no cell '{text}'", fix="name a label, a level of each factor and a replicate"
    )
    if len(parts) not in {factors + 1, factors + 2}:
        raise wrong
    persona, levels = parts[0], tuple(parts[1 : factors + 1])
    repeat = parts[factors + 1] if len(parts) > factors + 1 else "0"
    if persona not in state.personas or levels not in state.levels:
        raise wrong
    if not (repeat.isascii() and repeat.isdigit() and len(repeat) < 6):
        raise wrong
    configuration = state.levels.index(levels)
    if int(repeat) >= state.plan.answers_at(float(state.plan.temperature[configuration])):
        raise wrong
    return Cell(model, state.personas[persona], configuration, int(repeat))


def cell_page(state: RunState, place: int, cell: Cell, shards: tuple[Any, ...]) -> dict[str, Any]:
    """A cell's prompt, answer and reading, for JSON.

    Parameters
    ----------
    state
        The run.
    place
        The question.
    cell
        The cell.
    shards
        Files that hold rows of the question.
    """
    plan = plan_of(state.plan, [state.content.questions[place]])
    row = _find(plan, cell, shards)
    duplicate = bool(state.repeated[cell.persona, cell.configuration])
    view = view_cell(plan, cell, row, vocabulary=state.vocabulary(cell.model), duplicate=duplicate)
    skeleton = int(plan.skeleton_of[cell.persona, cell.configuration])
    block, options = plan.prompts.block(skeleton, 0), plan.prompts.options(skeleton, 0)
    trace = None
    if row is not None and view.text is not None:
        cut = row["finish"] == "length"
        trace = trace_answer(view.text, block.labels, options, truncated=cut).as_dict()
    return {
        "answer": view.as_dict(),
        "offered": [
            {"label": label, "option": identity, "text": text}
            for label, identity, text in zip(block.labels, block.order, options, strict=True)
        ],
        "trace": trace,
        "same_as": _earlier(state, cell) if duplicate else None,
        "stored": None if row is None else _stored(row),
        "model": _identity(state, cell.model),
    }


def _find(plan: Any, cell: Cell, shards: tuple[Any, ...]) -> Row | None:
    """The row that answers a cell; the last shard that has it stands, as everywhere."""
    where = (cell.persona, cell.configuration, cell.replicate)
    holding = rows_of(shards, plan, ("skeleton", "question", "temperature", "replicate"))
    if not len(holding):
        return None
    found = row_of_cell(holding, plan, *where)
    if found is None:
        return None
    shard = [path for path in shards if str(path) == found["shard"]]
    return row_of_cell(rows_of(shard, plan), plan, *where)


def _earlier(state: RunState, cell: Cell) -> str:
    """The first cell of the same label that sends the same, as an address names it."""
    own = state.plan.cells[cell.persona]
    first = int((own == own[cell.configuration]).argmax())
    persona = state.content.personas[cell.persona].id
    return ",".join((persona, *state.levels[first], str(cell.replicate)))


def _stored(row: Row) -> dict[str, Any]:
    """Where the answer is kept, and what the engine said about it."""
    key = f"{row['key_high']:016x}{row['key_low']:016x}"
    shard = row["shard"].replace("\\", "/").rsplit("/", 1)[-1]
    return {"request": key, "shard": shard} | {name: row[name] for name in _PROVENANCE}


def _identity(state: RunState, model: str) -> dict[str, Any]:
    record = state.manifest.models.get(model)
    if record is None:
        return {"id": model, "identity": {}, "simulated": None}
    return {"id": model, "identity": record.identity, "simulated": not record.is_model}
