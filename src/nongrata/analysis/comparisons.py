"""Models, domains and factors compared, with intervals and many tests accounted for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from nongrata.analysis.compare_domains import DomainComparison, compare_domains_of
from nongrata.analysis.compare_factors import FactorComparison, compare_factors_of
from nongrata.analysis.compare_models import ModelComparison, compare_models
from nongrata.analysis.cube import read_cube
from nongrata.analysis.estimate_rows import DifferenceRow, Metric
from nongrata.analysis.model_data import Resampling, each_model
from nongrata.analysis.one_blas_thread import one_blas_thread
from nongrata.analysis.result import Result
from nongrata.analysis.selection import Personas
from nongrata.stats.paired_comparison import sign_test

if TYPE_CHECKING:
    import polars as pl
    import xarray as xr


@dataclass(frozen=True, slots=True)
class Agreement:
    """In how many models a difference points one way.

    Parameters
    ----------
    about
        ``"factor"`` or ``"domain"``.
    metric
        In what.
    first, second
        What is compared; `second` is ``""`` for the mean of the others.
    larger
        Models in which `first` is larger.
    models
        Models with a difference.
    decided
        Models in which it is decided, whichever way.
    p
        Two-sided p of the sign test: as many or more models agreeing by chance.
    """

    about: Literal["factor", "domain"]
    metric: Metric
    first: str
    second: str
    larger: int
    models: int
    decided: int
    p: float


@dataclass(frozen=True, slots=True)
class Comparisons(Result):
    """What differs between models, between the domains and between the factors of each.

    Parameters
    ----------
    persona_set
        Whose accuracies.
    models
        Pairs of models, on the same questions.
    domains, factors
        One for each model.
    agreements
        Directions that models share; empty for one model.
    draws, seed
        Resamples and seed, as asked for; only joint intervals draw at random.
    """

    persona_set: Personas
    models: ModelComparison
    domains: tuple[DomainComparison, ...]
    factors: tuple[FactorComparison, ...]
    agreements: tuple[Agreement, ...]
    draws: int
    seed: int
    kind: Literal["comparisons"] = "comparisons"

    def __str__(self) -> str:
        parts = []
        for one in self.factors:
            known = [row for row in one.rows if row.typical_difference.value.defined]
            if known:
                top = max(known, key=lambda row: row.squared_difference.value.value)
                parts.append(
                    f"{one.model}: accuracy moves most with {top.factor} "
                    f"({top.typical_difference.value.value:.1f} points between two levels)"
                )
        return "comparisons: " + ("; ".join(parts) or "nothing can be compared")

    def to_dataframe(self) -> pl.DataFrame:
        """One row for each difference: of models, of domains and of factors."""
        import polars as pl

        rows: list[dict[str, Any]] = []

        def add(about: str, model: str | None, differences: Sequence[DifferenceRow]) -> None:
            for row in differences:
                numbers = {
                    name: getattr(row, name)
                    for name in (
                        *("se", "low", "high", "joint_low", "joint_high"),
                        *("p", "p_holm", "decided", "reason"),
                    )
                }
                rows.append(
                    {
                        "about": about,
                        "model": model,
                        "metric": row.metric,
                        "first": row.first,
                        "second": row.second or None,
                        "difference": row.difference.value,
                        **numbers,
                    }
                )

        add("model", None, self.models.differences)
        for one in self.domains:
            add("domain", one.model, one.against_others)
            add("domain pair", one.model, one.pairs)
        for two in self.factors:
            add("factor", two.model, two.differences)
        kinds: dict[str, Any] = dict.fromkeys(("about", "model", "metric"), pl.String)
        kinds |= dict.fromkeys(("first", "second"), pl.String)
        floats = ("difference", "se", "low", "high", "joint_low", "joint_high", "p", "p_holm")
        kinds |= dict.fromkeys(floats, pl.Float64)
        kinds |= {"decided": pl.Boolean, "reason": pl.String}
        return pl.DataFrame(rows, schema=kinds).with_columns(pl.col(floats).fill_nan(None))


@one_blas_thread()
def comparisons(
    responses: xr.Dataset, personas: Personas = "labels", *, resampling: Resampling | None = None
) -> Comparisons:
    """Compare models, domains and factors.

    Parameters
    ----------
    responses
        A Dataset of responses.
    personas
        ``"labels"``, ``"with_controls"`` or ``"as_preprint"``.
    resampling
        Numbers of draws, and the seed.
    """
    asked = resampling or Resampling()
    models = list(each_model(read_cube(responses), asked))
    return gathered(
        personas,
        compare_models(models, personas),
        tuple(compare_domains_of(data, personas) for data in models),
        tuple(compare_factors_of(data, personas) for data in models),
        asked,
    )


def gathered(
    personas: Personas,
    models: ModelComparison,
    domains: tuple[DomainComparison, ...],
    factors: tuple[FactorComparison, ...],
    resampling: Resampling,
) -> Comparisons:
    """The result, from its parts."""
    agreements = (
        *_agreements("factor", [one.differences for one in factors]),
        *_agreements("domain", [one.against_others for one in domains]),
    )
    return Comparisons(
        personas, models, domains, factors, agreements, resampling.draws, resampling.seed
    )


def _agreements(
    about: Literal["factor", "domain"], each: Sequence[Sequence[DifferenceRow]]
) -> list[Agreement]:
    if len(each) < 2:
        return []
    together: dict[tuple[Metric, str, str], list[DifferenceRow]] = {}
    for differences in each:
        for row in differences:
            together.setdefault((row.metric, row.first, row.second), []).append(row)
    out = []
    for (metric, first, second), rows in together.items():
        known = [row for row in rows if row.difference.defined and row.difference.value != 0]
        larger = sum(row.difference.value > 0 for row in known)
        decided = sum(row.decided for row in known)
        p = sign_test(larger, len(known))
        out.append(Agreement(about, metric, first, second, larger, len(known), decided, p))
    return out
