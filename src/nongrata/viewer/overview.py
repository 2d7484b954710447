"""What a run is, on one screen."""

from __future__ import annotations

from collections import Counter
from typing import Any

from nongrata._version import __version__
from nongrata.viewer.flips import FATES
from nongrata.viewer.question_list import ORDERS, domain_of
from nongrata.viewer.run_on_disk import RunState


def overview(state: RunState) -> dict[str, Any]:
    """Title, models, design and progress of a run, for JSON."""
    study, questions = state.content.study, state.content.questions
    return {
        "nongrata": __version__,
        "run": state.folder.resolve().name,
        "study": study.name,
        "title": study.title or study.name,
        "note": study.note,
        "notices": notices(state),
        "models": [_model(state, model) for model in state.models],
        "factors": [
            {"name": factor.name, "levels": [level.id for level in factor.levels]}
            for factor in study.factors
        ],
        "personas": [
            {"id": p.id, "text": p.text, "group": p.group, "control": p.control}
            for p in state.content.personas
        ],
        "configurations": len(state.levels),
        "replicates": study.replicates,
        "answers_in_all": state.plan.answers_in_all,
        "questions": len(questions),
        "sources": dict(Counter(question.source for question in questions)),
        "domains": dict(sorted(Counter(domain_of(question) for question in questions).items())),
        "outcomes": FATES,
        "orders": ORDERS,
        "version": version_of(state),
    }


def notices(state: RunState) -> list[str]:
    """What a reader of anything in the run must know first."""
    return state.manifest.warnings() + [
        f"{item.name} is {item.what}"
        + (f" ({item.rows:,} requests)" if item.rows else "")
        + ": run the same study again to repair it"
        for item in state.damage
    ]


def version_of(state: RunState) -> str:
    """A text that changes when answers are added."""
    return f"{len(state.shards)}-{sum(shard.rows for shard in state.shards)}"


def _model(state: RunState, model: str) -> dict[str, Any]:
    record = state.manifest.models.get(model)
    return {
        "id": model,
        "simulated": record is not None and not record.is_model,
        "stored": state.rows(model),
        "in_all": state.passes_in_all,
    }
