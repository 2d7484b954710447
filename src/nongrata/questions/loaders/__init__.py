"""One small module per form in which people have question sets, behind one function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from nongrata.errors import NongrataError
from nongrata.questions.files import source_files
from nongrata.questions.loaders import mmlu, normad, normalised, socialiqa, table
from nongrata.questions.loaders.rows import Loaded
from nongrata.questions.model import Question, QuestionSet
from nongrata.questions.source import SourceFormat, SourceSpec, suggestion

Loader = Callable[[SourceSpec, list[Path], list[str]], Iterator[Loaded]]

LOADERS: dict[SourceFormat, Loader] = {
    SourceFormat.NORMALISED: normalised.load,
    SourceFormat.MMLU_HUB: mmlu.load_hub,
    SourceFormat.MMLU_ORIGINAL: mmlu.load_original,
    SourceFormat.SOCIALIQA_HUB: socialiqa.load_hub,
    SourceFormat.NORMAD_CSV: normad.load,
    SourceFormat.TABLE: table.load,
}


def load_questions(source: SourceSpec, *, base: Path) -> QuestionSet:
    """Read every question of a source that its ``where`` keeps, in the order of its files.

    Nothing is drawn, and domains and clusters are not assigned: `build_questions` does that for
    all sources of a study together.

    Parameters
    ----------
    source
        What to read.
    base
        Folder that relative paths start from: the study file's.

    Raises
    ------
    NongrataError
        At the first row that is not a question, naming file, line and field.

    Examples
    --------
    >>> import tempfile
    >>> line = '{"id": "own/1", "question": "1 + 1?", "choices": ["1", "2"], "answer": 1}'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "own.jsonl").write_text(line + chr(10))
    ...     own = SourceSpec(id="own", format="normalised", path="own.jsonl")
    ...     load_questions(own, base=Path(folder))[0].choices
    ('1', '2')
    """
    notes: list[str] = []
    loaded = _load(source, base, notes)
    questions = _keep(source, _refuse_same_id(loaded))
    if not questions:
        raise NongrataError(f"the source '{source.id}' holds no question")
    return QuestionSet(questions, tuple(notes))


def _load(source: SourceSpec, base: Path, notes: list[str]) -> Iterator[Loaded]:
    if source.format is SourceFormat.STARTER:
        return normalised.load_starter(source, notes)
    files = source_files(source, base)
    if source.format is SourceFormat.SOCIALIQA_ORIGINAL:
        # the source was refused without labels; the type checker cannot know
        return socialiqa.load_original(source, files, base / (source.labels or ""), notes)
    return LOADERS[source.format](source, files, notes)


def _refuse_same_id(loaded: Iterator[Loaded]) -> tuple[Question, ...]:
    first: dict[str, str] = {}
    questions = []
    for item in loaded:
        place = item.row.where()
        if item.question.id in first:
            raise NongrataError(
                f"the id '{item.question.id}' stands here and at {first[item.question.id]}",
                where=place,
                fix="give every question its own id",
            )
        first[item.question.id] = place
        questions.append(item.question)
    return tuple(questions)


def _keep(source: SourceSpec, questions: tuple[Question, ...]) -> tuple[Question, ...]:
    for key in ("subject", "id"):
        wanted = getattr(source.where, key)
        if wanted is None:
            continue
        known = dict.fromkeys(getattr(q, key) for q in questions)
        for name in wanted:
            if name not in known:
                raise NongrataError(
                    f"the source '{source.id}' has no question whose {key} is '{name}'",
                    where=f"where.{key}",
                    fix=suggestion(name, tuple(known)),
                )
        keep = frozenset(wanted)
        questions = tuple(q for q in questions if getattr(q, key) in keep)
    return questions
