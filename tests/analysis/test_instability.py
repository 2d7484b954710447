from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from designs import responses
from nongrata.analysis import analyze, instability
from nongrata.analysis.instability import FIGURES
from nongrata.errors import NongrataError


def study_of(ds, replicate, personas, configurations):
    """A Dataset as nested lists, None where missing, for the reference."""
    option = ds["option"].to_numpy()[0].reshape(len(ds.persona), -1, *ds["option"].shape[-2:])
    outcome = ds["outcome"].to_numpy()[0].reshape(option.shape)
    answer = ds["answer"].to_numpy()
    return [
        [
            [
                None if o in (4, 255) else int(o == 0 and c == a)
                for c, o, a in zip(
                    option[p, c, replicate].tolist(),
                    outcome[p, c, replicate].tolist(),
                    answer.tolist(),
                    strict=True,
                )
            ]
            for c in configurations
        ]
        for p in personas
    ]


def over(ds, personas, figure):
    """The figure on each replicate, averaged."""
    everything = range(ds["duplicate"][0].size)
    values = [figure(study_of(ds, r, personas, everything)) for r in range(ds.sizes["replicate"])]
    return reference.mean(v for v in values if v is not None)


@pytest.mark.parametrize("seed", range(20))
def test_labelled_figures_equal_the_reference(seed):
    """The whole way from a Dataset, with replicates, unread and missing answers."""
    ds = responses(
        personas=1 + seed % 4,
        questions=5 + seed,
        replicates=1 + seed % 3,
        unread=0.1,
        lost=0.05 * (seed % 2),
        seed=seed,
    )
    labels = range(1 + seed % 4)
    result = instability(ds)
    row = result.of("model-0", "overall")[0]
    assert row.ia.value == pytest.approx(over(ds, labels, reference.ia), rel=1e-12)
    for figure, expected in [
        (row.iq, over(ds, labels, reference.iq)),
        (row.io, over(ds, labels, reference.io)),
    ]:
        if expected is None:
            assert figure.reason
        else:
            assert figure.value == pytest.approx(expected, rel=1e-12, abs=1e-12)
    levels = [(a, b) for a in range(2) for b in range(3)]
    for f, factor in enumerate(result.of("model-0", "factor")):
        groups = reference.settings(levels, f)
        expected = over(
            ds, labels, lambda x, g=groups: reference.average_over_settings(reference.ia, x, g)
        )
        assert factor.ia.value == pytest.approx(expected, rel=1e-12)
        assert (factor.compared, factor.settings) == ((2, 3), (3, 2))[f]


def test_domains_rest_on_their_questions():
    ds = responses(questions=12)
    rows = instability(ds).of("model-0", "domain")
    assert [row.name for row in rows] == ["facts", "manners", "sums"]
    alone = ds.isel(question=np.flatnonzero(ds["domain"].to_numpy() == "manners"))
    assert rows[1].ia == instability(alone).rows[0].ia
    assert rows[1].questions == 4


def test_models_are_never_averaged():
    ds = responses(models=3)
    rows = [row for row in instability(ds).rows if row.scope == "overall"]
    for i, row in enumerate(rows):
        assert row.ia == instability(ds.isel(model=[i])).rows[0].ia


def test_replicates_are_not_configurations():
    ds = responses(replicates=3)
    row = instability(ds).rows[0]
    singles = [instability(ds.isel(replicate=[r])).rows[0] for r in range(3)]
    assert row.ia.value == pytest.approx(np.mean([s.ia.value for s in singles]), rel=1e-12)
    assert row.iq.value == pytest.approx(np.mean([s.iq.value for s in singles]), rel=1e-12)
    assert row.iq_curve == pytest.approx(np.mean([s.iq_curve for s in singles], axis=0))
    assert (row.compared, row.replicates) == (6, 3)


def test_controls_and_duplicates_are_left_out_as_stated():
    ds = responses(personas=3, controls=2, duplicates=True)
    rows = {s: instability(ds, s).rows[0] for s in ("labels", "with_controls", "as_preprint")}
    assert [row.personas for row in rows.values()] == [3, 4, 5]
    assert {row.configurations for row in rows.values()} == {6}
    left = instability(ds).left_out[0].left_out
    assert [(item.what, item.names) for item in left] == [("persona", ("control-0", "control-1"))]
    left = instability(ds, "with_controls").left_out[0].left_out
    assert left[0].names == ("control-1",)
    assert "same requests" in left[0].why
    assert instability(ds, "as_preprint").left_out[0].left_out == ()


def test_a_configuration_that_repeats_another_for_everyone_is_left_out_first():
    ds = responses(personas=3, controls=1)
    ds["duplicate"][:, 1, 0] = True
    result = instability(ds)
    row = result.rows[0]
    assert (row.personas, row.configurations) == (3, 5)
    assert result.left_out[0].left_out[1].names == ("role · 0.0",)
    # At temperature 0 one format is left, which has no pair: two settings remain.
    assert result.of("model-0", "factor")[0].settings == 2
    assert instability(ds, "as_preprint").rows[0].configurations == 6


def test_what_was_never_asked_is_left_out_and_named():
    ds = responses(personas=4)
    ds["outcome"][:, 2] = 255
    ds["outcome"][:, :, 1, 2] = 255
    result = instability(ds)
    row = result.rows[0]
    assert (row.personas, row.configurations) == (3, 5)
    whys = [(item.names, item.why) for item in result.left_out[0].left_out]
    assert (("label-2",), "no answers yet") in whys
    assert (("role · 1.0",), "no answers yet") in whys


def test_nothing_asked_at_all_is_undefined_not_zero():
    ds = responses()
    ds["outcome"][:] = 255
    ds["option"][:] = -1
    analysis = analyze(ds)
    row = analysis.instability[0].rows[0]
    for figure in (row.ia, row.io, row.iq):
        assert math.isnan(figure.value)
        assert figure.reason
    assert analysis.to_json()
    assert analysis.chance.of("model-0").verdict == "unknown"


def test_only_controls_leave_no_label():
    ds = responses(personas=0, controls=2)
    row = instability(ds).rows[0]
    assert row.ia.reason == "no persona is left"
    assert instability(ds, "with_controls").rows[0].ia.defined


@pytest.mark.parametrize(
    ("personas", "factors", "expected"),
    [
        (3, {"format": ["plain"]}, (None, None, 0.0)),
        (1, {"format": ["plain", "role"]}, (True, 0.0, True)),
    ],
)
def test_special_values(personas, factors, expected):
    """S1: one configuration: IA and IO undefined, IQ 0; one persona: IO 0."""
    row = instability(responses(personas=personas, factors=factors, seed=1)).rows[0]
    for figure, value in zip((row.ia, row.io, row.iq), expected, strict=True):
        if value is None:
            assert figure.reason
        elif value is True:
            assert figure.defined
        else:
            assert figure.value == value


def test_no_spread_anywhere_is_zero():
    ds = responses(personas=3)
    for name in ("option", "outcome"):
        ds[name][:] = ds[name][:, :1].to_numpy()
    row = instability(ds).rows[0]
    assert row.io.value == 0.0
    assert row.spread.value == 0.0


def test_a_factor_with_one_level_has_no_figure():
    ds = responses(factors={"format": ["plain"], "temperature": [0.0, 1.0]})
    rows = instability(ds).of("model-0", "factor")
    assert rows[0].ia.reason == rows[0].iq.reason == "the factor has one level"
    assert rows[1].ia.defined


def test_theta_is_used_only_when_asked_and_everywhere():
    ds = responses(theta=True)
    exact = instability(ds, value="theta").rows[0]
    drawn = instability(ds).rows[0]
    assert exact.ia.value != drawn.ia.value
    assert exact.ia_of_one_draw.value > exact.ia.value
    assert drawn.ia_of_one_draw.reason
    theta = ds["theta"].to_numpy()[0, :4].reshape(4, 6, -1).tolist()
    assert exact.ia.value == pytest.approx(reference.ia(theta), rel=1e-6)
    assert exact.iq.value == pytest.approx(reference.iq_at(theta, 6), rel=1e-6)


def test_theta_and_draws_are_never_mixed():
    ds = responses(theta=True)
    ds["theta"][0, 1, 0, 2] = np.nan
    with pytest.raises(NongrataError, match=r"'label-1' in configuration 'plain · 1.0'"):
        instability(ds, value="theta")


def test_a_probability_of_one_control_is_not_needed_for_the_labels():
    ds = responses(theta=True)
    ds["theta"][0, -1] = np.nan
    assert instability(ds, value="theta").rows[0].ia.defined


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [({"personas": "everyone"}, "unknown set of personas"), ({"value": "odds"}, "unknown kind")],
)
def test_a_wrong_option_is_one_sentence(kwargs, message):
    with pytest.raises(NongrataError, match=message):
        instability(responses(), **kwargs)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda ds: ds.assign_attrs(factors=[]), "name no factors"),
        (lambda ds: ds.assign_attrs(factors=["format", "colour"]), "no dimension 'colour'"),
        (lambda ds: ds.drop_vars("theta"), "no variable 'theta'"),
    ],
)
def test_a_dataset_that_is_none_of_ours_is_one_sentence(spoil, message):
    with pytest.raises(NongrataError, match=message):
        instability(spoil(responses()))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_order_and_names_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    ds = responses(lost=0.05, unread=0.05, seed=3)
    mixed = ds.isel(
        {d: rng.permutation(ds.sizes[d]) for d in ("persona", "format", "temperature", "question")}
    )
    mixed = mixed.assign_coords(persona=[f"x{i}" for i in range(mixed.sizes["persona"])])
    mixed = mixed.transpose("question", ...)
    a, b = instability(ds).rows, instability(mixed).rows
    for x, y in zip(a, b, strict=True):
        for name in ("ia", "io", "iq", "rank_shift", "expected_rank_shift", "spread"):
            one, other = getattr(x, name), getattr(y, name)
            assert other.value == pytest.approx(one.value, abs=1e-10, nan_ok=True)


def test_any_number_of_factors_of_any_name():
    factors = {"accuracy": ["a", "b"], "model_size": [1, 2], "ia": ["x"], "wording": ["p", "q"]}
    ds = responses(factors=factors)
    analysis = analyze(ds)
    assert [r.name for r in analysis.instability[0].of("model-0", "factor")] == list(factors)
    assert "factor.accuracy" in analysis.accuracy.to_dataframe().columns


def test_the_table_has_null_beside_a_reason():
    ds = responses(factors={"format": ["plain"]})
    frame = instability(ds).to_dataframe()
    for name in FIGURES:
        assert frame.schema[name] == pl.Float64
        empty = frame[name].is_null()
        assert (empty == frame[f"{name}_reason"].is_not_null()).all()
    assert frame["ia"].null_count() > 0
