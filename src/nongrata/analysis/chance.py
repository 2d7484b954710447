"""Whether a model answers well enough for its labels to be ranked at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from nongrata.analysis.cube import Answers, Cube, read_cube
from nongrata.analysis.result import Result
from nongrata.errors import NongrataError
from nongrata.stats.accuracy import ANSWERED, Bools, ratio
from nongrata.stats.chance import against_chance, against_constant, position_bias

if TYPE_CHECKING:
    import polars as pl
    import xarray as xr

Verdict = Literal["not above chance", "not above the best constant answer", "above both", "unknown"]
ALPHA = 0.025
"""One-sided level of both tests (S11)."""


@dataclass(frozen=True, slots=True)
class ChanceRow:
    """Accuracy beside its two baselines, in per cent.

    Parameters
    ----------
    model, scope, name
        Which; `name` is the domain or the factor's level, empty overall.
    accuracy
        Mean over questions of the share of right answers, over all personas and configurations.
    read_only
        Right answers among those that could be read.
    chance, p_chance
        Mean of 1 / number of options, and the one-sided p value of "not above it".
    constant, positions, p_constant
        Accuracy of the best constant answer, which option that is (0-based place in the source's
        order; several if equally good), and the one-sided p value of "not above every constant
        answer".
    favourite, favourite_share, favourite_gold
        The option chosen most often, how often, and how often it is the right one.
    verdict, rankable
        What follows; labels are ranked only if the accuracy is above both.
    reason
        Why the verdict is unknown, else empty.
    """

    model: str
    scope: Literal["overall", "domain", "level"]
    name: str
    accuracy: float
    read_only: float
    chance: float
    p_chance: float
    constant: float
    positions: tuple[int, ...]
    p_constant: float
    favourite: int
    favourite_share: float
    favourite_gold: float
    questions: int
    clusters: int
    answers: int
    verdict: Verdict
    rankable: bool
    reason: str = ""

    def sentence(self) -> str:
        """The verdict as a sentence."""
        about = f"{self.model}" + (f", {self.name}" if self.name else "")
        if self.verdict == "unknown":
            return f"{about}: accuracy against chance is unknown ({self.reason}); nothing is ranked"
        baseline = (
            f"chance {self.chance:.1f}%, best constant answer {self.constant:.1f}%, "
            f"{self.questions:,} questions"
        )
        sentence = f"{about}: accuracy {self.accuracy:.1f}% is {self.verdict} ({baseline}"
        if self.rankable:
            return f"{sentence})"
        p = self.p_chance if self.verdict == "not above chance" else self.p_constant
        return f"{sentence}, one-sided p = {p:.2g}); labels must not be ranked"


@dataclass(frozen=True, slots=True)
class ChanceCheck(Result):
    """Accuracy against chance and the best constant answer, per model and domain."""

    rows: tuple[ChanceRow, ...]
    alpha: float = ALPHA
    kind: Literal["chance"] = "chance"

    def of(self, model: str) -> ChanceRow:
        """The overall row of one model."""
        return next(r for r in self.rows if r.model == model and r.scope == "overall")

    def rankable(self, model: str) -> bool:
        """Whether this model's labels may be ranked."""
        return self.of(model).rankable

    def __str__(self) -> str:
        return "; ".join(row.sentence() for row in self.rows if row.scope == "overall")

    def to_dataframe(self) -> pl.DataFrame:
        """One row per model and scope."""
        import polars as pl

        names = list(ChanceRow.__dataclass_fields__)
        rows = [
            {n: list(v) if isinstance(v := getattr(row, n), tuple) else v for n in names}
            for row in self.rows
        ]
        numbers = [
            *("accuracy", "read_only", "chance", "p_chance", "constant", "p_constant"),
            *("favourite_share", "favourite_gold"),
        ]
        types: dict[str, Any] = dict.fromkeys(numbers, pl.Float64)
        types["positions"] = pl.List(pl.Int64)
        frame = pl.DataFrame(rows, schema_overrides=types, infer_schema_length=None)
        return frame.with_columns(pl.col(numbers).fill_nan(None))


def chance_check(
    responses: xr.Dataset, *, by: Sequence[str] = (), alpha: float = ALPHA
) -> ChanceCheck:
    """Test accuracy against chance and against the best constant answer.

    All personas and configurations are taken together, controls too and structural duplicates
    once: the question is whether the model answers the questions at all. Questions are the
    observations, those of a cluster together, sources are strata.

    Parameters
    ----------
    responses
        A Dataset of responses.
    by
        Factors for whose levels it is tested as well, such as the one that says how an answer is
        read.
    alpha
        One-sided level of each test.
    """
    cube = read_cube(responses)
    for factor in by:
        if factor not in cube.factors:
            raise NongrataError(
                f"unknown factor {factor!r}", where="by", fix=f"use {', '.join(cube.factors)}"
            )
    rows: list[ChanceRow] = []
    for m, model in enumerate(cube.models):
        answers = cube.answers(m)
        counted = _Counts.of(answers, ~cube.duplicate, cube)
        everything = np.arange(len(cube.questions))
        rows.append(_row(cube, counted, everything, (model, "overall", ""), alpha))
        for domain in cube.domains:
            where = np.flatnonzero(cube.domain == domain)
            rows.append(_row(cube, counted, where, (model, "domain", domain), alpha))
        for factor in by:
            f = cube.factors.index(factor)
            for i, level in enumerate(cube.factor_levels[f]):
                here = ~cube.duplicate & (cube.levels[:, f] == i)
                part = _Counts.of(answers, here, cube)
                key = (model, "level", f"{factor} = {level}")
                rows.append(_row(cube, part, everything, key, alpha))
    return ChanceCheck(tuple(rows), alpha)


@dataclass(frozen=True)
class _Counts:
    """Per question: right answers, answers there are, and how often each option was chosen."""

    right: NDArray[np.int64]
    present: NDArray[np.int64]
    choices: NDArray[np.int64]

    @classmethod
    def of(cls, answers: Answers, cells: Bools, cube: Cube) -> _Counts:
        option, outcome = answers.option[cells], answers.outcome[cells]
        read = outcome == ANSWERED
        choices = [
            np.count_nonzero(read & (option == j), axis=(0, 1))
            for j in range(int(cube.n_options.max(initial=1)))
        ]
        return cls(
            np.asarray(np.count_nonzero(answers.correct[cells], axis=(0, 1))),
            np.asarray(np.count_nonzero(answers.present[cells], axis=(0, 1))),
            np.stack(choices, axis=1),
        )


def _row(
    cube: Cube, counts: _Counts, where: NDArray[np.intp], key: tuple[str, Any, str], alpha: float
) -> ChanceRow:
    right = ratio(counts.right[where], counts.present[where])
    n, cluster, source = cube.n_options[where], cube.cluster[where], cube.source[where]
    answer = cube.answer[where]
    chance = against_chance(right, n, cluster, source)
    constant = against_constant(right, answer, n, cluster, source)
    bias = position_bias(counts.choices[where], answer)
    reason = chance.test.reason or constant.reason
    verdict: Verdict = "above both"
    if reason:
        verdict = "unknown"
    elif chance.test.p > alpha:
        verdict = "not above chance"
    elif constant.p > alpha:
        verdict = "not above the best constant answer"
    there = counts.present[where] > 0
    read = int(counts.choices[where].sum())
    return ChanceRow(
        *key,
        accuracy=100.0 * chance.accuracy,
        read_only=100.0 * float(ratio(counts.right[where].sum(), np.array(read))),
        chance=100.0 * chance.chance,
        p_chance=chance.test.p,
        constant=100.0 * constant.constant,
        positions=constant.positions,
        p_constant=constant.p,
        favourite=bias.position,
        favourite_share=100.0 * bias.chosen,
        favourite_gold=100.0 * bias.gold,
        questions=int(there.sum()),
        clusters=len(np.unique(cluster[there])),
        answers=int(counts.present[where].sum()),
        verdict=verdict,
        rankable=verdict == "above both",
        reason=reason,
    )
