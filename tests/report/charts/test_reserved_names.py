from __future__ import annotations

import json

import pytest

from nongrata.report.charts.reserved_names import RESERVED, unreserved


@pytest.mark.parametrize("name", sorted(RESERVED))
def test_no_name_is_one_that_every_object_has(name: str) -> None:
    spec = {
        "params": [{"name": "persona", "value": name, "bind": {"options": [name, "farmer"]}}],
        "transform": [{"filter": f"datum.persona === {json.dumps(name)} || isValid(datum.x)"}],
    }
    found = unreserved(spec)
    assert json.dumps(name) not in json.dumps(found)
    assert found["params"][0]["value"].rstrip("\N{NO-BREAK SPACE}") == name
    assert found["params"][0]["value"] in found["transform"][0]["filter"]


def test_other_names_and_keys_stay() -> None:
    spec = {"constructor": ["my constructor", 'say "farmer"', 3, None]}
    assert unreserved(spec) == spec


def test_a_chart_with_such_a_name_is_drawn() -> None:
    vl_convert = pytest.importorskip("vl_convert")
    rows = [{"label": name, "x": i} for i, name in enumerate(RESERVED)]
    spec = {
        "data": {"values": rows},
        "mark": "bar",
        "encoding": {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "label"}},
    }
    drawn = vl_convert.vegalite_to_svg(unreserved(spec))
    assert all(name in drawn for name in RESERVED)
    assert drawn.count('aria-roledescription="bar"') == len(rows)
