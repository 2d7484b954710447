"""Whether a model answers well enough for its labels to be ranked at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from nongrata.analysis.cube import Cube, configuration_label, read_cube
from nongrata.analysis.result import Result
from nongrata.analysis.tallies import Tallies, Tally, tally
from nongrata.errors import NongrataError
from nongrata.stats.accuracy import ratio
from nongrata.stats.chance import (
    AgainstChance,
    AgainstConstant,
    OneSidedTest,
    against_chance,
    against_constant,
)
from nongrata.stats.multiplicity import holm
from nongrata.stats.position_bias import PositionBias, position_bias
from nongrata.wording import as_said, say

if TYPE_CHECKING:
    import polars as pl
    import xarray as xr

Verdict = Literal[
    "not above chance",
    "not above the best constant answer",
    "above both",
    "above chance",
    "unknown",
]
ChanceScope = Literal["overall", "domain", "level", "configuration", "persona"]
CHANCE_SCOPES: tuple[ChanceScope, ...] = (
    *("overall", "domain", "level", "configuration", "persona"),
)  # fmt: skip
ALPHA = 0.025
"""One-sided level of both tests (S11)."""
_NAN = float("nan")
UNKNOWN_CHANCE = AgainstChance(
    _NAN,
    _NAN,
    OneSidedTest(_NAN, _NAN, 0, _NAN, "how many options the questions have is not known"),
)
UNKNOWN_CONSTANT = AgainstConstant((), _NAN, _NAN)
UNKNOWN_BIAS = PositionBias(-1, _NAN, _NAN, _NAN, _NAN, _NAN)

_NUMBERS = (
    *("accuracy", "read_only", "chance", "p_chance", "constant", "p_constant", "p_adjusted"),
    *("favourite_share", "favourite_gold", "blind", "p_position"),
)


@dataclass(frozen=True, slots=True)
class ChanceRow:
    """Accuracy beside its two baselines, in per cent.

    Parameters
    ----------
    model, scope, name
        Which; `name` is the domain, the factor's level, the configuration or the label, empty
        overall.
    levels
        The configuration's levels; None for another scope.
    accuracy
        Mean over questions of the share of right answers, over all personas and configurations.
    read_only
        Right answers among those that could be read.
    chance, p_chance
        Mean of 1 / number of options, and the one-sided p value of "not above it".
    constant, positions, p_constant
        Accuracy of the best constant answer, at which place that is (0-based; several if equally
        good), and the one-sided p value of "not above every constant answer".
    tests, p_adjusted
        How many tests the row's family has (the model's rows of this scope), and the larger of the
        two p values after Holm's adjustment within it: "above both" is claimed by this one alone.
    favourite, favourite_share, favourite_gold
        The place chosen most often, how often, and how often it is the right one.
    blind
        How often the same choices of places would be right if dealt out without the questions.
    position_dominates, p_position
        Whether the favourite is chosen more often than it is right by more than the answers are
        right more often than blindly, and the p value of the first of these (a screen: it is
        adjusted for the number of places only).
    verdict, rankable
        What follows; labels are ranked only if the accuracy is above both. "above chance": and
        whether it is above every constant answer cannot be asked, since no option is the same in
        all questions, or only right and wrong are known (imported tables).
    reason
        Why the verdict is unknown, else empty.
    """

    model: str
    scope: ChanceScope
    name: str
    levels: tuple[Any, ...] | None
    accuracy: float
    read_only: float
    chance: float
    p_chance: float
    constant: float
    positions: tuple[int, ...]
    p_constant: float
    tests: int
    p_adjusted: float
    favourite: int
    favourite_share: float
    favourite_gold: float
    blind: float
    p_position: float
    position_dominates: bool
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
            return say(
                "{about}: accuracy against chance is unknown ({reason}); nothing is ranked",
                about=about,
                reason=as_said(self.reason),
            )
        known = bool(np.isfinite(self.constant))
        baseline = say(
            "chance {chance}%, best constant answer {constant}, {questions} questions",
            chance=f"{self.chance:.1f}",
            constant=f"{self.constant:.1f}%" if known else as_said("not known"),
            questions=f"{self.questions:,}",
        )
        values: dict[str, Any] = {
            "about": about,
            "accuracy": f"{self.accuracy:.1f}",
            "verdict": as_said(self.verdict),
            "baseline": baseline,
        }
        if self.rankable:
            return say("{about}: accuracy {accuracy}% is {verdict} ({baseline})", **values)
        p = self.p_chance if self.verdict == "not above chance" else self.p_constant
        values["p"] = f"{p:.2g}"
        if self.tests > 1:
            return say(
                "{about}: accuracy {accuracy}% is {verdict} ({baseline}, one-sided p = {p}; "
                "{adjusted} among {tests} tests); labels must not be ranked",
                adjusted=f"{self.p_adjusted:.2g}",
                tests=self.tests,
                **values,
            )
        return say(
            "{about}: accuracy {accuracy}% is {verdict} ({baseline}, one-sided p = {p}); labels "
            "must not be ranked",
            **values,
        )

    def position_sentence(self) -> str:
        """What the preference for a place does, as a sentence."""
        about = f"{self.model}" + (f", {self.name}" if self.name else "")
        does = (
            "position bias dominates"
            if self.position_dominates
            else ("position bias does not dominate")
        )
        return say(
            "{about}: place {place} is chosen in {chosen}% of the answers and right in {right}%; "
            "answers are right in {read}%, and would be in {blind}% by such choices of places "
            "alone: {does}",
            about=about,
            place=self.favourite + 1,
            chosen=f"{self.favourite_share:.1f}",
            right=f"{self.favourite_gold:.1f}",
            read=f"{self.read_only:.1f}",
            blind=f"{self.blind:.1f}",
            does=as_said(does),
        )


@dataclass(frozen=True, slots=True)
class ChanceCheck(Result):
    """Accuracy against chance and the best constant answer, per model and scope.

    Parameters
    ----------
    rows
        One per model and scope.
    places
        ``"shown"``: places are those at which options were shown; ``"source"``: those of the
        source's order, for how options were shown is not known.
    alpha
        Chance of a false "above both" in one family: the rows of one model and scope.
    """

    rows: tuple[ChanceRow, ...]
    places: Literal["shown", "source"] = "source"
    alpha: float = ALPHA
    kind: Literal["chance"] = "chance"

    def of(self, model: str) -> ChanceRow:
        """The overall row of one model."""
        return self.rows_of(model, "overall")[0]

    def rows_of(self, model: str, scope: ChanceScope) -> tuple[ChanceRow, ...]:
        """The rows of one model and scope: one family of tests."""
        return tuple(r for r in self.rows if r.model == model and r.scope == scope)

    def rankable(self, model: str) -> bool:
        """Whether this model's labels may be ranked."""
        return self.of(model).rankable

    def at_chance(self, model: str) -> frozenset[tuple[Any, ...]]:
        """Levels of the configurations that are not shown to be above both baselines."""
        rows = self.rows_of(model, "configuration")
        return frozenset(row.levels for row in rows if row.levels is not None and not row.rankable)

    def __str__(self) -> str:
        return "; ".join(row.sentence() for row in self.rows if row.scope == "overall")

    def to_dataframe(self) -> pl.DataFrame:
        """One row per model and scope."""
        import polars as pl

        names = [name for name in ChanceRow.__dataclass_fields__ if name != "levels"]
        rows = [
            {n: list(v) if isinstance(v := getattr(row, n), tuple) else v for n in names}
            for row in self.rows
        ]
        types: dict[str, Any] = dict.fromkeys(_NUMBERS, pl.Float64)
        types["positions"] = pl.List(pl.Int64)
        frame = pl.DataFrame(rows, schema_overrides=types, infer_schema_length=None)
        return frame.with_columns(pl.col(_NUMBERS).fill_nan(None))


def chance_check(
    responses: xr.Dataset, *, by: Sequence[str] | None = None, alpha: float = ALPHA
) -> ChanceCheck:
    """Test accuracy against chance and against the best constant answer.

    For each model over everything, per domain, per level of each factor, per configuration and per
    label; in each over all the rest together, controls too and structural duplicates once: the
    question is whether the model answers the questions at all. Questions are the observations,
    those of a cluster together, sources are strata.

    What must not happen is a false "above both". So each family, the rows of one model and scope,
    is tested together by Holm's procedure: the chance that any of its rows is called above both
    and is not, is at most `alpha`. "Not above" is therefore no finding about a row, only the lack
    of one. A model's overall row is a family of its own.

    Parameters
    ----------
    responses
        A Dataset of responses.
    by
        Factors whose levels are tested; None: all of them.
    alpha
        One-sided level of each family.
    """
    cube = read_cube(responses)
    factors = cube.factors if by is None else tuple(by)
    for factor in factors:
        if factor not in cube.factors:
            raise NongrataError(
                f"unknown factor {factor!r}", where="by", fix=f"use {', '.join(cube.factors)}"
            )
    rows: list[ChanceRow] = []
    for m, model in enumerate(cube.models):
        counted = tally(cube.answers(m), cube)
        found: dict[ChanceScope, list[dict[str, Any]]] = {scope: [] for scope in CHANCE_SCOPES}
        for scope, name, levels, cells, where in _cells(cube, counted, factors):
            key = {"model": model, "scope": scope, "name": name, "levels": levels}
            found[scope].append(key | _figures(cube, cells, where, alpha))
        for family in found.values():
            rows.extend(_judged(family, alpha))
    return ChanceCheck(tuple(rows), "shown" if cube.knows_places else "source", alpha)


def _cells(
    cube: Cube, counted: Tallies, factors: Sequence[str]
) -> Iterator[tuple[ChanceScope, str, tuple[Any, ...] | None, Tally, NDArray[np.intp]]]:
    """What is tested: scope, name, levels, counts by question, and which questions."""
    by_configuration = counted.configurations
    once = ~counted.repeated if not counted.repeated.all() else counted.repeated
    everything = by_configuration.total(once)
    questions = np.arange(len(cube.questions))
    yield "overall", "", None, everything, questions
    for domain in cube.domains:
        where = np.flatnonzero(cube.domain == domain)
        yield "domain", domain, None, everything.on(where), where
    for factor in factors:
        f = cube.factors.index(factor)
        for i, level in enumerate(cube.factor_levels[f]):
            here = cube.levels[:, f] == i
            here = here & once if (here & once).any() else here
            yield "level", f"{factor} = {level}", None, by_configuration.total(here), questions
    for c in range(len(cube.levels)):
        levels = cube.configuration(c)
        name = configuration_label(levels)
        yield "configuration", name, levels, by_configuration.of(c), questions
    for p, persona in enumerate(cube.personas):
        yield "persona", persona, None, counted.personas.of(p), questions


def _figures(cube: Cube, cells: Tally, where: NDArray[np.intp], alpha: float) -> dict[str, Any]:
    """Everything about one row but what its family decides."""
    right = ratio(cells.right, cells.present)
    n, cluster, source = cube.n_options[where], cube.cluster[where], cube.source[where]
    there = cells.present > 0
    shares = ratio(cells.present_gold, cells.present[:, None])
    chance, constant, bias = UNKNOWN_CHANCE, UNKNOWN_CONSTANT, UNKNOWN_BIAS
    if (n[there] > 0).all():
        chance = against_chance(right, n, cluster, source)
        if cube.dataset.attrs.get("options_are", "labels") == "labels":
            constant = against_constant(right, cube.answer[where], n, cluster, source, shares)
            bias = position_bias(cells.choices, cells.gold, cells.right, n, cluster, source)
    total, read = float(right[there].mean()) if there.any() else np.nan, cells.read.sum()
    return {
        "accuracy": 100.0 * total,
        "read_only": 100.0 * float(cells.right.sum() / read) if read else np.nan,
        "chance": 100.0 * chance.chance,
        "p_chance": chance.test.p,
        "constant": 100.0 * constant.constant,
        "positions": constant.positions,
        "p_constant": constant.p,
        "favourite": bias.position,
        "favourite_share": 100.0 * bias.chosen,
        "favourite_gold": 100.0 * bias.gold,
        "blind": 100.0 * bias.blind,
        "p_position": bias.p,
        "position_dominates": bias.dominates(alpha),
        "questions": int(there.sum()),
        "clusters": len(np.unique(cluster[there])),
        "answers": int(cells.present.sum()),
        "reason": chance.test.reason or constant.reason,
    }


def _judged(family: list[dict[str, Any]], alpha: float) -> Iterator[ChanceRow]:
    """The rows of a family with their verdicts.

    "Above both" needs both null hypotheses rejected, so its p value is the larger one. Where the
    smaller family of tests against chance alone already fails, that is the verdict.
    """
    chance = np.array([row["p_chance"] for row in family], dtype=np.float64)
    constant = np.array([row["p_constant"] for row in family], dtype=np.float64)
    # where the test against constant answers cannot be made, the one against chance stands alone
    chance_alone, both = holm(chance), holm(np.fmax(chance, constant))
    tests = int((~np.isnan(both)).sum())
    for row, first, second in zip(family, chance_alone, both, strict=True):
        verdict: Verdict = "above chance" if np.isnan(row["constant"]) else "above both"
        if row["reason"]:
            verdict = "unknown"
        elif first > alpha:
            verdict = "not above chance"
        elif second > alpha:
            verdict = "not above the best constant answer"
        yield ChanceRow(
            **row,
            tests=tests,
            p_adjusted=float(second),
            verdict=verdict,
            rankable=verdict in {"above both", "above chance"},
        )
