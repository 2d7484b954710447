"""Published variance components and reliabilities, to every printed digit."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from nongrata.stats.generalizability import decision
from nongrata.stats.intraclass import cronbach_alpha, intraclass_correlations
from nongrata.stats.sums_of_squares import number_of
from nongrata.stats.variance_components import crossed_components, one_way


@pytest.fixture(scope="module")
def folder(shared: Path) -> Path:
    return shared / "data" / "reference"


@pytest.fixture(scope="module")
def expected(folder: Path):
    return json.loads((folder / "expected.json").read_text())


def rows_of(path: Path):
    with path.open(newline="") as lines:
        return list(csv.DictReader(lines))


def grid(rows, facets, value):
    levels = [sorted({row[f] for row in rows}) for f in facets]
    out = np.full([len(names) for names in levels], np.nan)
    for row in rows:
        at = tuple(names.index(row[f]) for names, f in zip(levels, facets, strict=True))
        out[at] = float(row[value])
    return out


def test_brennan_p_i_o(folder, expected):
    known = expected["brennan2001_t3_1_pxixo"]
    facets = ("person", "item", "occasion")
    rows = rows_of(folder / "brennan2001_t3_1_pxixo.csv")
    found = crossed_components(grid(rows, facets, "score"), facets, noise=0.0)
    for letters in ("p", "i", "o", "pi", "po", "io", "pio"):
        effect = [name for name in facets if name[0] in letters]
        assert found.variance(*effect) == pytest.approx(known["recomputed"][letters], abs=1e-12)
        assert round(found.variance(*effect), 4) == known["published"][letters]
        which = number_of(effect, facets)
        assert found.sums_of_squares[which] == pytest.approx(known["recomputed"]["SS"][letters])
        assert found.degrees_of_freedom[which] == known["recomputed"]["df"][letters]
    study = decision(found, "person", {"item": 4, "occasion": 2})
    published = known["recomputed"]["dstudy_ni4_no2"]
    assert study.relative_error == pytest.approx(published["relative_error"], abs=1e-11)
    assert study.absolute_error == pytest.approx(published["absolute_error"], abs=1e-11)
    assert study.generalizability.value == pytest.approx(published["generalizability"], abs=1e-11)
    assert study.dependability.value == pytest.approx(published["phi"], abs=1e-11)


def test_penicillin(folder, expected):
    known = expected["penicillin_crossed"]
    rows = rows_of(folder / "penicillin_crossed.csv")
    found = crossed_components(grid(rows, ("plate", "sample"), "diameter"), ("plate", "sample"))
    effects = {"plate": ["plate"], "sample": ["sample"], "residual": ["plate", "sample"]}
    for name, effect in effects.items():
        which = number_of(effect, found.facets)
        variance = found.variance(*effect)
        assert variance == pytest.approx(known["recomputed"]["anova"][name], rel=1e-12)
        # balanced and positive, so REML is the same
        assert float(f"{variance:.4g}") == known["published"][name]
        ss = known["recomputed"]["SS"][name]
        assert found.sums_of_squares[which] == pytest.approx(ss, abs=5e-6)
        assert found.degrees_of_freedom[which] == known["recomputed"]["df"][name]


def test_dyestuff(folder, expected):
    known = expected["dyestuff_oneway"]
    rows = rows_of(folder / "dyestuff_oneway.csv")

    def groups(name):
        own = [row for row in rows if row["set"] == name]
        batches = sorted({row["batch"] for row in own})
        return [np.array([float(r["yield"]) for r in own if r["batch"] == b]) for b in batches]

    for name in ("dyestuff", "dyestuff2"):
        found, published = one_way(groups(name)), known["recomputed"][f"{name}_anova"]
        assert found.between == pytest.approx(published["batch"], rel=1e-9)
        # the file's residual of dyestuff2, 14.94588958, contradicts its own MSB - 5 x batch =
        # 14.94588960 in the last digit
        assert found.within == pytest.approx(published["residual"], abs=3e-8)
        assert found.within == pytest.approx(published["MSB"] - 5 * published["batch"], rel=1e-9)
        assert found.mean_square_between == pytest.approx(published["MSB"], rel=1e-9)
    reml, published = one_way(groups("dyestuff2"), reml=True), known["recomputed"]
    assert reml.between == published["dyestuff2_reml"]["batch"]
    assert reml.within == pytest.approx(published["dyestuff2_reml"]["residual"], rel=1e-9)
    assert round(reml.within, 3) == known["published"]["dyestuff2_reml"]["residual"]
    # the mean of the observations is fitted once: REML of the first set is the same as ANOVA
    first = one_way(groups("dyestuff"), reml=True)
    assert (first.between, first.within) == pytest.approx((1764.05, 2451.25))


def test_shrout_and_fleiss(folder, expected):
    known = expected["shrout_fleiss1979"]
    rows = rows_of(folder / "shrout_fleiss1979.csv")
    x = np.array([[float(row[f"J{j}"]) for j in range(1, 5)] for row in rows])
    found = intraclass_correlations(x)
    ours = {
        "ICC(1,1)": found.one_way.value,
        "ICC(2,1)": found.random_judges.value,
        "ICC(3,1)": found.fixed_judges.value,
        "ICC(1,4)": found.one_way_mean.value,
        "ICC(2,4)": found.random_judges_mean.value,
        "ICC(3,4)": found.fixed_judges_mean.value,
        "BMS": found.between_targets,
        "JMS": found.between_judges,
        "EMS": found.residual,
        "WMS": found.within_targets,
    }
    for name, value in known["published"].items():
        assert round(ours[name], 2) == value
    for name, value in known["recomputed"].items():
        assert round(ours[name], 6) == value


def test_lsat(folder, expected):
    known = expected["bock_lieberman1970_lsat"]
    rows = rows_of(folder / "bock_lieberman1970_lsat.csv")
    x = np.array([[int(row[f"q{i}"]) for i in range(1, 6)] for row in rows])
    for section in ("lsat6", "lsat7"):
        counts = np.array([int(row[f"n_{section}"]) for row in rows])
        persons = np.repeat(x, counts, axis=0)
        assert persons.mean(axis=0).round(3).tolist() == known["published"][section]["p"]
        alpha = cronbach_alpha(x, counts).value
        assert alpha == pytest.approx(known["recomputed"][f"{section}_alpha_kr20"], abs=5e-11)
        assert round(alpha, 3) == known["published"][section]["alpha"]
        found = crossed_components(persons, ("person", "item"))
        assert decision(found, "person").generalizability.value == pytest.approx(alpha)
        if section == "lsat6":
            mean_squares = known["recomputed"]["lsat6_MS"]
            assert round(found.mean_squares[1], 7) == mean_squares["person"]
            assert round(found.mean_squares[2], 4) == mean_squares["item"]
            assert round(found.mean_squares[3], 7) == mean_squares["residual"]
