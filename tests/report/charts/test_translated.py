from __future__ import annotations

import copy

from nongrata.report.charts.translated import translated, written
from nongrata.report.document.blocks import Field
from nongrata.report.document.pieces import Name, Text, Verdict
from nongrata.report.languages.language import Language

SPANISH = Language(
    "es", {"rank": "rango", "noise": "ruido", "label": "etiqueta", "none": "ninguna", "robust": "r"}
)
SPEC = {
    "params": [
        {"name": "label", "bind": {"input": "select", "name": "label", "options": ["none", "rank"],
                                   "labels": ["none", "rank"]}},
    ],
    "layer": [
        {
            "mark": {"type": "text"},
            "encoding": {
                "x": {"field": "rank", "title": "rank", "axis": {"title": ["noise", "rank"]}},
                "text": {"value": "noise"},
                "tooltip": [{"field": "label", "title": "label"}],
                "color": {"datum": "noise", "scale": {"domain": ["noise", "label"]}},
            },
        }
    ],
    "transform": [{"filter": "datum.rank == 'rank'"}],
    "data": {"name": "rank"},
}  # fmt: skip


def test_words_are_translated_and_names_are_not() -> None:
    before = copy.deepcopy(SPEC)
    found = translated(SPEC, SPANISH)
    assert before == SPEC
    encoding = found["layer"][0]["encoding"]
    assert encoding["x"] == {
        "field": "rank",
        "title": "rango",
        "axis": {"title": ["ruido", "rango"]},
    }
    assert encoding["text"] == {"value": "ruido"}
    assert encoding["tooltip"] == [{"field": "label", "title": "etiqueta"}]
    # a scale that lists a constant lists its translation; a name that is a word stays a name
    assert encoding["color"] == {"datum": "ruido", "scale": {"domain": ["ruido", "label"]}}
    bind = found["params"][0]["bind"]
    assert bind["name"] == "etiqueta"
    assert bind["labels"] == ["ninguna", "rango"]
    assert bind["options"] == ["none", "rank"]
    assert found["params"][0]["name"] == "label"
    assert found["transform"] == SPEC["transform"]
    assert found["data"] == {"name": "rank"}


def test_a_name_as_a_title_is_never_translated() -> None:
    spec = {"x": {"title": Name("rank")}, "y": {"title": Text("rank"), "sort": [Name("noise")]}}
    assert translated(spec, SPANISH) == {
        "x": {"title": "rank"},
        "y": {"title": "rango", "sort": ["noise"]},
    }


def test_english_stays_as_it_is() -> None:
    assert translated(SPEC, Language("en", {})) == SPEC


def test_fixed_words_among_data_are_translated() -> None:
    field = Field.names([Text("rank"), Verdict("robust"), Name("rank"), "rank", 3, None])
    assert written(field, SPANISH) == ["rango", "r", "rank", "rank", 3, None]
