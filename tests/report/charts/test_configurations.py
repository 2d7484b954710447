from __future__ import annotations

import json

import pytest

from nongrata.report.charts.configurations import LEVEL_STEP, Configurations
from nongrata.report.charts.translated import translated
from nongrata.report.languages.language import Language

CROSSED = Configurations(
    ("form", "heat"),
    tuple((form, heat) for form in ("a", "b", "c") for heat in ("0", "1")),
    nesting=(1, 0),
)


@pytest.mark.parametrize("first", [0, 1])
def test_the_first_factor_is_in_stretches(first):
    places = CROSSED.order(first)
    assert sorted(places) == list(range(6))
    in_order = [CROSSED.levels[places.index(place)][first] for place in range(6)]
    assert in_order == sorted(in_order)


def test_levels_are_in_the_studys_order_not_the_alphabets():
    odd = Configurations(("form",), (("z",), ("a",)), nesting=(0,))
    assert odd.of_factor(0) == ["z", "a"]
    assert odd.order(0) == [0, 1]


def test_fields_follow_the_rows():
    fields = CROSSED.fields([("c", "1"), ("a", "0")])
    assert fields["f0"].values == ("c", "a")
    assert fields["at1"].values == (5, 0)
    assert not [name for name in CROSSED.fields([], ordered=False) if name.startswith("at")]


def test_a_hostile_factor_name_stays_a_text_in_the_expression():
    name = 'x\' || "1" //</script>'
    hostile = Configurations((name, "y"), (("a", "b"),), nesting=(1, 0))
    expression = hostile.place()["calculate"]
    assert expression == f"factor === {json.dumps(name)} ? datum.at0 : datum.at1"


def test_without_factors_there_is_one_place():
    none = Configurations((), ((),), nesting=())
    assert none.place() == {"calculate": "0", "as": "place"}
    assert none.levels_panel(0, none.x()) == []
    assert none.height == 0


def test_panels_of_levels_do_not_overlap():
    layers = CROSSED.levels_panel(100, CROSSED.x())
    ranges = [layer["encoding"]["y"]["scale"]["range"] for layer in layers]
    assert [bottom - top for top, bottom in ranges] == [3 * LEVEL_STEP, 2 * LEVEL_STEP]
    assert ranges[0][0] > 100
    assert ranges[1][0] > ranges[0][1]
    assert ranges[1][1] == 100 + CROSSED.height


def test_orders_that_differ_have_datasets_that_differ():
    other = Configurations(CROSSED.factors, CROSSED.levels, nesting=(0, 1))
    assert CROSSED.data().name != other.data().name


def test_factor_names_are_not_translated():
    found = Configurations(("temperature",), (("0",),), nesting=(0,))
    (layer,) = found.levels_panel(0, found.x())
    spanish = Language("es", {"temperature": "temperatura", "label": "etiqueta"})
    drawn = translated(layer["encoding"], spanish)
    assert drawn["y"]["axis"]["title"] == "temperature"
    assert drawn["tooltip"][0]["title"] == "temperature"
