from __future__ import annotations

import re

import pytest

from nongrata.report.charts.outcome_bars import label_outcomes, occurring
from nongrata.report.document.cursor import Cursor
from report.chart_checks import svg

pytest.importorskip("vl_convert")


def row(persona, **rates):
    zero = dict.fromkeys(("unparsed", "refused", "truncated", "error"), 0.0)
    return {"persona": persona, "rates": zero | rates}


ROWS = list(Cursor([row("a", unparsed=10.0, error=30.0), row("b", unparsed=20.0)], "/rows"))


def test_only_what_occurs_is_drawn():
    assert occurring(ROWS) == ["unparsed", "error"]
    found = label_outcomes(ROWS, "m", "bars")
    assert set(found.data[0].fields) == {"persona", "unparsed", "error"}
    assert [layer["encoding"]["color"]["datum"] for layer in found.spec["layer"]] == [
        "unparsed", "error"
    ]  # fmt: skip


def test_parts_of_a_bar_stand_end_to_end():
    drawn = svg(label_outcomes(ROWS, "m", "bars"), 400)
    parts = re.findall(r'persona: a; [^>]* d="M([\d.]+),[\d.]+h([\d.]+)', drawn)
    (start, width), (next_start, next_width) = [tuple(map(float, part)) for part in parts]
    assert start == 0.0
    assert next_start == pytest.approx(width)
    assert next_width == pytest.approx(3 * width)
    assert ">unparsed<" in drawn
    assert ">error<" in drawn
