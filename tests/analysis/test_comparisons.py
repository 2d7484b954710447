from __future__ import annotations

import json

import numpy as np
import pytest

from designs import responses
from nongrata.analysis.compare_domains import compare_domains_of
from nongrata.analysis.compare_factors import compare_factors_of
from nongrata.analysis.compare_models import compare_models
from nongrata.analysis.comparisons import comparisons
from nongrata.analysis.cube import read_cube
from nongrata.analysis.instability import instability
from nongrata.analysis.model_data import Resampling, each_model
from nongrata.errors import NongrataError

FEW = Resampling(draws=100, splits=5, seed=1)


def models_of(ds):
    return list(each_model(read_cube(ds), FEW))


def set_right(ds, model, right):
    """Make one model's answers right where `right` (persona, format, temperature, question) is."""
    answer = ds["answer"].values
    ds["option"].values[model, ..., 0, :] = np.where(right, answer, (answer + 1) % 3)
    ds["outcome"].values[model] = 0


def moved(seed=0, questions=300, formats=0.3, temperatures=0.05, models=1):
    """Formats move accuracy by `formats` from first to last, temperatures by `temperatures`."""
    ds = responses(questions=questions, models=models, factors={
        "format": ["a", "b", "c"], "temperature": [0.0, 0.5, 1.0]})  # fmt: skip
    rng = np.random.default_rng(seed)
    for m in range(models):
        p = 0.5 + rng.uniform(-0.15, 0.15, questions)
        p = p + (formats * np.linspace(-0.5, 0.5, 3))[:, None, None]
        p = p + (temperatures * np.linspace(-0.5, 0.5, 3))[:, None]
        set_right(ds, m, rng.random((5, 3, 3, questions)) < p)
    return ds


@pytest.mark.parametrize("settings", [{}, {"replicates": 3, "lost": 0.0}, {"duplicates": True}])
def test_raw_figures_are_those_of_the_instability_table(settings):
    ds = responses(questions=90, models=2, **settings)
    result = comparisons(ds, resampling=FEW)
    raw = instability(ds)
    for model, row, factors, domains in zip(
        ("model-0", "model-1"), result.models.rows, result.factors, result.domains, strict=True
    ):
        overall = raw.of(model, "overall")[0]
        assert row.ia.value.value == pytest.approx(overall.ia.value)
        assert row.iq_of_two.value.value == pytest.approx(overall.iq_at(2).value)
        assert row.iq_of_all.value.value == pytest.approx(overall.iq.value)
        for one, two in zip(factors.rows, raw.of(model, "factor"), strict=True):
            assert one.iq_of_two.value.value == pytest.approx(two.iq_at(2).value)
        for one, two in zip(domains.rows, raw.of(model, "domain"), strict=True):
            assert one.domain == two.name
            assert one.iq_of_two.value.value == pytest.approx(two.iq_at(2).value)


def test_the_factor_that_moves_accuracy_is_found():
    result = compare_factors_of(models_of(moved())[0])
    true = 30 * (((0.5**2 + 0.5**2 + 1) / 3) ** 0.5)
    typical = result.rows[0].typical_difference
    assert typical.low < true < typical.high
    (row,) = result.of("squared_difference")
    assert (row.first, row.second) == ("format", "temperature")
    assert row.decided
    assert row.low > 0
    assert result.of("ia_excess")[0].decided
    assert "accuracy moves most with format" in str(comparisons(moved(), resampling=FEW))


def test_factors_alike_are_not_told_apart():
    result = compare_factors_of(models_of(moved(formats=0.1, temperatures=0.1))[0])
    assert not result.of("squared_difference")[0].decided


def test_a_factor_with_one_level_has_no_figure():
    ds = responses(factors={"format": ["a"], "temperature": [0.0, 1.0]}, questions=50)
    rows = compare_factors_of(models_of(ds)[0]).rows
    assert rows[0].squared_difference.value.reason == "the factor has one level"
    assert rows[0].iq_of_two.value.reason == "the factor has one level"
    assert rows[1].squared_difference.value.defined


def test_models_are_compared_on_the_same_questions():
    ds = moved(models=3)
    right = ds["option"].values[0, ..., 0, :] == ds["answer"].values
    lift = np.random.default_rng(1).random(right.shape) < 0.1
    set_right(ds, 1, right | lift)
    result = compare_models(models_of(ds))
    row = result.of("accuracy")[0]
    assert (row.first, row.second) == ("model-0", "model-1")
    labels = slice(0, 4)
    apart = (right[labels].astype(float) - (right | lift)[labels]).mean(axis=(0, 1, 2))
    assert row.difference.value == pytest.approx(100 * apart.mean())
    se = 100 * models_of(ds)[0].units.variance_of_mean(apart) ** 0.5
    assert row.se == pytest.approx(se)
    unpaired = np.hypot(result.rows[0].accuracy.se, result.rows[1].accuracy.se)
    assert row.se < unpaired / 3
    assert row.decided
    assert row.joint_low < row.low < row.difference.value < row.high < row.joint_high
    assert len(result.differences) == 3 * 6


def test_missing_answers_leave_what_both_models_have():
    ds = moved(models=2)
    ds["outcome"].values[0, ..., :150] = 255
    ds["outcome"].values[1, ..., 200:] = 255
    common = ds.isel(question=slice(150, 200))
    one = compare_models(models_of(ds)).of("accuracy")[0]
    two = compare_models(models_of(common)).of("accuracy")[0]
    assert one.difference.value == pytest.approx(two.difference.value)
    disjoint = ds.copy(deep=True)
    disjoint["outcome"].values[0, ..., 150:] = 255
    none = compare_models(models_of(disjoint)).of("accuracy")[0]
    assert not none.difference.defined
    assert none.reason


def test_a_model_without_answers_has_reasons_and_others_are_still_compared():
    ds = moved(models=3)
    ds["outcome"].values[1] = 255
    result = comparisons(ds, resampling=FEW)
    assert result.models.rows[1].accuracy.value.reason == "no answers yet"
    defined = [row.difference.defined for row in result.models.of("accuracy")]
    assert defined == [False, True, False]
    assert result.domains[1].rows[0].accuracy.value.reason == "no answers are left"
    json.loads(result.to_json())


def test_the_sensitive_domain_is_found_and_small_ones_are_named():
    ds = moved(formats=0.0, temperatures=0.0, questions=480)
    domain = np.array([f"d{i % 6}" for i in range(480)], dtype="U8")
    rng = np.random.default_rng(2)
    p = 0.5 + np.where(domain == "d3", 0.5, 0.0) * np.array([-0.5, 0.0, 0.5])[:, None, None]
    set_right(ds, 0, rng.random((5, 3, 3, 480)) < p)
    domain[:5] = "tiny"
    ds["domain"] = ("question", domain)
    result = compare_domains_of(models_of(ds)[0])
    assert result.not_compared == ("tiny",)
    decided = [row.first for row in result.of("squared_difference") if row.decided]
    assert "d3" in decided
    rows = {row.domain: row for row in result.rows}
    assert rows["d3"].ia_at_size.value.value > 2 * rows["d0"].ia_at_size.value.value
    assert "clusters" in rows["tiny"].ia_at_size.value.reason
    assert rows["tiny"].accuracy.value.defined
    count = next(c for c in result.pair_counts if c.metric == "squared_difference")
    assert count.pairs == 15
    assert count.decided >= 5
    assert len([row for row in result.pairs if row.metric == "accuracy"]) == 15


def test_ia_at_equal_size_does_not_depend_on_the_size_of_a_domain():
    ds = moved(formats=0.1, questions=400)
    ds["domain"] = ("question", np.array(["small"] * 40 + ["large"] * 360))
    large, small = compare_domains_of(models_of(ds)[0]).rows
    raw = {row.name: row.ia.value for row in instability(ds).of("model-0", "domain")}
    assert raw["small"] > 1.3 * raw["large"]
    ratio = small.ia_at_size.value.value / large.ia_at_size.value.value
    assert 0.8 < ratio < 1.25


def test_theta_and_draws_are_never_mixed_in_drawn_figures():
    ds = responses(theta=True, questions=80)
    whole = compare_models(models_of(ds)).rows[0]
    assert whole.ia.value.value == pytest.approx(instability(ds).of("model-0")[0].ia.value)
    ds["outcome"].values[:, :, 0] = 255  # probabilities only
    part = compare_models(models_of(ds)).rows[0]
    assert "no drawn answers" in part.ia.value.reason
    assert "no drawn answers" in part.iq_of_two.value.reason
    assert part.squared_difference.value.defined


def test_agreements_count_models_and_show_the_sign_test():
    result = comparisons(moved(models=4), resampling=FEW)
    one = next(a for a in result.agreements if a.about == "factor"
               and a.metric == "squared_difference")  # fmt: skip
    assert (one.first, one.second, one.larger, one.models) == ("format", "temperature", 4, 4)
    assert one.p == 0.125
    assert comparisons(moved(), resampling=FEW).agreements == ()


def test_names_change_nothing_but_names_and_order_changes_no_closed_form():
    ds = responses(questions=90, models=2, lost=0.02)
    one = comparisons(ds, resampling=FEW)
    names = [*"vwxy", "control-0"]
    renamed = ds.assign_coords(persona=names, question=[f"z{i}" for i in range(90)])
    assert comparisons(renamed, resampling=FEW).to_json() == one.to_json()
    rng = np.random.default_rng(0)
    order = {"question": rng.permutation(90), "persona": rng.permutation(5),
             "temperature": [2, 0, 1]}  # fmt: skip
    other = comparisons(ds.isel(order), resampling=FEW)
    for a, b in zip(one.models.differences, other.models.differences, strict=True):
        assert a.difference.value == pytest.approx(b.difference.value, rel=1e-6, abs=1e-9)
        assert a.se == pytest.approx(b.se, rel=1e-5)
    for x, y in zip(one.domains, other.domains, strict=True):
        for a, b in zip(x.against_others, y.against_others, strict=True):
            assert a.difference.value == pytest.approx(b.difference.value, rel=1e-6, abs=1e-9)
            assert a.p == pytest.approx(b.p, rel=1e-4)


def test_every_question_twice_in_its_cluster_leaves_everything():
    import xarray as xr

    ds = responses(questions=90).isel(question=slice(4, None))
    again = ds.assign_coords(question=[f"again/{q}" for q in ds["question"].values])
    twice = xr.concat([ds, again], "question", data_vars="minimal")
    one, two = (compare_domains_of(models_of(d)[0]) for d in (ds, twice))
    for a, b in zip(one.against_others, two.against_others, strict=True):
        assert a.difference.value == pytest.approx(b.difference.value, rel=1e-6)
        assert a.se == pytest.approx(b.se, rel=1e-5)
        assert a.p == pytest.approx(b.p, rel=1e-4)


def test_domains_that_share_clusters_are_compared_as_pairs():
    ds = moved(questions=200)
    ds["domain"] = ("question", np.array(["one", "two"])[np.arange(200) % 2])
    ds = ds.assign_coords(cluster=("question", [f"c{i // 2}" for i in range(200)]),
                          source=("question", ["s"] * 200))  # fmt: skip
    data = models_of(ds)[0]
    row = next(r for r in compare_domains_of(data).pairs if r.metric == "accuracy")
    x = data.value[:4].mean(axis=(0, 1))
    apart = x[::2] - x[1::2]
    assert row.difference.value == pytest.approx(100 * apart.mean(), rel=1e-5)
    assert row.se == pytest.approx(100 * apart.std(ddof=1) / 10, rel=1e-5)


@pytest.mark.parametrize("settings", [
    {"personas": 1, "controls": 0}, {"factors": {"f": ["x"]}}, {"questions": 1}, {"accuracy": 5},
    {"lost": 1.0}, {"lost": 0.9},
])  # fmt: skip
def test_corner_cases_give_reasons_and_no_warnings(settings):
    result = comparisons(responses(**{"questions": 30, **settings}), resampling=FEW)
    json.loads(result.to_json())
    assert result.to_dataframe().height == len(result.domains[0].against_others) + len(
        result.domains[0].pairs
    ) + len(result.factors[0].differences)
    assert "\n" not in str(result)


def test_an_unknown_set_of_personas_is_refused():
    with pytest.raises(NongrataError, match="unknown set of personas"):
        comparisons(responses(), personas="everyone")  # type: ignore[arg-type]
