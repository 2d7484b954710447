from __future__ import annotations

import copy
import re

import pytest

from nongrata.report.sections.accuracy import accuracy_section
from nongrata.report.sections.study import Study
from report.chart_checks import chart, columns, svg
from report.first_screen_studies import results, study

pytest.importorskip("vl_convert")


def heat_map(kind, change=None):
    values = copy.deepcopy(results(kind))
    if change:
        change(values)
    return chart(accuracy_section(Study(values)), "heat-map")


def cells(drawn):
    """Coloured cells, not the squares that say which levels a configuration has."""
    return re.findall(r'aria-label="[^"]*accuracy \(%\): [^"]*"', drawn)


def test_a_cell_for_each_label_and_configuration():
    found = heat_map("labels")
    shown = columns(found)
    assert len(shown["accuracy"]) == 5 * 12
    drawn = svg(found)
    for name in study("labels").personas:
        assert name in drawn
    # cells, and a dot on each one that repeats another one's prompts
    assert len(cells(drawn)) == 5 * 12 + sum(shown["duplicate"])
    assert sum(shown["duplicate"]) > 0


def test_numbers_stand_in_few_cells_only():
    assert "<text" in svg(heat_map("one configuration"))
    texts = [layer for layer in heat_map("one configuration").spec["layer"] if _is_text(layer)]
    assert len(texts) == 2
    assert not [layer for layer in heat_map("labels").spec["layer"] if _is_text(layer)]


def _is_text(layer):
    mark = layer.get("mark")
    return isinstance(mark, dict) and mark["type"] == "text"


def test_bounds_are_told_where_answers_were_not_read():
    assert "if_unread_right" in columns(heat_map("plain"))
    assert "if_unread_right" not in columns(heat_map("labels"))


def test_a_page_can_group_and_highlight():
    found = heat_map("labels")
    assert {param["name"] for param in found.spec["params"]} == {"factor", "persona"}
    assert svg(found) != svg(found, factor="temperature") or svg(found) != svg(found, factor="task")
    assert svg(found, persona="a-cook").count("#d55e00") == svg(found).count("#d55e00") + 1


def test_hostile_names_are_escaped():
    def rename(values):
        for rows in (values["accuracy"]["cells"], values["accuracy_intervals"]["rows"]):
            for row in rows:
                key = "persona" if "persona" in row else "name"
                if row[key] == "a-cook":
                    row[key] = "<script>\u202e"

    drawn = svg(heat_map("labels", rename))
    assert "<script" not in drawn
    assert "&lt;script&gt;\\u202e" in drawn
