from __future__ import annotations

import builtins
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from nongrata.errors import MissingExtraError, NongrataError
from nongrata.report.charts.library import drawing_library
from nongrata.report.document.blocks import Chart, Dataset, Document, Field, Section
from nongrata.report.document.pieces import Name, Text
from nongrata.report.figures.drawing import converted, draw
from nongrata.report.figures.specification import FONT, WIDTH, full_specification
from nongrata.report.figures.write import write_figures
from nongrata.report.languages.language import Language, language

ENGLISH = language("en")
SPANISH = Language("es", {"points": "puntos", "Chart of {model}": "Gráfico de {model}"}, "\u202f")


def chart(name: str = "ia", label: str = "a cook") -> Chart:
    alt = pytest.importorskip("altair")
    pytest.importorskip("vl_convert")
    data = Dataset(
        f"data-{name}",
        {"over": Field.names([label, "b"]), "ia": Field((1.5, None), "/rows/*/ia", ((0,), (1,)))},
    )
    spec = (
        alt.Chart(alt.NamedData(data.name))
        .mark_bar()
        .encode(x=alt.X("ia:Q", title="points"), y="over:N")
        .properties(width="container")
    )
    return Chart(
        id=name,
        title=Text.of("Chart of {model}", model=Name("<m>")),
        description=Text("What one sees & reads."),
        spec=spec.to_dict(validate=False),
        data=(data,),
        notes=(Text("A note."),),
    )


def document(*charts: Chart) -> Document:
    return Document(Name("study"), (Section("s", Text("S"), Text("?"), charts),), {}, {})


def test_a_specification_is_complete() -> None:
    spec = full_specification(chart(), SPANISH, "dark")
    assert spec["width"] == WIDTH
    assert spec["datasets"] == {
        "data-ia": [{"over": "a cook", "ia": 1.5}, {"over": "b", "ia": None}]
    }
    assert spec["encoding"]["x"]["title"] == "puntos"
    assert spec["config"]["background"] != "white"
    assert full_specification(chart(), ENGLISH)["config"]["background"] == "white"


def test_a_name_that_is_as_long_as_a_book_is_cut_everywhere() -> None:
    spec = full_specification(chart(label="a" * 9_999), ENGLISH)
    assert spec["datasets"]["data-ia"][0]["over"] == "a" * 119 + "…"


def test_an_svg_says_what_it_shows_and_shows_it() -> None:
    svg = draw(chart(), SPANISH)
    root = ET.fromstring(svg)
    space = "{http://www.w3.org/2000/svg}"
    title, words = root.find(f"{space}title"), root.find(f"{space}desc")
    assert title is not None
    assert words is not None
    assert (title.text, words.text) == ("Gráfico de <m>", "What one sees & reads.")
    assert root.get("aria-labelledby") == f"{title.get('id')} {words.get('id')}"
    assert (root.get("role"), root.get("lang")) == ("img", "es")
    assert {"puntos", "a cook"} <= {text.text for text in root.iter(f"{space}text")}
    assert "<image" not in svg
    assert {t.get("font-family") for t in root.iter(f"{space}text")} == {FONT}


def test_a_chart_asks_for_nothing() -> None:
    asks = chart()
    spec = dict(asks.spec) | {"data": {"url": "https://example.invalid/x.csv"}}
    far = Chart(asks.id, asks.title, asks.description, spec, asks.data)
    with pytest.raises(Exception, match=r"(?i)allowed|external"):
        draw(far, ENGLISH)


def test_formats_are_what_they_say() -> None:
    svg = draw(chart(), ENGLISH)
    assert converted(svg, "svg") == svg.encode()
    png = converted(svg, "png")
    assert png.startswith(b"\x89PNG")
    assert int.from_bytes(png[16:20], "big") > 2 * WIDTH
    assert converted(svg, "pdf").startswith(b"%PDF")


def test_files_and_index(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    both = document(chart(), chart("io"))
    paths = write_figures(
        both, tmp_path, ENGLISH, ["pdf", "svg"], progress=lambda *n: told.append(n)
    )
    assert [path.name for path in paths] == ["ia.svg", "ia.pdf", "io.svg", "io.pdf", "figures.md"]
    assert told == [(1, 2), (2, 2)]
    index = (tmp_path / "figures.md").read_text("utf-8")
    assert "- `ia`: Chart of &lt;m&gt; ([svg](ia.svg) [pdf](ia.pdf))" in index
    assert "A note." in index


def test_a_slip_is_guessed_before_anything_is_drawn(tmp_path: Path) -> None:
    with pytest.raises(NongrataError, match="no figure 'figure'; --list shows all there are"):
        write_figures(document(chart()), tmp_path, ENGLISH, only=["figure"])
    assert not list(tmp_path.iterdir())


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    imported = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "vl_convert":
            raise ImportError(name)
        return imported(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.delitem(sys.modules, "vl_convert", raising=False)
    with pytest.raises(MissingExtraError, match=r"pip install 'nongrata\[report\]'"):
        drawing_library()
