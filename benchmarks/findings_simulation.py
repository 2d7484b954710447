"""Findings tell three kinds of study apart; IQ does not.

Three kinds of simulated study with the same design and, on average, the same IQ:

    noise    theta depends on the question only: all differences are sampling noise
    formats  theta also depends on the first factor, for all labels alike
    labels   theta also depends on the label, for two of them, in every configuration alike

A study's findings are right if the conclusion that makes its kind is reached (for noise: none is)
and no conclusion is called robust or established that is false. Run from the repository root:

    python -m benchmarks.findings_simulation --studies 200 --processes 2
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np

from nongrata.analysis.model_data import Resampling
from nongrata.conclusions import Conclusion, Findings, findings
from nongrata.stats.iq import instability_of_questions

Kind = Literal["noise", "formats", "labels"]
KINDS: tuple[Kind, ...] = ("noise", "formats", "labels")
PAGE = Path("docs/statistics/findings-simulation.md")

FACTORS: dict[str, list[Any]] = {
    "persona_format": ["statement", "role"],
    "task_format": ["answer", "explain"],
    "temperature": [0.0, 0.5, 1.0],
}
LABELS, CONTROLS, QUESTIONS = 8, 2, 600
CENTRE = 0.9
"""Centre of questions' difficulty on the logit scale: an accuracy of about 60%."""
FORMAT_EFFECT = 0.8
"""Logit under one task format above that under the other."""
LABEL_EFFECT = 1.6
"""Logit of the first label above that of the second; the others lie in the middle."""
QUESTION_SD: dict[Kind, float] = {"noise": 3.0, "formats": 3.14, "labels": 3.02}
"""Spread of questions' difficulty (logit), so that the three kinds have the same mean IQ."""


@dataclass(frozen=True)
class Outcome:
    """One study: was it right, did it reach its conclusion, was anything false claimed; its IQ."""

    kind: Kind
    seed: int
    reached: bool
    false: tuple[str, ...]
    iq: float

    @property
    def right(self) -> bool:
        """Whether the findings are right."""
        return self.reached and not self.false


def study(kind: Kind, seed: int) -> Any:
    """A Dataset of responses of one kind, one draw a cell."""
    import xarray as xr

    rng = np.random.default_rng((seed, KINDS.index(kind)))
    P, K = LABELS + CONTROLS, 12
    levels = np.array(list(product(*(range(len(v)) for v in FACTORS.values()))))
    logit = np.full((P, K, QUESTIONS), CENTRE) + QUESTION_SD[kind] * rng.normal(size=QUESTIONS)
    if kind == "formats":
        logit += FORMAT_EFFECT * (levels[:, 1] - 0.5)[None, :, None]
    if kind == "labels":
        logit[0] += LABEL_EFFECT / 2
        logit[1] -= LABEL_EFFECT / 2
    theta = 1 / (1 + np.exp(-logit))
    right = rng.random(theta.shape) < theta
    answer = (np.arange(QUESTIONS) % 4).astype(np.int8)
    option = np.where(right, answer, (answer + 1) % 4).astype(np.int8)
    inner = tuple(len(v) for v in FACTORS.values())
    shape = (1, P, *inner, 1, QUESTIONS)
    dims = ("model", "persona", *FACTORS)
    names = [f"q{i}" for i in range(QUESTIONS)]
    return xr.Dataset(
        {
            "option": ((*dims, "replicate", "question"), option.reshape(shape)),
            "outcome": ((*dims, "replicate", "question"), np.zeros(shape, np.uint8)),
            "theta": (
                (*dims, "question"),
                np.full((1, P, *inner, QUESTIONS), np.nan, np.float32),
            ),
            "duplicate": (("persona", *FACTORS), np.zeros((P, *inner), bool)),
        },
        coords={
            "model": ["simulated"],
            "persona": [f"label-{i}" for i in range(LABELS)]
            + [f"control-{i}" for i in range(CONTROLS)],
            **FACTORS,
            "replicate": [0],
            "question": names,
            "is_control": ("persona", np.arange(P) >= LABELS),
            "answer": ("question", answer),
            "domain": ("question", rng.permutation(np.array(["one", "two", "three"]).repeat(200))),
            "cluster": ("question", names),
            "source": ("question", np.full(QUESTIONS, "made")),
            "n_options": ("question", np.full(QUESTIONS, 4, np.int8)),
        },
        attrs={"factors": list(FACTORS)},
    )


def is_true(kind: Kind, c: Conclusion) -> bool:
    """Whether a conclusion holds in studies of a kind, in its direction."""
    if kind == "noise":
        return False
    if kind == "formats":
        if c.family == "effects":
            return c.subject in ("the configuration", "task_format")
        return c.family == "orders" and c.statement.startswith("task_format moves accuracy more")
    if c.family == "effects":
        return c.subject == "labels"
    place = {"label-0": 2, "label-1": 0}
    if c.family == "extremes":
        return c.subject == ("label-0" if "most accurately" in c.statement else "label-1")
    if c.family == "pairs":
        return place.get(c.subject, 1) > place.get(c.rival, 1)
    if c.family == "controls":
        return ("more accurately" in c.statement) == (c.subject == "label-0") and (
            c.subject in place
        )
    return False


def reached(kind: Kind, found: Findings) -> bool:
    """Whether the conclusion that makes a kind is there."""
    claimed = [c for c in found.conclusions if c.verdict in ("robust", "established")]
    if kind == "noise":
        return not claimed
    if kind == "formats":
        return any(c.family == "effects" and c.subject == "the configuration" for c in claimed)
    return any(
        c.family == "pairs" and (c.subject, c.rival) == ("label-0", "label-1") for c in claimed
    )


def outcome(task: tuple[Kind, int]) -> Outcome:
    """Simulate, conclude, and compare with the truth."""
    kind, seed = task
    responses = study(kind, seed)
    found = findings(responses, Resampling(draws=500, splits=20, seed=seed))
    false = tuple(
        c.sentence
        for c in found.conclusions
        if c.verdict in ("robust", "established") and not is_true(kind, c)
    )
    right = responses["option"].to_numpy() == responses["answer"].to_numpy()
    x = right.reshape(LABELS + CONTROLS, 12, QUESTIONS)[:LABELS]
    return Outcome(
        kind, seed, reached(kind, found), false, instability_of_questions(x).figure.value
    )


def auc(a: Sequence[float], b: Sequence[float]) -> float:
    """Chance that IQ of one kind is above that of the other, ties half; .5: tells nothing."""
    x, y = np.asarray(a)[:, None], np.asarray(b)[None, :]
    return float((x > y).mean() + 0.5 * (x == y).mean())


def page(outcomes: Sequence[Outcome]) -> str:
    """The result as a page of the documentation."""
    n = len(outcomes) // len(KINDS)
    text = f"""# Findings on three kinds of simulated study

Written by `python -m benchmarks.findings_simulation`: {n} studies of each kind, {QUESTIONS}
questions, {LABELS} labels and {CONTROLS} controls, 2 x 2 x 3 configurations, one draw a cell. *noise*: the probability of a
right answer depends on the question only. *formats*: also on the task format ({FORMAT_EFFECT} in logit, about 8 points).
*labels*: also on two labels ({LABEL_EFFECT} in logit, about 18 points, in every configuration). The spread of questions'
difficulty is chosen so that all three have the same mean IQ.

*Right*: the conclusion that makes the kind is reached, and nothing false is called robust or established.

| kind | right | conclusion reached | anything false robust or established | IQ, mean | IQ, sd |
| --- | --- | --- | --- | --- | --- |
"""  # noqa: E501
    lines: list[str] = []
    by_kind = {k: [o for o in outcomes if o.kind == k] for k in KINDS}
    for kind, these in by_kind.items():
        iq = np.array([o.iq for o in these])
        lines.append(
            f"| {kind} | {np.mean([o.right for o in these]):.1%} | "
            f"{np.mean([o.reached for o in these]):.1%} | "
            f"{np.mean([bool(o.false) for o in these]):.1%} | {iq.mean():.2f} | {iq.std():.2f} |"
        )
    pairs = [("noise", "formats"), ("noise", "labels"), ("formats", "labels")]
    told = ", ".join(
        f"{b} from {a} {auc([o.iq for o in by_kind[b]], [o.iq for o in by_kind[a]]):.2f}"
        for a, b in pairs
    )
    lines += [
        "",
        f"IQ alone (area under the ROC curve; .5 tells nothing): {told}.",
        "",
    ]
    return text + "\n".join(lines)


def main() -> None:
    """Run all studies and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--out", type=Path, default=PAGE)
    arguments = parser.parse_args()
    tasks = [(kind, seed) for kind in KINDS for seed in range(arguments.studies)]
    with ProcessPoolExecutor(arguments.processes) as pool:
        outcomes = list(pool.map(outcome, tasks, chunksize=10))
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(page(outcomes), encoding="utf-8")
    for o in outcomes:
        if not o.right:
            print(o.kind, o.seed, "reached" if o.reached else "not reached", *o.false[:3])
    print(page(outcomes))


if __name__ == "__main__":
    main()
