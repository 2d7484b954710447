from __future__ import annotations

import csv
import json
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nongrata.errors import NongrataError
from nongrata.stats.agreement import (
    agreement,
    all_alike,
    category_counts,
    coefficients,
    terms,
    total_agreement,
)
from nongrata.stats.krippendorff import SCALES, krippendorff_alpha
from nongrata.stats.rater_kappas import conger_kappa, fleiss_test, light_kappa


def random_codes(seed, missing=True):
    """Codes (K, U) with a common part, and where they are present."""
    rng = np.random.default_rng(seed)
    K, U, J = int(rng.integers(2, 7)), int(rng.integers(3, 15)), int(rng.integers(2, 5))
    codes = np.where(rng.random((K, U)) < 0.5, rng.integers(0, J, U), rng.integers(0, J, (K, U)))
    present = rng.random((K, U)) < (0.75 if missing else 2)
    return codes, present, J


# --- reference data sets -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def reference_data(shared):
    return shared / "data" / "reference"


@pytest.fixture(scope="module")
def expected(reference_data):
    return json.loads((reference_data / "expected.json").read_text())


def table(path):
    with path.open() as file:
        rows = list(csv.reader(file))[1:]
    return np.array([[float(v) if v else np.nan for v in row[1:]] for row in rows])


def test_fleiss_1971(reference_data, expected):
    known = expected["fleiss1971_diagnoses"]
    codes = table(reference_data / known["file"]).T.astype(int) - 1
    counts = category_counts(codes, 5)
    tested, found = fleiss_test(counts), agreement(counts)
    digits, published = known["recomputed"], known["published"]
    assert found.fleiss.value == pytest.approx(digits["fleiss_kappa"], abs=5e-11)
    assert tested.kappa == found.fleiss
    assert tested.z.value == pytest.approx(digits["z"], abs=5e-7)
    assert found.raw.value == pytest.approx(digits["mean_pairwise_agreement"], abs=5e-11)
    # With complete data alpha is 1 - (1 - kappa) (N - 1) / N with N = 30 x 6 answers. The value in
    # the file has 30 x 6 x 5 for N, which is no definition of alpha: it is the one figure there
    # that is not reproduced. The package krippendorff gives ours.
    assert found.alpha.value == pytest.approx(1 - (1 - found.fleiss.value) * 179 / 180, abs=1e-14)
    assert found.alpha.value == pytest.approx(0.433409828282, abs=5e-13)
    in_the_file = 1 - (1 - found.fleiss.value) * 899 / 900
    assert in_the_file == pytest.approx(digits["krippendorff_alpha_nominal"], abs=5e-11)
    assert conger_kappa(codes, 5).value == pytest.approx(digits["exact_kappa_conger"], abs=5e-11)
    assert light_kappa(codes, 5).kappa.value == pytest.approx(digits["light_kappa"], abs=5e-11)
    assert total_agreement(counts, 6).value * 30 == pytest.approx(digits["n_all_agree"])
    assert round(found.fleiss.value, 2) == published["fleiss_kappa"]
    assert round(tested.z.value, 1) == published["z"]
    assert tested.category_kappas.round(3).tolist() == published["category_kappa"]
    assert round(conger_kappa(codes, 5).value, 3) == published["exact_kappa"]


def test_fleiss_counts_10x5(reference_data, expected):
    known = expected["fleiss_counts_10x5"]
    counts = table(reference_data / known["file"]).T.astype(int)
    assert round(agreement(counts).fleiss.value, 2) == known["published"]["fleiss_kappa"]


@pytest.mark.parametrize("scale", SCALES)
def test_krippendorff_c_data(reference_data, expected, scale):
    known = expected["krippendorff_c_data"]
    values = table(reference_data / known["file"]).T
    there = ~np.isnan(values)
    counts = category_counts(np.where(there, values, 0).astype(int) - 1, 5, there)
    alpha = krippendorff_alpha(counts, scale, np.arange(1, 6)).value
    assert alpha == pytest.approx(known["recomputed"][scale], abs=5e-11)
    assert round(alpha, 3) == known["published"][scale]
    if scale == "nominal":
        assert agreement(counts).alpha.value == pytest.approx(alpha, abs=1e-14)


# --- other programs ------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_statsmodels_agrees(seed):
    inter_rater = pytest.importorskip("statsmodels.stats.inter_rater")
    codes, _, J = random_codes(seed, missing=False)
    counts = category_counts(codes, J)
    kappa = inter_rater.fleiss_kappa(counts.T.astype(float))
    assert agreement(counts).fleiss.value == pytest.approx(kappa, abs=1e-12)
    pairs = []
    for r, s in combinations(range(len(codes)), 2):
        square = np.zeros((J, J))
        np.add.at(square, (codes[r], codes[s]), 1)
        pairs.append(inter_rater.cohens_kappa(square, return_results=False))
    assert light_kappa(codes, J).kappa.value == pytest.approx(np.mean(pairs), abs=1e-12)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("seed", range(10))
def test_the_package_krippendorff_agrees(seed, scale):
    krippendorff = pytest.importorskip("krippendorff")
    codes, present, J = random_codes(seed)
    values = np.where(present, codes + 1.0, np.nan)
    theirs = krippendorff.alpha(
        reliability_data=values, level_of_measurement=scale, value_domain=np.arange(1.0, J + 1)
    )
    ours = krippendorff_alpha(category_counts(codes, J, present), scale, np.arange(1, J + 1))
    assert ours.value == pytest.approx(theirs, abs=1e-12)


_ = -1
IRR_MISSING = np.array([
    [0, 0, 1, 0], [1, 1, 1, _], [2, 2, 0, 2], [0, 1, _, _], [1, 1, 1, 1],
    [2, _, 2, 0], [0, 0, 0, 0], [1, 2, 1, 1], [_, _, 2, _], [2, 2, 2, 1],
]).T  # fmt: skip
IRR_COMPLETE = np.array([
    [0, 0, 1, 0], [1, 1, 1, 2], [2, 2, 0, 2], [0, 1, 2, 0],
    [1, 1, 1, 1], [2, 2, 2, 0], [0, 0, 0, 0], [1, 2, 1, 1],
]).T  # fmt: skip
IRR = {  # irrCAC 0.4.4 for Python, raw.CAC(..., digits=12)
    "missing": (0.390855916658, 0.384916474453, 0.38858560794, 0.448071216617),
    "complete": (0.377128953771, 0.37069813176, 0.377431906615, 0.390363815143),
}


@pytest.mark.parametrize(("name", "codes"), [("missing", IRR_MISSING), ("complete", IRR_COMPLETE)])
def test_irrcac_agrees(name, codes):
    found = agreement(category_counts(codes, 3, codes >= 0))
    conger = conger_kappa(codes, 3, codes >= 0)
    ours = (found.gwet.value, found.fleiss.value, conger.value, found.alpha.value)
    assert ours == pytest.approx(IRR[name], abs=1e-11)


# --- plain loops ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(25))
def test_plain_loops_agree(seed):
    codes, present, J = random_codes(seed, missing=seed % 3 > 0)
    K, U = codes.shape
    units = [[int(codes[r, u]) for r in range(K) if present[r, u]] for u in range(U)]
    pairs = [list(combinations(unit, 2)) for unit in units]
    raw = np.mean([np.mean([a == b for a, b in p]) for p in pairs if p])
    pi = [np.mean([unit.count(j) / len(unit) for unit in units if unit]) for j in range(J)]
    fleiss_chance = sum(p * p for p in pi)
    gwet_chance = sum(p * (1 - p) for p in pi) / (J - 1)
    counts = category_counts(codes, J, present)
    found = agreement(counts)
    assert found.raw.value == pytest.approx(raw)
    assert found.fleiss.value == pytest.approx((raw - fleiss_chance) / (1 - fleiss_chance))
    assert found.gwet.value == pytest.approx((raw - gwet_chance) / (1 - gwet_chance))
    chance, cohen = [], []
    for r, s in combinations(range(K), 2):
        shares = [[np.mean(codes[c][present[c]] == j) for j in range(J)] for c in (r, s)]
        chance.append(sum(a * b for a, b in zip(*shares, strict=True)))
        both = present[r] & present[s]
        if both.any():
            a, b = codes[r][both], codes[s][both]
            expected = sum(np.mean(a == j) * np.mean(b == j) for j in range(J))
            if expected < 1 - 1e-9:
                cohen.append((np.mean(a == b) - expected) / (1 - expected))
    expected = np.mean(chance)
    conger = conger_kappa(codes, J, present)
    assert conger.value == pytest.approx((raw - expected) / (1 - expected))
    light = light_kappa(codes, J, present)
    assert light.pairs == len(cohen)
    assert light.pairs + light.undefined_pairs == comb(K, 2)
    assert light.kappa.value == pytest.approx(np.mean(cohen))


@pytest.mark.parametrize("seed", range(10))
def test_total_agreement_is_that_of_every_subset(seed):
    codes, present, J = random_codes(seed)
    counts = category_counts(codes, J, present)
    for m in range(2, len(codes) + 1):
        shares = []
        for u in range(codes.shape[1]):
            subsets = list(combinations(codes[present[:, u], u].tolist(), m))
            if subsets:
                shares.append(np.mean([len(set(s)) == 1 for s in subsets]))
        found = total_agreement(counts, m)
        if shares:
            assert found.value == pytest.approx(np.mean(shares))
        else:
            assert "that many answers" in found.reason
    enough = agreement(counts).raw
    assert total_agreement(counts, 2).value == pytest.approx(enough.value)


def test_pairs_of_units_weigh_as_their_sums():
    """What bootstrap and halves use: coefficients of weighted sums are those of repeated units."""
    rng = np.random.default_rng(1)
    codes, present, J = random_codes(7)
    times = rng.integers(0, 4, codes.shape[1])
    parts = terms(category_counts(codes, J, present), sizes=(2, 3))
    found = coefficients(parts.rows @ times, parts)
    again = np.repeat(category_counts(codes, J, present), times, axis=1)
    whole = agreement(again)
    for name in ("raw", "fleiss", "gwet", "alpha"):
        assert float(found[name]) == pytest.approx(getattr(whole, name).value)
    assert found["total"].tolist() == pytest.approx(
        [total_agreement(again, m).value for m in (2, 3)]
    )


# --- what they are blind to, and corners ---------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_relabelling_configurations_within_a_question_changes_nothing(seed):
    codes, present, J = random_codes(seed)
    rng = np.random.default_rng(seed)
    order = rng.permuted(np.tile(np.arange(len(codes))[:, None], codes.shape[1]), axis=0)
    mixed = np.take_along_axis(codes, order, 0), np.take_along_axis(present, order, 0)
    counts, again = category_counts(codes, J, present), category_counts(mixed[0], J, mixed[1])
    assert agreement(counts) == agreement(again)
    assert total_agreement(counts, 2) == total_agreement(again, 2)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_names_of_categories_and_orders_change_nothing(seed):
    codes, present, J = random_codes(seed)
    rng = np.random.default_rng(seed)
    names, questions = rng.permutation(J), rng.permutation(codes.shape[1])
    raters = rng.permutation(len(codes))
    again = names[codes][raters][:, questions]
    there = present[raters][:, questions]
    one = agreement(category_counts(codes, J, present))
    two = agreement(category_counts(again, J, there))
    for name in ("raw", "fleiss", "gwet", "alpha"):
        a, b = getattr(one, name), getattr(two, name)
        assert a.reason == b.reason
        assert a.value == pytest.approx(b.value, nan_ok=True)
    a, b = conger_kappa(codes, J, present), conger_kappa(again, J, there)
    assert a.value == pytest.approx(b.value, nan_ok=True)
    a, b = light_kappa(codes, J, present), light_kappa(again, J, there)
    assert a.kappa.value == pytest.approx(b.kappa.value, nan_ok=True)


@pytest.mark.parametrize(
    ("counts", "fleiss", "raw"),
    [
        (np.array([[3, 3], [0, 0]]), "one category", 1.0),
        (np.array([[1, 0], [0, 1]]), "no question has two", None),
        (np.zeros((2, 0), int), "no question has two", None),
    ],
)
def test_undefined_has_a_reason(counts, fleiss, raw):
    found = agreement(counts)
    assert fleiss in found.fleiss.reason
    assert fleiss in found.alpha.reason
    assert (found.raw.value if raw is not None else None) == raw
    assert krippendorff_alpha(counts).reason == found.alpha.reason
    codes = np.zeros((2, counts.shape[1]), int)
    if counts.shape[1] and raw:
        assert "one category" in conger_kappa(codes, 2).reason
        assert "one category" in light_kappa(codes, 2).kappa.reason
        assert "one category" in fleiss_test(counts).z.reason


def test_gwet_is_defined_where_kappa_is_not():
    assert agreement(np.array([[3, 3], [0, 0]])).gwet.value == 1.0


def test_no_kappa_of_one_rater():
    codes = np.array([[0, 1, 0]])
    assert conger_kappa(codes, 2).reason
    assert light_kappa(codes, 2).kappa.reason


def test_bad_input_is_refused_in_words():
    with pytest.raises(NongrataError, match="same number"):
        fleiss_test(np.array([[2, 1], [0, 2]]))
    with pytest.raises(NongrataError, match="unknown scale"):
        krippendorff_alpha(np.array([[2]]), "weird")
    with pytest.raises(NongrataError, match="negative"):
        krippendorff_alpha(np.array([[2, 0], [0, 2]]), "ratio", np.array([-1, 1]))


def test_all_alike_counts_mixed_sizes():
    counts = np.array([[4, 2, 1], [0, 2, 1]])
    assert all_alike(counts, 3).tolist() == [1.0, 0.0, 0.0]
    assert all_alike(counts, 5).tolist() == [0.0, 0.0, 0.0]
