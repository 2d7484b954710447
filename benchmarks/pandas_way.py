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


def main() -> None:
    share = float(sys.argv[2]) if len(sys.argv) > 2 else 0.1
    loading, frame = timed(lambda: long_table(Path(sys.argv[1]), share))
    print(f"{len(frame):,} answers, table made in {loading:.1f} s")
    print("| figure | pandas, scipy, statsmodels: seconds | result |")
    print("| --- | ---: | --- |")
    total = 0.0
    for name, figure in (("IA", ia), ("IQ", iq), ("tau-b", tau), ("Fleiss kappa", kappa)):
        seconds, value = timed(lambda figure=figure: figure(frame))
        total += seconds
        print(f"| {name} | {seconds:.1f} | {value:.4f} |", flush=True)
    seconds, squares = timed(lambda: components(frame))
    total += seconds
    print(f"| sums of squares of {len(squares)} effects | {seconds:.1f} | |", flush=True)
    seconds, pairs = timed(lambda: contrasts(frame))
    total += seconds
    print(f"| paired t tests of {len(pairs)} pairs of labels | {seconds:.1f} | |", flush=True)
    for name, work in (
        ("bootstrap of IA", lambda: bootstrap(frame, ia, TIMED)),
        ("bootstrap of IQ", lambda: bootstrap(frame, iq, TIMED)),
        ("permutation test of IA", lambda: permutation(frame, TIMED)),
    ):
        seconds, values = timed(work)
        whole = seconds / TIMED * DRAWS
        total += whole
        label = f"{name}, {DRAWS:,} draws scaled from {TIMED}"
        print(f"| {label} | {whole:.0f} | sd {values.std():.3f} |", flush=True)
    print(f"| all | {total:.0f} | |")


if __name__ == "__main__":
    main()
