from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import kendalltau, rankdata

from designs import responses
from nongrata.analysis.cube import read_cube
from nongrata.analysis.model_data import Resampling, each_model
from nongrata.analysis.ranking import ranking, ranking_of
from nongrata.analysis.ranking_cells import ranking_cells
from nongrata.stats.accuracy import complete_accuracy
from nongrata.stats.pairwise_order import differences, multiplier_noise
from nongrata.stats.rank_sets import rank_sets

FEW = Resampling(draws=399, splits=10)


def data_of(ds, resampling=FEW):
    return next(each_model(read_cube(ds), resampling))


def alone(ds):
    """Without clusters and sources."""
    n = ds.sizes["question"]
    return ds.assign_coords(
        cluster=("question", [f"q{i}" for i in range(n)]), source=("question", ["one"] * n)
    )


def strip(part):
    """A result without the names in it."""
    return [
        (label.accuracy, label.rank, label.low, label.high, label.all_low, label.all_high)
        for r in part.rankings
        for label in r.labels
    ]


def test_overall_ranking_is_that_of_the_labels_mean_accuracies():
    ds = alone(responses(personas=5, questions=80, seed=3))
    part = ranking(ds, resampling=FEW).models[0]
    correct = (ds["option"] == ds["answer"]) & (ds["outcome"] == 0)
    x = correct.isel(model=0, replicate=0, persona=slice(0, 5)).to_numpy().reshape(5, 6, 80)
    mean = x.mean(axis=1)  # (label, question)
    C = np.cov(mean) / 80
    found = differences(mean.mean(axis=1), C, 79)
    normals = np.random.default_rng((0, 41)).standard_normal((5, 399))
    sets = rank_sets(found, multiplier_noise(C, normals))
    labels = part.overall.labels
    assert [label.persona for label in labels] == [f"label-{i}" for i in range(5)]
    assert [label.accuracy for label in labels] == pytest.approx(100 * x.mean(axis=(1, 2)))
    assert [label.se.value for label in labels] == pytest.approx(100 * np.sqrt(np.diag(C)))
    assert [(v.low, v.high) for v in labels] == list(zip(sets.low, sets.high, strict=True))
    assert [v.all_high for v in labels] == sets.all_high.tolist()
    assert part.overall.possibly_best == tuple(
        f"label-{i}" for i in np.flatnonzero(sets.possibly_best)
    )
    A = x.mean(axis=2)
    tau = np.mean([kendalltau(A[:, a], A[:, b]).statistic for a in range(6) for b in range(a)])
    assert part.agreement[0].tau_b.value == pytest.approx(tau)
    assert (part.clusters, part.questions, part.design_effect.value) == (80, 80, 1.0)


@pytest.mark.parametrize("lost", [0.0, 0.02])
def test_the_order_in_each_configuration_is_that_of_its_accuracies(lost):
    # few questions, so that labels tie
    ds = responses(personas=6, questions=30, seed=4, lost=lost)
    result = ranking(ds, resampling=FEW)
    part, data = result.models[0], data_of(ds)
    labels = [data.cube.personas.index(name) for name in part.personas]
    there, ties = data.present[labels].all(axis=0), 0
    for c, one in enumerate(part.by_configuration):
        accuracy = [data.value[p, c, there[c]].mean(dtype=float) for p in labels]
        want = rankdata(-np.round(accuracy, 9))
        assert one.ranks == tuple(want)
        assert one.levels == tuple(str(level) for level in data.cube.configuration(c))
        assert one.questions == there[c].sum()
        ties += len(set(one.ranks)) < len(one.ranks)
    assert ties
    assert len(part.by_configuration) == part.configurations
    frame = result.ranks_to_dataframe()
    assert frame.columns == ["model", *part.factors, "questions", "persona", "rank"]
    assert frame["rank"].to_list() == [rank for one in part.by_configuration for rank in one.ranks]


def test_scopes():
    ds = responses(questions=40)
    part = ranking(ds, configurations=True, resampling=FEW).models[0]
    assert [(r.scope, r.factor, r.name, r.configurations) for r in part.rankings] == [
        ("overall", "", "", 6),
        ("level", "format", "plain", 3),
        ("level", "format", "role", 3),
        ("level", "temperature", "0.0", 2),
        ("level", "temperature", "0.5", 2),
        ("level", "temperature", "1.0", 2),
        *[
            ("configuration", "", f"{f} · {t}", 1)
            for f in ("plain", "role")
            for t in (0.0, 0.5, 1.0)
        ],
    ]
    assert len(ranking(ds, resampling=FEW).models[0].rankings) == 6
    rows = [(a.scope, a.name, a.compared, a.settings) for a in part.agreement]
    assert rows == [
        ("overall", "", 6, 1),
        ("factor", "format", 2, 3),
        ("factor", "temperature", 3, 2),
    ]
    assert [(h.scope, h.name) for h in part.halves] == [row[:2] for row in rows]
    assert part.agreement[0].p.defined
    assert "mean over settings" in part.agreement[1].p.reason
    means = {r.name: [v.accuracy for v in r.labels] for r in part.rankings}
    both = np.mean([means["plain"], means["role"]], axis=0)
    assert means[""] == pytest.approx(both)
    assert means["plain"] == pytest.approx(
        np.mean([means[f"plain · {t}"] for t in (0.0, 0.5, 1.0)], axis=0)
    )


def test_pairs_agree_with_the_simultaneous_sets():
    ds = responses(personas=6, questions=200, seed=1)
    for i in range(6):  # labels that truly differ
        ds["option"].values[:, i, ..., : 25 * i] = ds["answer"].values[: 25 * i]
        ds["outcome"].values[:, i, ..., : 25 * i] = 0
    part = ranking(ds, resampling=FEW).models[0]
    order = part.order
    assert (order.pairs, len(order.rows)) == (15, 15)
    assert 5 <= order.ordered == part.overall.ordered
    above = {row.higher for row in order.rows if row.ordered and row.lower == "label-0"}
    zero = part.overall.labels[0]
    assert zero.all_low == 1 + len(above)
    gaps = [row.difference for row in order.rows]
    assert gaps == sorted(gaps, reverse=True)
    assert min(gaps) >= 0
    accuracy = {v.persona: v.accuracy for v in part.overall.labels}
    for row in order.rows:
        assert row.difference == pytest.approx(accuracy[row.higher] - accuracy[row.lower])
        assert row.p.value <= row.p_holm.value + 1e-12


def test_missing_answers_leave_the_questions_that_are_complete_for_all_labels():
    ds = responses(personas=4, questions=60, lost=0.05, seed=2)
    data = data_of(ds)
    cells = ranking_cells(data, "labels")
    rows, columns = cells.selection.personas, cells.selection.configurations
    A, n = complete_accuracy(data.value[np.ix_(rows, columns)], data.present[np.ix_(rows, columns)])
    assert (n < 60).all()
    np.testing.assert_allclose(cells.accuracy, A)
    np.testing.assert_array_equal(cells.questions, n)
    np.testing.assert_allclose(cells.linear.sum(axis=2) / 60, A)
    assert ranking_of(data).overall.questions == n.min()


def test_standard_errors_with_missing_answers_are_those_of_resampling():
    data = data_of(responses(personas=3, questions=150, lost=0.1, seed=4), Resampling(draws=3000))
    cells = ranking_cells(data, "labels")
    _, C = cells.mean_over(np.arange(6))
    drawn = np.cov(cells.noise.mean(axis=2).T)
    np.testing.assert_allclose(np.sqrt(np.diag(C)), np.sqrt(np.diag(drawn)), rtol=0.08)
    gap = np.sqrt(C[0, 0] + C[1, 1] - 2 * C[0, 1])
    assert gap == pytest.approx(np.sqrt(drawn[0, 0] + drawn[1, 1] - 2 * drawn[0, 1]), rel=0.08)


def test_a_configuration_without_a_complete_question_is_left_out():
    ds = responses(personas=3, controls=0, questions=12)
    ds["outcome"].values[0, 0, 0, 0, 0, :6] = 255
    ds["outcome"].values[0, 1, 0, 0, 0, 6:] = 255
    ds["option"].values[ds["outcome"].values != 0] = -1
    part = ranking(ds, resampling=FEW).models[0]
    assert part.configurations == 5
    assert part.left_out[-1].names == ("plain · 0.0",)
    assert "complete" in part.left_out[-1].why


@pytest.mark.parametrize("what", ["model", "persona", "question", "format"])
def test_other_names_change_nothing(what):
    ds = responses(questions=40, seed=5)
    other = ds.assign_coords({what: [f"renamed {i}" for i in range(ds.sizes[what])[::-1]]})
    if what == "question":
        other = other.assign_coords(cluster=("question", [f"z{c}" for c in ds["cluster"].values]))
    one = ranking(ds, resampling=FEW, configurations=True).models[0]
    two = ranking(other, resampling=FEW, configurations=True).models[0]
    assert strip(one) == strip(two)
    if what in ("model", "question"):
        assert one.halves == two.halves
        assert one.order == two.order
    assert [h.correlation for h in one.halves] == [h.correlation for h in two.halves]
    assert [h.tau_b for h in one.halves] == [h.tau_b for h in two.halves]


def test_another_order_changes_monte_carlo_only():
    ds = responses(personas=5, questions=60, seed=6)
    other = ds.isel(persona=[3, 1, 0, 4, 2, 5], format=[1, 0], question=np.arange(60)[::-1])
    one = ranking(ds, resampling=FEW).models[0]
    two = ranking(other, resampling=FEW).models[0]
    name = lambda v: v.persona  # noqa: E731
    for a, b in zip(
        sorted(one.overall.labels, key=name), sorted(two.overall.labels, key=name), strict=True
    ):
        assert a.accuracy == pytest.approx(b.accuracy, rel=1e-12)
        assert a.se.value == pytest.approx(b.se.value, rel=1e-6)
        assert a.rank == b.rank
    for a, b in zip(one.agreement, two.agreement, strict=True):
        assert a.kendall_w.value == pytest.approx(b.kendall_w.value)
        assert a.tau_b.value == pytest.approx(b.tau_b.value)
    for a, b in zip(one.halves, two.halves, strict=True):
        assert a.within == pytest.approx(b.within, rel=1e-6)
        assert a.between == pytest.approx(b.between, rel=1e-6)


def test_every_question_twice_in_one_cluster_changes_no_estimate_and_no_standard_error():
    ds = alone(responses(questions=50, seed=7))
    twice = ds.isel(question=np.repeat(np.arange(50), 2))
    twice = twice.assign_coords(question=[f"q{i}" for i in range(100)])
    one = ranking(ds, resampling=FEW).models[0]
    two = ranking(twice, resampling=FEW).models[0]
    assert two.clusters == one.clusters == 50
    assert two.design_effect.value == pytest.approx(2, rel=0.05)
    np.testing.assert_allclose(strip(one), strip(two))
    for a, b in zip(one.overall.labels, two.overall.labels, strict=True):
        assert a.se.value == pytest.approx(b.se.value)
    for a, b in zip(one.halves, two.halves, strict=True):
        assert a.within == pytest.approx(b.within, rel=1e-5)
        assert a.within_se == pytest.approx(b.within_se, rel=1e-4)
        assert a.tau_b.same.value == pytest.approx(b.tau_b.same.value)


def test_replicates_and_probabilities_are_used_as_best_estimates():
    ds = responses(questions=40, replicates=3, seed=8)
    part = ranking(ds, resampling=FEW).models[0]
    right = ((ds["option"] == ds["answer"]) & (ds["outcome"] == 0)).isel(model=0, persona=0)
    assert part.overall.labels[0].accuracy == pytest.approx(100 * float(right.mean()))
    known = responses(questions=40, theta=True, seed=8)
    part = ranking(known, resampling=FEW).models[0]
    theta = known["theta"].isel(model=0, persona=0)
    assert part.overall.labels[0].accuracy == pytest.approx(100 * float(theta.mean()), rel=1e-6)


@pytest.mark.parametrize(
    ("size", "reason"),
    [
        ({"personas": 1}, "one label"),
        ({"personas": 0}, "one label"),
        ({"factors": {"format": ["plain"]}}, "one configuration"),
        ({"factors": {"format": ["plain"], "temperature": [0.0, 1.0]}}, ""),
        ({"questions": 1}, "one cluster"),
        ({"questions": 2}, "one cluster"),
        ({"questions": 3}, ""),
        ({"accuracy": 9.0}, ""),
        ({"accuracy": -9.0}, ""),
        ({"lost": 1.0}, "one label"),
        ({"lost": 0.9}, ""),
    ],
)
def test_corners_are_undefined_with_a_reason(size, reason):
    ds = responses(**size)
    found = ranking(ds, configurations=True, resampling=Resampling(draws=99, splits=3))
    text = found.to_json()
    assert "NaN" not in text
    json.loads(text)
    assert found.to_dataframe().columns[0] == "model"
    assert str(found)
    part = found.models[0]
    figures = [part.agreement[0].kendall_w, part.halves[0].correlation, part.halves[0].tau_b.same]
    if reason:
        assert any(reason in figure.reason for figure in figures), figures
    for r in part.rankings:
        for label in r.labels:
            assert 1 <= label.all_low <= label.low <= label.high <= label.all_high <= part.labels


@pytest.mark.parametrize("shift", [0, 1])
def test_all_right_or_all_wrong_ties_everything(shift):
    ds = responses(questions=10)
    ds["option"].values[...] = (ds["answer"].values + shift) % ds["n_options"].values
    ds["outcome"].values[...] = 0
    part = ranking(ds, resampling=FEW).models[0]
    assert "tied" in part.agreement[0].kendall_w.reason
    assert "tied" in part.halves[0].tau_b.same.reason
    assert part.halves[0].best_changes.different.value == 0
    assert part.order.without_se == part.order.pairs == 6
    assert "no standard error" in part.order.rows[0].p_steps.reason
    for label in part.overall.labels:
        assert (label.rank, label.low, label.high) == (2.5, 1, 4)
        assert label.accuracy == 100 * (1 - shift)


def test_sets_of_personas():
    ds = responses(duplicates=True)
    assert ranking(ds, resampling=FEW).models[0].labels == 4
    assert ranking(ds, "with_controls", resampling=FEW).models[0].labels == 4
    assert ranking(ds, "as_preprint", resampling=FEW).models[0].labels == 5


def test_the_table():
    found = ranking(responses(models=2, questions=30), resampling=FEW)
    frame = found.to_dataframe()
    assert frame.shape == (2 * 6 * 4, 14)
    assert frame["possibly_best"].any()
    assert found.of("model-1").model == "model-1"
    assert str(found).startswith("model-0: ")


def test_an_unknown_model_is_said_to_be_unknown():
    from nongrata.errors import NongrataError

    with pytest.raises(NongrataError, match="no model 'x'"):
        ranking(responses(), resampling=FEW).of("x")
