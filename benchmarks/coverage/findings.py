"""Verdicts where nothing is there to be found: false robust, false fragile, false shown."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.coverage.rows import Claim, Row
from benchmarks.coverage.studies import Simulated, simulate
from nongrata.analysis.cube import Answers, Cube
from nongrata.analysis.model_data import ModelData, Resamples, Resampling
from nongrata.conclusions.cells import cells_of
from nongrata.conclusions.draft import Basis, concluded
from nongrata.conclusions.effects import effect_drafts
from nongrata.conclusions.labels import label_drafts
from nongrata.conclusions.orders import factor_drafts
from nongrata.conclusions.question_sets import question_sets
from nongrata.stats.verdicts import judge

DRAWS, SPLITS = 400, 4


def model_data(made: Simulated, seed: int, controls: int = 0) -> ModelData:
    """A simulated study as the data of one model, answers drawn; the last personas are controls."""
    import xarray as xr

    R, P, K, Q = made.x.shape
    F = made.levels.shape[1]
    levels = tuple(tuple(range(int(made.levels[:, f].max()) + 1)) for f in range(F))
    names = tuple(f"f{f}" for f in range(F))
    option = np.where(np.moveaxis(made.x, 0, 2), 0, 1).astype(np.int8)
    theta = np.full((P, K, Q), np.nan, np.float32)
    gold = np.zeros(Q, np.int8)
    cube = Cube(
        models=("m",),
        personas=tuple(f"p{p}" for p in range(P)),
        factors=names,
        questions=tuple(map(str, range(Q))),
        factor_levels=levels,
        levels=made.levels,
        is_control=np.arange(P) >= P - controls,
        duplicate=np.zeros((P, K), bool),
        answer=gold,
        n_options=np.full(Q, 4, np.int8),
        domain=np.full(Q, "one"),
        cluster=made.units.cluster,
        source=np.zeros(Q, np.intp),
        replicates=R,
        damage=(),
        limited=False,
        simulated=(),
        readings=(),
        floor=(),
        dataset=xr.Dataset(),
    )
    answers = Answers(option, np.zeros(option.shape, np.uint8), theta, gold)
    how = Resampling(DRAWS, SPLITS, seed)
    return ModelData(cube, 0, answers, made.units, how, Resamples(made.units, how))


def _drafts(made: Simulated, seed: int) -> list[Any]:
    data = model_data(made, seed)
    chosen = data.selection("labels")
    cells = cells_of(data, chosen.personas, chosen.configurations)
    sets = question_sets(data, cells.personas, cells.configurations)
    return effect_drafts(cells, sets) + label_drafts(cells, True) + factor_drafts(cells)


def _null(seed: int, **design: Any) -> dict[str, float]:
    """No label, configuration or factor differs: every robust, shown or fragile is false."""
    made = simulate(seed, **design)
    drafts = _drafts(made, seed)
    found = concluded(drafts, Basis("m", made.units.questions, made.units.degrees_of_freedom))
    out = {
        "anything robust or established": float(
            any(c.verdict in ("robust", "established") for c in found)
        ),
        "anything fragile": float(any(c.verdict == "fragile" for c in found)),
    }
    for d in drafts:
        if d.family == "effects" and not np.isnan(d.p):
            out[f"alone: {d.statement}"] = float(d.p <= 0.05)
        elif d.family == "orders":
            out[f"alone: {' or '.join(sorted((d.subject, d.rival)))} more"] = float(d.p <= 0.05)
    first = next(d for d in drafts if d.family == "pairs")
    out["one pair alone: robust"] = float(first.p <= 0.05)
    out["one pair alone: fragile"] = float(first.p_fragile <= 0.05)
    out["one pair, share of configurations at least 90%"] = float(first.share.value >= 90)
    for which, d in zip(
        ("best", "worst"), [d for d in drafts if d.family == "extremes"], strict=True
    ):
        out[f"alone: {which} label robust"] = float(d.p <= 0.05)
        out[f"alone: {which} label fragile"] = float(d.p_fragile <= 0.05)
    return out


def _claims(factors: int, of_shares: Claim = "tabulated") -> dict[str, Claim]:
    names = [
        *("anything robust or established", "anything fragile"),
        *("one pair alone: robust", "one pair alone: fragile"),
        *(f"alone: {w} label {v}" for w in ("best", "worst") for v in ("robust", "fragile")),
        "alone: differences between labels depend on the configuration",
        "alone: accuracy differs between labels",
        "alone: overall accuracy depends on the configuration",
        *(f"alone: overall accuracy depends on f{f}" for f in range(factors)),
        *(f"alone: f{f} or f{g} more" for f in range(factors) for g in range(f + 1, factors)),
    ]
    out: dict[str, Claim] = dict.fromkeys(names, "conservative")
    out["one pair, share of configurations at least 90%"] = of_shares
    return out


def _boundary(seed: int) -> dict[str, float]:
    """A difference in all but two of 12 configurations, none in those: one short of robust."""
    cell = np.zeros((2, 12))
    cell[0, :10] = 0.3
    made = simulate(seed, personas=2, cell=cell, base=0.4, question_sd=0.1, questions=200)
    pair = next(d for d in _drafts(made, seed) if d.family == "pairs")
    return {"one pair alone: robust": float(pair.p <= 0.05)}


def _one_sided(seed: int) -> dict[str, float]:
    """A difference in half of the configurations, none in the others: no sign changes."""
    cell = np.zeros((2, 12))
    cell[0, :6] = 0.3
    made = simulate(seed, personas=2, cell=cell, base=0.4, question_sd=0.1, questions=200)
    pair = next(d for d in _drafts(made, seed) if d.family == "pairs")
    return {"one pair alone: fragile": float(pair.p_fragile <= 0.05)}


def _alike(seed: int) -> dict[str, float]:
    """Probabilities known, questions differ by label, hardly by configuration: all agree."""
    made = simulate(seed, personas=2, question_sd=0.05, question_persona=0.14, question_cell=0.05)
    D = made.theta[0] - made.theta[1]
    G = len(made.units)
    mean, se = D.mean(axis=1)[None], np.sqrt(made.units.variance_of_mean(D))[None]
    found = judge(mean, se, G - 1, G)
    return {
        "one pair alone: robust": float(found.robust[0] <= 0.05),
        "one pair alone: fragile": float(found.fragile[0] <= 0.05),
        "one pair, share of configurations at least 90%": float(found.share[0] >= 0.9),
    }


def _few_clusters(seed: int) -> dict[str, float]:
    """Two configurations, 12 clusters: p values from Student's t and from the normal."""
    made = simulate(
        seed, personas=2, factors=(2,), questions=36, cluster_size=3, question_persona=0.15
    )
    x = made.x[0].astype(np.float64)
    D = (x[0] - x[1]).mean(axis=1)[None]
    se = np.sqrt(made.units.variance_of_mean(x[0] - x[1]))[None]
    G = len(made.units)
    t = judge(D, se, G - 1, G)
    z = judge(D, se, 10**9, G)
    return {
        "one configuration, two-sided 5%, t": float(2 * min(t.p[0, 0], t.opposite[0, 0]) <= 0.05),
        "one configuration, two-sided 5%, normal": float(
            2 * min(z.p[0, 0], z.opposite[0, 0]) <= 0.05
        ),
        "robust, t": float(t.robust[0] <= 0.05),
    }


def _intervals(seed: int) -> dict[str, float]:
    """Intervals of the mean difference of pairs, and of mean squared differences."""
    personas = np.array([0.08, 0.0, -0.04, 0.0, 0.0, -0.04])
    configuration = np.linspace(-0.1, 0.1, 12)
    made = simulate(
        seed, persona=personas, configuration=configuration, question_sd=0.1, cluster_size=2,
        question_persona=0.04, question_cell=0.04,
    )  # fmt: skip
    drafts = _drafts(made, seed)
    covered = []
    for d in drafts:
        if d.family == "pairs":
            a, b = int(d.subject[1:]), int(d.rival[1:])
            covered.append(d.low.value <= 100 * (personas[a] - personas[b]) <= d.high.value)
    by = {d.subject: d for d in drafts if d.family == "effects"}

    def holds(name: str, values: Any) -> float:
        pairs = 1e4 * (values[:, None] - values[None]) ** 2
        n = len(values)
        truth = pairs.sum() / (n * (n - 1))
        return float(by[name].low.value <= truth <= by[name].high.value)

    return {
        "mean difference of pairs": float(np.mean(covered)),
        "mean squared difference of labels": holds("labels", personas),
        "mean squared difference of configurations": holds("the configuration", configuration),
    }


def _rejection(name: str, study: Any, claim: dict[str, Claim]) -> Row:
    return Row("findings", name, "rejection", claim, study)


ROWS: list[Row] = [
    _rejection("exchangeable", _null, _claims(3)),
    _rejection(
        "exchangeable, clusters of 3, 2 personas, 3 configurations",
        lambda s: _null(s, personas=2, factors=(3,), cluster_size=3, questions=180),
        {k: v for k, v in _claims(0).items() if not k.startswith("alone: f0")},
    ),
    _rejection(
        "equal accuracy, correlated blocks",
        lambda s: _null(
            s, question_sd=0.05, question_factor={1: 0.1}, question_persona=0.05, base=0.5
        ),
        _claims(3),
    ),
    _rejection(
        "equal accuracy, questions differ by label",
        lambda s: _null(s, question_sd=0.05, question_persona=0.2),
        _claims(3),
    ),
    _rejection(
        "a difference in 10 of 12 configurations: one short of robust",
        _boundary,
        {"one pair alone: robust": "conservative"},
    ),
    _rejection(
        "a difference in 6 of 12 configurations, none the other way",
        _one_sided,
        {"one pair alone: fragile": "conservative"},
    ),
    _rejection(
        "probabilities known, configurations nearly alike",
        _alike,
        {
            "one pair alone: robust": "conservative",
            "one pair alone: fragile": "conservative",
            "one pair, share of configurations at least 90%": "tabulated",
        },
    ),
    _rejection(
        "12 clusters of 3 questions",
        _few_clusters,
        {
            "one configuration, two-sided 5%, t": "nominal",
            "one configuration, two-sided 5%, normal": "tabulated",
            "robust, t": "conservative",
        },
    ),
    Row(
        "findings",
        "two labels and the configurations differ, clusters of 2",
        "coverage",
        {
            "mean difference of pairs": "nominal",
            "mean squared difference of labels": "tabulated",
            "mean squared difference of configurations": "tabulated",
        },
        _intervals,
    ),
]
