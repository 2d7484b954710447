"""May a study go on in a run that was started with another? Only if nothing would mix.

A run may grow: new models, personas, levels, questions and replicates are new requests beside the
old ones. Whatever is already in the run must be in the study as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from nongrata.personas import Persona
from nongrata.questions.model import Question
from nongrata.study import Study


def differences(
    old: Study,
    new: Study,
    old_personas: Iterable[Persona],
    new_personas: Iterable[Persona],
    old_questions: Iterable[Question],
    new_questions: Iterable[Question],
) -> list[str]:
    """Name everything that keeps the new study from going on in the old one's run.

    Returns
    -------
    list of str
        Empty if it may go on.
    """
    found: list[str] = []
    for field in ("name", "seed"):
        before, now = getattr(old, field), getattr(new, field)
        if before != now:
            found.append(f"{field}: {before!r} became {now!r}")
    for field in ("prompt", "settings", "slots"):
        before, now = old.model_dump(mode="json")[field], new.model_dump(mode="json")[field]
        found += _changed(field, before, now)
    if new.replicates < old.replicates:
        found.append(f"replicates: {old.replicates} became {new.replicates}")
    if old.repeat_at_zero and not new.repeat_at_zero:
        found.append("repeat_at_zero: True became False")
    found += _removed_or_changed(
        "model",
        {m.id: m.model_dump(mode="json", exclude=set(m.how_served)) for m in old.models},
        {m.id: m.model_dump(mode="json", exclude=set(m.how_served)) for m in new.models},
    )
    found += _factors(old, new)
    found += _removed_or_changed(
        "persona",
        {p.id: {"text": p.text, "control": p.control} for p in old_personas},
        {p.id: {"text": p.text, "control": p.control} for p in new_personas},
    )
    found += _removed_or_changed(
        "question",
        {q.id: _shown(q) for q in old_questions},
        {q.id: _shown(q) for q in new_questions},
    )
    return found


def _shown(question: Question) -> dict[str, Any]:
    return {
        "context": question.context,
        "question": question.question,
        "choices": list(question.choices),
        "answer": question.answer,
    }


def _factors(old: Study, new: Study) -> list[str]:
    before = [factor.name for factor in old.factors]
    now = [factor.name for factor in new.factors]
    if before != now:
        return [f"factors: {', '.join(before)} became {', '.join(now)}"]
    found: list[str] = []
    for was, becomes in zip(old.factors, new.factors, strict=True):
        found += _removed_or_changed(
            f"level of {was.name}",
            {level.id: level.model_dump(mode="json", exclude={"note"}) for level in was.levels},
            {level.id: level.model_dump(mode="json", exclude={"note"}) for level in becomes.levels},
        )
    return found


def _removed_or_changed(
    what: str, old: Mapping[str, Mapping[str, Any]], new: Mapping[str, Mapping[str, Any]]
) -> list[str]:
    found: list[str] = []
    gone = [key for key in old if key not in new]
    if gone:
        shown = ", ".join(gone[:3]) + (f" and {len(gone) - 3} more" if len(gone) > 3 else "")
        found.append(f"{what} {shown}: in the run, but not in the study")
    for key in old:
        if key in new:
            found += _changed(f"{what} {key}", old[key], new[key])
    return found


def _changed(where: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    return [
        f"{where}, {key}: {_short(old.get(key))} became {_short(new.get(key))}"
        for key in sorted(old.keys() | new.keys())
        if old.get(key) != new.get(key)
    ]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
