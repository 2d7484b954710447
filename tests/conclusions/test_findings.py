from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from designs import responses
from nongrata.analysis.model_data import Resampling
from nongrata.conclusions import findings
from nongrata.conclusions.model import FAMILIES
from nongrata.stats.units import Units

FEW = Resampling(draws=150, splits=6)


def made(shift=None, *, questions=240, seed=0, draw=0, **kwargs):
    """Answers right with probability .6, plus `shift`, shape (P, 2 x 3)."""
    ds = responses(questions=questions, accuracy=0.6, seed=seed, **kwargs)
    shape = ds["option"].shape
    rng = np.random.default_rng((seed, draw))
    P = shape[1]
    theta = np.full((P, 6), 0.6) + (0 if shift is None else shift)
    right = rng.random((P, 6, questions)) < theta[:, :, None]
    gold = ds["answer"].to_numpy()
    option = np.where(right, gold, (gold + 1) % ds["n_options"].to_numpy()).astype(np.int8)
    return ds.assign(option=(ds["option"].dims, option.reshape(shape)))


def label_shift(values):
    out = np.zeros((5, 6))
    out[: len(values)] = np.array(values)[:, None]
    return out


def by_statement(found):
    return {c.statement: c for c in found.conclusions}


def test_labels_that_differ_everywhere_are_robust():
    found = findings(made(label_shift([0.3, -0.3])), FEW)
    said = by_statement(found)
    pair = said["prompts with label-0 are answered more accurately than with label-1"]
    assert pair.verdict == "robust"
    assert pair.share.value == 100
    assert pair.held_out.value == 100
    assert pair.low.value < 60 < pair.high.value
    assert said["accuracy differs between labels"].verdict == "established"
    best = said["prompts with label-0 are answered most accurately of all labels"]
    worst = said["prompts with label-1 are answered least accurately of all labels"]
    assert best.verdict == worst.verdict == "robust"
    assert not best.low.defined
    control = said["prompts with label-1 are answered less accurately than with control-0"]
    assert control.verdict == "robust"
    assert control.estimate.value == pytest.approx(-30, abs=6)
    assert control.low.value < control.estimate.value < control.high.value
    assert "is robust" not in found.models[0].answer[0]
    assert "The best label (label-0) and the worst (label-1) are the same" in found.sentences[0]


def test_labels_that_change_places_are_fragile_and_the_exceptions_named():
    shift = np.zeros((5, 6))
    shift[0, :4], shift[0, 4:] = 0.35, -0.35
    found = findings(made(shift), FEW)
    pairs = [c for c in found.conclusions if c.family == "pairs" and c.subject == "label-0"]
    assert len(pairs) == 3
    for pair in pairs:
        assert pair.verdict == "fragile"
        assert {e.configuration for e in pair.exceptions} == {"role · 0.5", "role · 1.0"}
        assert all(
            e.what == "the other way, established" and e.estimate < 0 for e in pair.exceptions
        )
        assert "role · 0.5" in pair.sentence
    claim = next(c for c in found.models[0].claims if c.statement.startswith("the best"))
    assert claim.status == "confirmed"
    said = by_statement(found)
    assert said["differences between labels depend on the configuration"].verdict == "established"


def test_an_exception_to_a_robust_conclusion_is_named():
    factors = {"format": [f"f{i}" for i in range(4)], "temperature": [0.0, 0.5, 1.0]}
    ds = responses(personas=2, controls=0, factors=factors, questions=300)
    gold = ds["answer"].to_numpy()
    right = np.random.default_rng(0).random((2, 12, 300)) < 0.5
    right[0] |= np.random.default_rng(1).random((12, 300)) < 0.7
    right[:, 4] = right[::-1, 4]
    option = np.where(right, gold, (gold + 1) % ds["n_options"].to_numpy()).astype(np.int8)
    found = findings(ds.assign(option=(ds["option"].dims, option.reshape(1, 2, 4, 3, 1, 300))), FEW)
    pair = found.models[0].of("pairs")[0]
    assert (pair.verdict, pair.subject, pair.configurations) == ("robust", "label-0", 12)
    assert [(e.configuration, e.what) for e in pair.exceptions] == [
        ("f1 · 0.5", "the other way, established")
    ]
    assert pair.share.value == pytest.approx(100 * 11 / 12)
    assert "exceptions: f1 · 0.5" in pair.sentence


def test_formats_that_matter_are_shown_and_no_label_is():
    shift = np.zeros((5, 6))
    shift[:, 3:] = -0.25
    found = findings(made(shift), FEW)
    said = by_statement(found)
    assert said["overall accuracy depends on the configuration"].verdict == "established"
    assert said["overall accuracy depends on format"].verdict == "established"
    assert said["overall accuracy depends on temperature"].verdict == "undecided"
    assert said["format moves accuracy more than temperature"].verdict == "established"
    assert not any(c.verdict in ("robust", "fragile") for c in found.models[0].of("pairs"))
    answer = found.models[0].answer
    assert answer[1].startswith("Accuracy: depends on the configuration. ")
    assert answer[1].endswith("It moves with format.")


def test_noise_alone_suffices():
    found = findings(made(), FEW)
    assert not any(c.decided for c in found.conclusions)
    assert "Nothing is established" in found.sentences[0]
    open_ = [c for c in found.conclusions if c.family == "controls"]
    assert all(c.because for c in open_)
    assert all(not c.needed.defined or c.needed.value > 240 for c in open_)
    assert any("more questions alone" in c.because for c in open_)


def test_nothing_is_ranked_at_chance():
    shift = label_shift([-0.35, -0.35, -0.35, -0.35, -0.35])
    found = findings(made(shift), FEW)
    part = found.models[0]
    assert not part.rankable
    labels = [c for c in part.conclusions if c.family in ("controls", "pairs", "extremes")]
    assert labels
    assert {c.verdict for c in labels} == {"not rankable"}
    assert "not rankable" in part.answer[0]
    assert part.headline.startswith("Labels must not be ranked")
    assert all(not c.p.defined for c in labels)


def test_known_probabilities_tell_of_the_set_of_questions():
    found = findings(responses(theta=True, accuracy=0.7, questions=60), FEW)
    c = next(c for c in found.conclusions if c.subject == "set of right questions")
    assert c.metric == "IQ(2) excess"
    assert c.low.value <= c.estimate.value <= c.high.value
    assert "asked twice" in found.models[0].answer[2]


@pytest.mark.parametrize(
    "kwargs",
    [
        {"personas": 1},
        {"personas": 1, "controls": 0},
        {"personas": 0, "controls": 2},
        {"controls": 0},
        {"factors": {"format": ["one"]}},
        {"factors": {"format": ["one"]}, "personas": 1},
        {"factors": {"format": ["a", "b"], "other": ["one"]}},
        {"factors": {"format": ["a", "b", "c"]}},
        {"questions": 1},
        {"questions": 2},
        {"questions": 3},
        {"lost": 0.3},
        {"lost": 0.9},
        {"lost": 1.0},
        {"duplicates": True},
        {"duplicates": True, "lost": 0.2},
        {"accuracy": 2.0, "theta": True},
        {"accuracy": -1.0},
        {"replicates": 3},
        {"replicates": 3, "lost": 0.2, "models": 2},
        {"theta": True, "models": 3},
        {"models": 2, "factors": {"format": ["one"]}},
    ],
    ids=str,
)
def test_corner_cases_are_findings_too(kwargs):
    found = findings(responses(**{"questions": 12} | kwargs), FEW)
    json.loads(found.to_json())
    assert found.to_dataframe().height == len(found.conclusions)
    assert str(found)
    for part in found.models:
        assert part.headline
        assert sum(t.total for t in part.tallies) >= len(part.conclusions)
    for c in found.conclusions:
        assert c.sentence
        assert c.family in FAMILIES
        for figure in (c.estimate, c.low, c.high, c.share, c.held_out, c.p, c.p_fragile, c.needed):
            assert figure.defined or figure.reason
        if c.configurations < 2:
            assert c.verdict in ("undecided", "not rankable", "established")


def test_nothing_varied_is_said():
    found = findings(responses(factors={"format": ["one"]}, accuracy=0.8, questions=90), FEW)
    pair_tally = next(t for t in found.models[0].tallies if t.family == "pairs")
    assert pair_tally.undecided == pair_tally.total
    c = found.models[0].of("controls")[0]
    assert "nothing was varied" in c.because
    assert "One configuration was run" in found.models[0].answer[1]
    assert "nothing was varied" in found.models[0].headline


def test_two_models_are_compared():
    ds = made(models=1)
    worse = made(label_shift([-0.3] * 5), draw=1).assign_coords(model=["other"])
    import xarray as xr

    both = xr.concat([ds, worse], "model", data_vars="minimal", coords="minimal")
    both.attrs = ds.attrs
    found = findings(both, FEW)
    accuracy = next(c for c in found.between_models if c.metric == "accuracy")
    assert accuracy.model == "model-0, other"
    assert (accuracy.subject, accuracy.rival) == ("model-0", "other")
    assert accuracy.verdict == "not rankable"  # the other is at chance
    better = made(label_shift([0.25] * 5), draw=1).assign_coords(model=["other"])
    both = xr.concat([ds, better], "model", data_vars="minimal", coords="minimal")
    both.attrs = ds.attrs
    accuracy = next(c for c in findings(both, FEW).between_models if c.metric == "accuracy")
    assert (accuracy.subject, accuracy.verdict) == ("other", "robust")


def test_pair_intervals_are_clustered_t_intervals():
    from scipy.stats import t

    ds = made(label_shift([0.3, -0.3]))
    found = by_statement(findings(ds, FEW))
    pair = found["prompts with label-0 are answered more accurately than with label-1"]
    x = (ds["option"].to_numpy() == ds["answer"].to_numpy()).reshape(5, 6, 240)
    d = x[0].mean(axis=0) - x[1].mean(axis=0)
    _, cluster = np.unique(ds["cluster"].to_numpy(), return_inverse=True)
    _, source = np.unique(ds["source"].to_numpy(), return_inverse=True)
    units = Units.of(240, cluster, source)
    margin = t.ppf(0.975, units.degrees_of_freedom) * math.sqrt(units.variance_of_mean(d))
    assert pair.estimate.value == pytest.approx(100 * d.mean(), rel=1e-4)
    assert pair.high.value == pytest.approx(100 * (d.mean() + margin), rel=1e-4)


FIELDS = ("estimate", "low", "high", "share", "held_out", "p", "p_fragile")


def numbers(c):
    return [getattr(c, f).value for f in FIELDS]


def same(a, b, rel=1e-5):
    assert len(a) == len(b)
    for x, y in zip(a, b, strict=True):
        assert x.verdict == y.verdict
        assert numbers(x) == pytest.approx(numbers(y), rel=rel, abs=1e-5, nan_ok=True)


def test_names_change_nothing():
    ds = made(label_shift([0.3, -0.1]), models=1)
    other = ds.assign_coords(
        persona=[f"z{i}" for i in range(5)][::-1],
        question=[f"x{i}" for i in range(240)][::-1],
        model=["m"],
    ).rename({"format": "style"})
    other.attrs["factors"] = ["style", "temperature"]
    same(findings(ds, FEW).conclusions, findings(other, FEW).conclusions, rel=1e-9)


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 10_000))
def test_the_order_of_labels_and_configurations_changes_no_closed_form(seed):
    closed = ("pairs", "controls", "extremes")
    rng = np.random.default_rng(seed)
    ds = made(label_shift([0.25, -0.25, 0.1]))
    mixed = ds.isel(
        persona=[*rng.permutation(4).tolist(), 4],
        format=rng.permutation(2),
        temperature=rng.permutation(3),
    )
    a, b = (
        {c.statement: c for c in findings(d, FEW).conclusions if c.family in closed}
        for d in (ds, mixed)
    )
    assert set(a) == set(b)
    for name, c in a.items():
        assert c.estimate.value == pytest.approx(b[name].estimate.value, rel=1e-4, abs=1e-4)
        assert c.low.value == pytest.approx(b[name].low.value, rel=1e-4, abs=1e-4, nan_ok=True)
        assert c.p.value == pytest.approx(b[name].p.value, rel=1e-3, abs=1e-12, nan_ok=True)
        assert c.share.value == pytest.approx(b[name].share.value, nan_ok=True)


def test_every_question_twice_in_one_cluster_changes_nothing():
    ds = made(label_shift([0.3, -0.1]), theta=True)
    names = np.arange(240)
    alone = ds.assign_coords(
        cluster=("question", names.astype(str)), source=("question", np.full(240, "one"))
    )
    twice = alone.isel(question=np.repeat(names, 2))
    twice = twice.assign_coords(question=[f"q{i}" for i in range(480)])
    a, b = (findings(d, FEW).models[0] for d in (alone, twice))
    assert b.clusters == 240
    assert b.design_effect.value == pytest.approx(2.0, rel=0.01)
    for x, y in zip(a.conclusions, b.conclusions, strict=True):
        assert x.statement == y.statement
        assert x.verdict == y.verdict
        for f in ("estimate", "share", "p_fragile"):
            left, right = getattr(x, f).value, getattr(y, f).value
            assert left == pytest.approx(right, rel=1e-3, abs=1e-4, nan_ok=True)


def test_the_same_seed_gives_the_same_bits():
    ds = made(label_shift([0.2]), theta=True)
    assert findings(ds, FEW).to_json() == findings(ds, FEW).to_json()
    other = findings(ds, Resampling(draws=150, splits=6, seed=1))
    assert other.to_json() != findings(ds, FEW).to_json()


def test_no_sentence_is_about_people():
    found = findings(made(label_shift([0.3, -0.3])), FEW)
    about_labels = [c for c in found.conclusions if c.family in ("pairs", "controls", "extremes")]
    assert about_labels
    assert all(c.statement.startswith("prompts with ") for c in about_labels)


def test_a_configuration_that_is_not_compared_is_named():
    ds = responses(personas=3, questions=20, factors={"f": ["f0", "f1", "f2"]})
    ds["outcome"].values[:, 0, 2] = 4  # one label has no answer in the third configuration
    found = findings(ds, Resampling(draws=100))
    assert found.models[0].configurations == 2
    assert (
        "Left out: f2, for no question was answered there under all labels" in found.sentences[-1]
    )


def test_labels_without_a_shared_question():
    ds = responses(personas=2, controls=0, questions=20)
    ds["outcome"].values[:, 0, ..., :10] = 4
    ds["outcome"].values[:, 1, ..., 10:] = 4
    (sentence,) = findings(ds, Resampling(draws=100)).sentences
    assert "no question was answered under all labels" in sentence


def test_what_cannot_be_tested_is_not_called_noise():
    found = findings(responses(personas=3, questions=1), Resampling(draws=100))
    assert "It cannot be told" in found.sentences[0]
    assert "No test of the configurations is possible" in found.sentences[2]
    assert not any("Nothing is established" in said for said in found.sentences)
