"""Which questions are listed, and in which order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nongrata.errors import NongrataError
from nongrata.questions.model import Question
from nongrata.viewer.flips import FATES, QuestionCounts
from nongrata.viewer.run_on_disk import RunState

PAGE_SIZE = 50
_MOST_ON_A_PAGE = 500
_SNIPPET = 240

ORDERS = ("flips", "option_flips", "label_flips", "right", "id", "study")
"""By what questions can be sorted; all but ``id`` and ``study`` need the counts."""
_FALLING = {"flips", "option_flips", "label_flips"}


@dataclass(frozen=True, slots=True)
class ListQuery:
    """What a reader looks for.

    Parameters
    ----------
    model
        Under which model.
    search
        Words that must all stand in a question's id, context, text or options; case is ignored.
    source, domain
        Only questions of this source or domain; empty: all.
    outcome
        Only questions with at least one such answer; one of `FATES`, or empty.
    sort, reverse
        By what, and whether the other way round than usual: what flips most stands first, what is
        right least often stands first, ids rise.
    page, size
        Which page, from 1, and how many questions it has.
    """

    model: str
    search: str = ""
    source: str = ""
    domain: str = ""
    outcome: str = ""
    sort: str = "flips"
    reverse: bool = False
    page: int = 1
    size: int = PAGE_SIZE

    @classmethod
    def of(cls, values: dict[str, str], models: list[str]) -> ListQuery:
        """Read a query from the parameters of an address."""
        model = values.get("model") or models[0]
        checks = (
            ("model", model, models),
            ("sort", values.get("sort") or "flips", ORDERS),
            ("outcome", values.get("outcome") or "", ("", *FATES)),
            ("order", values.get("order") or "", ("", "usual", "reverse")),
        )
        for name, value, known in checks:
            if value not in known:
                raise NongrataError(
                    f"there is no {name} '{value}'", fix=f"one of: {', '.join(known)}"
                )
        return cls(
            model=model,
            search=values.get("search", ""),
            source=values.get("source", ""),
            domain=values.get("domain", ""),
            outcome=values.get("outcome", ""),
            sort=values.get("sort") or "flips",
            reverse=values.get("order") == "reverse",
            page=_number(values, "page", 1),
            size=min(_number(values, "size", PAGE_SIZE), _MOST_ON_A_PAGE),
        )


def _number(values: dict[str, str], name: str, otherwise: int) -> int:
    text = values.get(name) or str(otherwise)
    if not (text.isascii() and text.isdigit() and 0 < len(text) < 10 and int(text) > 0):
        raise NongrataError(f"'{name}' is no number from 1", fix="give a whole number")
    return int(text)


def places_of(
    state: RunState, query: ListQuery, counts: QuestionCounts | None
) -> NDArray[np.int64]:
    """Places of the questions that a query finds, in its order; all on all pages.

    What needs the counts (an outcome, some orders) is left out while there are none.
    """
    questions = state.content.questions
    words = query.search.casefold().split()
    keep = np.array([_matches(question, query, words) for question in questions], dtype=np.bool_)
    if query.outcome and counts is not None:
        keep &= counts.fates[:, FATES.index(query.outcome)] > 0
    found = np.flatnonzero(keep)
    by_id = query.sort == "id"
    if by_id:
        found = np.array(sorted(found, key=lambda i: questions[int(i)].id), dtype=np.int64)
    values = None if counts is None else _values(query.sort, counts)
    if values is not None:
        falling = (query.sort in _FALLING) != query.reverse
        chosen = values[found].astype(np.float64)
        key = np.where(np.isnan(chosen), np.inf, -chosen if falling else chosen)
        return found[np.argsort(key, kind="stable")]
    return found[::-1] if query.reverse else found


def _matches(question: Question, query: ListQuery, words: list[str]) -> bool:
    if query.source and question.source != query.source:
        return False
    if query.domain and domain_of(question) != query.domain:
        return False
    if not words:
        return True
    parts = (question.id, question.context, question.question, *question.choices)
    text = "\n".join(parts).casefold()
    return all(word in text for word in words)


def domain_of(question: Question) -> str:
    """The domain a question is reported under."""
    return question.domain or "other"


def _values(order: str, counts: QuestionCounts) -> NDArray[np.float32] | None:
    return {
        "flips": counts.flips,
        "option_flips": counts.option_flips,
        "label_flips": counts.most_flips,
        "right": counts.right,
    }.get(order)


def list_page(state: RunState, query: ListQuery, counts: QuestionCounts | None) -> dict[str, Any]:
    """One page of the list, for JSON."""
    found = places_of(state, query, counts)
    pages = max(1, -(-len(found) // query.size))
    page = min(query.page, pages)
    shown = found[(page - 1) * query.size : page * query.size]
    return {
        "total": len(found),
        "page": page,
        "pages": pages,
        "size": query.size,
        "questions": [_entry(state, int(place), counts) for place in shown],
    }


def _entry(state: RunState, place: int, counts: QuestionCounts | None) -> dict[str, Any]:
    question = state.content.questions[place]
    text = " ".join(part for part in (question.context, question.question) if part)
    return {
        "id": question.id,
        "source": question.source,
        "domain": domain_of(question),
        "text": text if len(text) <= _SNIPPET else text[: _SNIPPET - 1] + "…",
        "figures": figures(state, place, counts),
    }


def figures(state: RunState, place: int, counts: QuestionCounts | None) -> dict[str, Any] | None:
    """Figures of one question; None before they are counted."""
    if counts is None:
        return None
    most = int(counts.most[place])
    return {
        "flips": _known(counts.flips[place]),
        "option_flips": _known(counts.option_flips[place]),
        "right": _known(counts.right[place]),
        "label_flips": float(counts.most_flips[place]),
        "flips_most": None if most < 0 else state.content.personas[most].id,
        "outcomes": dict(zip(FATES, counts.fates[place].tolist(), strict=True)),
    }


def _known(value: np.float32) -> float | None:
    return None if np.isnan(value) else float(value)
