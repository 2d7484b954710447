"""The analysis by the obvious pandas, scipy and statsmodels way, on a tenth of a run.

Everything is written as one would write it in a notebook: a long table, groupby and pivot, a loop
over pairs of configurations, a loop over resamples. The bootstrap and the permutation test are
timed on a few resamples and scaled to 2,000; the table says so.

Run: python benchmarks/pandas_way.py RUN [share of the questions, default 0.1]
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

import nongrata as ng
from nongrata.responses import load_run

DRAWS = 2_000
TIMED = 4
"""Resamples that are really drawn."""


def long_table(run: Path, share: float) -> pd.DataFrame:
    """Every answer of the first model's labels in a row of its own."""
    responses = load_run(run).isel(model=0, replicate=0)
    kept = ~responses["is_control"].to_numpy()
    questions = np.arange(responses.sizes["question"])[:: round(1 / share)]
    responses = responses.isel(persona=np.flatnonzero(kept), question=questions)
    factors = list(responses.attrs["factors"])
    frame = responses[["option", "outcome"]].to_dataframe().reset_index()
    frame["correct"] = (frame["option"] == frame["answer"]) & (frame["outcome"] == 0)
    names = [frame[factor].astype(str) for factor in factors]
    frame["configuration"] = names[0].str.cat(names[1:], sep=" ")
    return frame[["persona", "configuration", *factors, "question", "correct", "option"]]


def ia(frame: pd.DataFrame) -> float:
    """Mean absolute difference of accuracy over pairs of configurations, in points."""
    table = frame.groupby(["persona", "configuration"])["correct"].mean().unstack()
    pairs = [(table[a] - table[b]).abs().mean() for a, b in itertools.combinations(table, 2)]
    return 100 * float(np.mean(pairs))


def iq(frame: pd.DataFrame) -> float:
    """Share of the questions ever right that are not always right, in per cent."""
    values = []
    for _, one in frame.groupby("persona"):
        wide = one.pivot(index="question", columns="configuration", values="correct")
        union = wide.any(axis=1).sum()
        if union:
            values.append(1 - wide.all(axis=1).sum() / union)
    return 100 * float(np.mean(values))


def tau(frame: pd.DataFrame) -> float:
    """Mean Kendall tau-b of the labels' accuracies over pairs of configurations."""
    table = frame.groupby(["persona", "configuration"])["correct"].mean().unstack()
    pairs = itertools.combinations(table, 2)
    return float(np.mean([stats.kendalltau(table[a], table[b]).statistic for a, b in pairs]))


def kappa(frame: pd.DataFrame) -> float:
    """Mean over labels of Fleiss' kappa of the option chosen, raters being configurations."""
    values = []
    for _, one in frame.groupby("persona"):
        wide = one.pivot(index="question", columns="configuration", values="option")
        values.append(fleiss_kappa(aggregate_raters(wide.to_numpy())[0]))
    return float(np.mean(values))


def components(frame: pd.DataFrame) -> dict[tuple[str, ...], float]:
    """Sums of squares of every effect of the crossed design, by group means."""
    factors = [
        c for c in frame if c not in ("configuration", "correct", "option")
    ]  # persona, factors, question
    means: dict[tuple[str, ...], Any] = {(): frame["correct"].mean()}
    squares = {}
    for size in range(1, len(factors) + 1):
        for effect in itertools.combinations(factors, size):
            table = frame.groupby(list(effect))["correct"].mean()
            means[effect] = table
            left = table.to_numpy().astype(float).copy()
            index = table.index.to_frame(index=False)
            for smaller in range(size):
                for part in itertools.combinations(effect, smaller):
                    sign = (-1) ** (size - smaller)
                    if part:
                        other = means[part]
                        keys = index[list(part)]
                        keys = keys.iloc[:, 0] if len(part) == 1 else pd.MultiIndex.from_frame(keys)
                        left += sign * other.reindex(keys).to_numpy().astype(float)
                    else:
                        left += sign * float(means[()])
            squares[effect] = float((left**2).sum()) * len(frame) / len(table)
    return squares


def contrasts(frame: pd.DataFrame) -> pd.DataFrame:
    """Paired t tests of every pair of labels, by question."""
    table = frame.groupby(["question", "persona"])["correct"].mean().unstack()
    rows = [
        (a, b, *stats.ttest_rel(table[a], table[b])) for a, b in itertools.combinations(table, 2)
    ]
    return pd.DataFrame(rows, columns=["a", "b", "t", "p"])


def bootstrap(frame: pd.DataFrame, figure: Callable[[pd.DataFrame], float], draws: int) -> Any:
    """A figure over resamples of the questions."""
    rng = np.random.default_rng(0)
    groups = dict(tuple(frame.groupby("question")))
    names = list(groups)
    out = []
    for _ in range(draws):
        drawn = rng.choice(len(names), len(names))
        parts = [groups[names[i]].assign(question=j) for j, i in enumerate(drawn)]
        out.append(figure(pd.concat(parts)))
    return np.array(out)


def permutation(frame: pd.DataFrame, draws: int) -> Any:
    """IA with configurations relabelled within each question."""
    rng = np.random.default_rng(0)
    wide = frame.pivot(index="question", columns=["persona", "configuration"], values="correct")
    persona, configuration = wide.columns.get_level_values(0), wide.columns.get_level_values(1)
    K = configuration.nunique()
    out = []
    for _ in range(draws):
        values = wide.to_numpy().reshape(len(wide), -1, K).copy()
        for q in range(len(values)):
            values[q] = values[q][:, rng.permutation(K)]
        again = pd.DataFrame(values.reshape(len(wide), -1), columns=wide.columns)
        long = again.mean().rename("correct").reset_index()
        out.append(ia(long))
    assert len(persona) == wide.shape[1]
    return np.array(out)


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds, and the result."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def same_answers(run: Path, share: float) -> Any:
    """The same tenth as a labelled dataset."""
    responses = load_run(run).isel(model=[0], replicate=[0])
    return responses.isel(question=np.arange(responses.sizes["question"])[:: round(1 / share)])


def main() -> None:
    """Both ways, one after the other, and whether they agree."""
    run, share = Path(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 0.1
    frame, answers = long_table(run, share), same_answers(run, share)
    print(f"{len(frame):,} answers")
    print("| figures | notebook, s | nongrata, s | ratio |")
    print("| --- | ---: | ---: | ---: |")

    def row(name: str, theirs: float, ours: float) -> None:
        print(f"| {name} | {theirs:.1f} | {ours:.2f} | {theirs / ours:,.0f} |", flush=True)

    first, value = timed(lambda: ia(frame))
    second, other = timed(lambda: iq(frame))
    ours, found = timed(lambda: ng.instability(answers, scopes=("overall",)).rows[0])
    assert abs(found.ia.value - value) < 1e-6
    assert abs(found.iq.value - other) < 1e-6
    row("IA, IQ", first + second, ours)
    whole = [first + second]

    third, value = timed(lambda: tau(frame))
    fourth, pairs = timed(lambda: contrasts(frame))
    ours, found = timed(lambda: ng.ranking(answers))
    drawn = ng.ranking(answers.assign(theta=answers["theta"] * np.nan)).models[0]
    assert abs(drawn.agreement[0].tau_b.value - value) < 1e-6
    row(
        f"tau-b, {len(pairs)} pairs of labels; ours with rank confidence sets", third + fourth, ours
    )
    whole.append(third + fourth)

    seconds, value = timed(lambda: kappa(frame))
    ours, found = timed(lambda: ng.agreement(answers, unread="category"))
    row("Fleiss kappa of the option; ours six coefficients with intervals", seconds, ours)
    whole.append(seconds)

    seconds, squares = timed(lambda: components(frame))
    ours, found = timed(lambda: ng.variance_components(answers))
    row(f"sums of squares of {len(squares)} effects; ours with intervals", seconds, ours)
    whole.append(seconds)

    seconds = 0.0
    for work in (
        lambda: bootstrap(frame, ia, TIMED),
        lambda: bootstrap(frame, iq, TIMED),
        lambda: permutation(frame, TIMED),
    ):
        seconds += timed(work)[0] / TIMED * DRAWS
    ours, found = timed(lambda: ng.noise(answers))
    label = f"bootstrap of IA and IQ, permutation test: {DRAWS:,} draws (notebook: {TIMED}, scaled)"
    row(label, seconds, ours)
    whole.append(seconds)
    seconds, _ = timed(lambda: ng.analyze(answers))
    row("all of these; ours everything that analyze computes", sum(whole), seconds)


if __name__ == "__main__":
    main()
