"""The viewer's JSON interface.

Every address answers to GET with one JSON object; a request that cannot be served has the one key
``error``, a sentence. Texts are those of the run, unaltered: whoever shows them must treat them as
text.

``/api/overview``
    Title, models, design, notices and progress of the run.
``/api/questions?model=&search=&source=&domain=&outcome=&sort=&order=&page=&size=``
    A page of the list of questions (`nongrata.viewer.question_list.ListQuery`).
``/api/question?id=&model=&replicate=``
    One question's texts, and what became of it in every cell. With the parameters of a list, also
    the questions before and after it there.
``/api/cell?id=&model=&cell=LABEL,LEVEL,...,REPLICATE``
    One cell: the prompt as sent, the answer, and how it was read.
``/api/progress?model=``
    How far the run, and the counting of its questions' figures, are.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from nongrata.errors import NongrataError
from nongrata.question_answers import QuestionAnswers, plan_of, read_answers
from nongrata.viewer.cell_page import cell_page, read_cell
from nongrata.viewer.counting import Counting, Progress
from nongrata.viewer.overview import notices, overview, version_of
from nongrata.viewer.question_list import ListQuery, figures, list_page, places_of
from nongrata.viewer.question_page import place_of, question_page
from nongrata.viewer.run_on_disk import RunOnDisk, RunState

_REMEMBERED = 64


class Api:
    """Answers to the addresses above, of one run.

    Parameters
    ----------
    run
        The run.
    """

    def __init__(self, run: RunOnDisk) -> None:
        self.run = run
        self.counting = Counting(run)
        self._lock = threading.Lock()
        self._answers: OrderedDict[tuple[int, str], tuple[RunState, QuestionAnswers]]
        self._answers = OrderedDict()
        self._routes: dict[str, Callable[[dict[str, str]], dict[str, Any]]] = {
            "/api/overview": self._overview,
            "/api/questions": self._questions,
            "/api/question": self._question,
            "/api/cell": self._cell,
            "/api/progress": self._progress,
        }

    def get(self, path: str, values: dict[str, str]) -> dict[str, Any] | None:
        """The answer to one address; None if there is no such address.

        Raises
        ------
        NongrataError
            If the run has not what is asked for.
        """
        route = self._routes.get(path)
        if route is None:
            return None
        with self.counting.interrupted():
            return route(values)

    def _overview(self, _: dict[str, str]) -> dict[str, Any]:
        return overview(self.run.now())

    def _questions(self, values: dict[str, str]) -> dict[str, Any]:
        state = self.run.now()
        query = ListQuery.of(values, state.models)
        progress = self.counting.of(query.model, state)
        return list_page(state, query, progress.counts) | {"counting": _counting(progress)}

    def _question(self, values: dict[str, str]) -> dict[str, Any]:
        state = self.run.now()
        query = ListQuery.of(values, state.models)
        place = place_of(state, values.get("id", ""))
        replicate = _replicate(state, values.get("replicate") or "0")
        page = question_page(state, place, self._read(state, place, query.model), replicate)
        progress = self.counting.of(query.model, state)
        listed = places_of(state, query, progress.counts).tolist()
        at = listed.index(place) if place in listed else None
        before = after = None
        if at is not None:
            before = listed[at - 1] if at else None
            after = listed[at + 1] if at + 1 < len(listed) else None
        ids = [None if i is None else state.content.questions[i].id for i in (before, after)]
        return page | {
            "model": query.model,
            "figures": figures(state, place, progress.counts),
            "counting": _counting(progress),
            "position": None if at is None else at + 1,
            "listed": len(listed),
            "before": ids[0],
            "after": ids[1],
            "version": version_of(state),
        }

    def _cell(self, values: dict[str, str]) -> dict[str, Any]:
        state = self.run.now()
        model = ListQuery.of({"model": values.get("model", "")}, state.models).model
        place = place_of(state, values.get("id", ""))
        cell = read_cell(state, model, values.get("cell", ""))
        shards = self._read(state, place, model).shards
        return cell_page(state, place, cell, shards) | {"cell": values["cell"]}

    def _progress(self, values: dict[str, str]) -> dict[str, Any]:
        state = self.run.now()
        model = ListQuery.of({"model": values.get("model", "")}, state.models).model
        progress = self.counting.of(model, state)
        return {
            "version": version_of(state),
            "stored": state.rows(model),
            "in_all": state.passes_in_all,
            "notices": notices(state),
            "counting": _counting(progress),
        }

    def _read(self, state: RunState, place: int, model: str) -> QuestionAnswers:
        """A question's answers, remembered while the run has not changed."""
        with self._lock:
            known = self._answers.get((place, model))
            if known is not None and known[0] is state:
                self._answers.move_to_end((place, model))
                return known[1]
        at_hand = self.counting.answers(model, state, place)
        if at_hand is not None:
            return at_hand
        plan = plan_of(state.plan, [state.content.questions[place]])
        found = read_answers(state.paths(model), plan, state.vocabulary(model))
        with self._lock:
            self._answers[place, model] = (state, found)
            while len(self._answers) > _REMEMBERED:
                self._answers.popitem(last=False)
        return found


def _replicate(state: RunState, text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < 6 and int(text) < state.plan.replicates:
        return int(text)
    raise NongrataError(f"there is no replicate '{text}'", fix=f"0 to {state.plan.replicates - 1}")


def _counting(progress: Progress) -> dict[str, Any]:
    return {
        "done": progress.done,
        "ready": progress.counts is not None,
        "current": progress.current,
        "trouble": progress.trouble,
    }
