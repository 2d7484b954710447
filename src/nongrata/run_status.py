"""How far a run is, and whether all of it is whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from nongrata.integrity import side_file_damage
from nongrata.manifest import Manifest
from nongrata.plan import READINGS, Plan
from nongrata.run_files import bytes_under, read_table
from nongrata.run_folder import read_content
from nongrata.run_path import run_path
from nongrata.store import Damage, Store, done_keys


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """One model's part of a run.

    Parameters
    ----------
    id
        The model.
    simulated
        Whether its answers are simulated.
    requests, requests_in_all
        Passes committed, and those the study needs.
    answers, answers_in_all
        The same in answers of the design.
    outcomes
        Count of each outcome among generated texts, and of errors among all passes.
    cached_share
        Share of prompt tokens that the engine did not have to compute, where it says so.
    """

    id: str
    simulated: bool
    requests: int
    requests_in_all: int
    answers: int
    answers_in_all: int
    outcomes: Mapping[str, int]
    cached_share: float | None

    @property
    def outcome_shares(self) -> dict[str, float]:
        """Share of each outcome among generated texts."""
        total = sum(self.outcomes.values())
        return {name: count / total for name, count in self.outcomes.items()} if total else {}


@dataclass(frozen=True, slots=True)
class RunStatus:
    """A run directory, as it stands."""

    run: str
    study: str
    limit: int | None
    complete: bool
    models: tuple[ModelStatus, ...]
    damage: tuple[Damage, ...]
    bytes: int
    notices: tuple[str, ...]
    stored_twice: int
    kind: str = "status"

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)

    def warnings(self) -> list[str]:
        """What a reader must know first."""
        lines = list(self.notices)
        if self.stored_twice:
            lines.append(
                f"{self.stored_twice:,} answers are stored twice: a shard was copied by hand; "
                "remove the copy"
            )
        return lines + [
            f"{item.name} is {item.what}"
            + (f" ({item.rows:,} requests)" if item.rows else "")
            + ": run the same study again to repair it"
            for item in self.damage
        ]


def run_status(folder: str | Path) -> RunStatus:
    """Describe a run directory from its own files.

    Parameters
    ----------
    folder
        The run directory; it may be in use by a running process.
    """
    folder = run_path(folder)
    manifest = Manifest.read(folder)
    content = read_content(folder)
    store = Store(folder)
    models = []
    damage = (*store.damage, *side_file_damage(folder, manifest))
    twice = 0
    for spec in content.study.models:
        plan = content.plan()
        counted = _Count(plan)
        repeated = done_keys(store.paths(spec.id)).duplicates()
        twice += repeated
        for path in store.paths(spec.id):
            counted.add(path)
        models.append(
            ModelStatus(
                id=spec.id,
                simulated=spec.engine == "simulated",
                requests=store.rows(spec.id) - repeated,
                requests_in_all=sum(plan.size(reading) for reading in READINGS),
                answers=counted.answers,
                answers_in_all=plan.answers_in_all,
                outcomes=dict(counted.outcomes),
                cached_share=counted.cached / counted.tokens if counted.tokens else None,
            )
        )
    return RunStatus(
        run=str(folder),
        study=content.study.name,
        limit=manifest.limit,
        complete=all(m.requests == m.requests_in_all for m in models) and not damage and not twice,
        models=tuple(models),
        damage=damage,
        notices=tuple(manifest.warnings()),
        stored_twice=twice,
        bytes=bytes_under(folder),
    )


class _Count:
    """Answers, outcomes and tokens of a model's shards, one shard at a time."""

    def __init__(self, plan: Plan) -> None:
        self._weight: dict[tuple[int, float | None], int] = {}
        for reading in READINGS:
            passes = plan.pass_requests(reading)
            digests = plan.prompts.skeleton_digests[passes.skeleton, 0]
            worth = zip(digests, passes.temperature, plan.answers(passes), strict=True)
            for digest, heat, answers in worth:
                at = float(heat) if reading == "free" else None
                self._weight[int(digest), at] = int(answers)
        self.answers = 0
        self.outcomes: Counter[str] = Counter()
        self.tokens = 0
        self.cached = 0

    def add(self, path: Path) -> None:
        import pyarrow.compute as pc

        names = ["skeleton", "temperature", "outcome", "prompt_tokens", "cached_tokens", "error"]
        table = read_table(path, names)
        groups = (
            table.filter(pc.is_null(table["error"]))
            .group_by(["skeleton", "temperature"])
            .aggregate([([], "count_all")])
        )
        for row in groups.to_pylist():
            weight = self._weight.get((row["skeleton"], row["temperature"]), 0)
            self.answers += weight * int(row["count_all"])
        for entry in pc.value_counts(table["outcome"].combine_chunks()):
            if entry["values"].as_py() is not None:
                self.outcomes[str(entry["values"].as_py())] += int(entry["counts"].as_py())
        self.tokens += pc.sum(table["prompt_tokens"]).as_py() or 0
        self.cached += pc.sum(table["cached_tokens"]).as_py() or 0
