from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from nongrata.report.languages.language import language
from nongrata.report.tables.html import html_table
from report.tables.examples import example


def test_a_fragment_is_one_table_with_scopes_groups_and_notes() -> None:
    html = html_table(example(), language("en"))
    # XML wants quotes that HTML does not
    table = ET.fromstring(re.sub(r"<data value=([^ >\"]+)", r'<data value="\1"', html))
    assert table.tag == "table"
    assert "".join(table.find("caption").itertext()) == "Accuracy of m_1"  # type: ignore[union-attr]
    heads = ["".join(th.itertext()) for th in table.iterfind("thead/tr/th")]
    assert heads[2] == "excess (points)"
    assert len(table.findall("tbody")) == 2
    group = table.find("tbody[2]/tr[1]/th")
    assert group is not None
    assert (group.get("scope"), group.get("colspan"), group.text) == ("rowgroup", "6", "Controls")
    notes = ["".join(p.itertext()) for p in table.iterfind("tfoot/tr/td/p")]
    assert notes == ["excess = over the floor.", "Brackets: 95% intervals.", "a no pairs"]


def test_numbers_keep_their_full_precision_and_place() -> None:
    html = html_table(example(), language("en"))
    assert 'data-path="/l"' in html
    assert "10.04" in html
    assert ">−10.0</data>" in html
    assert "style=" not in html
