from __future__ import annotations

import pytest

from nongrata.report.document.blocks import Column, Row, Table
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Estimate, Number, Piece, Text
from nongrata.report.languages.language import Language
from nongrata.report.page.markup import PieceMarkup
from nongrata.report.page.table_markup import table_markup
from nongrata.report.page.table_paths import table_paths
from report.page.parsed import Element, parsed

ENGLISH = Language("en", {})
TURNED = Language("es", {"{n} of {all}": "de {all}, {n}"})


def paths_read(table: Table, language: Language = ENGLISH) -> list[str]:
    """Paths of all numbers, as the page's script finds them."""
    made = table_markup(table, PieceMarkup(language))
    found = []
    for row in parsed(f"<table>{made.bodies}</table>").all("tr"):
        cells = [child for child in row.children if child.tag in {"th", "td"}]
        for cell, column in zip(cells, made.paths, strict=True):
            found += [path_of(data, k, row, column) for k, data in enumerate(cell.all("data"))]
    return found


def path_of(data: Element, place: int, row: Element, column: str) -> str:
    if "data-path" in data.attributes:
        return data.attributes["data-path"]
    pattern = column.split(" ")[place]
    stars = data.attributes.get("data-at", row.attributes.get("data-at", "")).split(".")
    for star in stars if "*" in pattern else ():
        pattern = pattern.replace("*", star, 1)
    return pattern


def small_table(*rows: tuple[Piece | None, ...]) -> Table:
    columns = tuple(Column(f"c{place}", Text("c")) for place in range(len(rows[0])))
    return Table("t", Text("t"), columns, tuple(Row(row) for row in rows))


def estimate(path: str, high: float | None = 2.0) -> Estimate:
    return Estimate(
        Number(1.0, f"{path}/estimate/value"), Number(0.0, f"{path}/low"), Number(high, f"{path}/h")
    )


def test_regular_paths_stand_once() -> None:
    table = small_table(
        *((Number(1.0, f"/m/0/rows/{i}/p"), estimate(f"/m/0/rows/{i}")) for i in (3, 4, 7))
    )
    found = table_paths(table, ENGLISH)
    assert found.columns == (
        ("/m/0/rows/*/p",),
        ("/m/0/rows/*/estimate/value", "/m/0/rows/*/low", "/m/0/rows/*/h"),
    )
    assert found.rows == (("3",), ("4",), ("7",))
    html = str(table_markup(table, PieceMarkup(ENGLISH)).bodies)
    assert "data-path" not in html
    assert html.count("data-at") == 3
    assert paths_read(table)[:4] == [
        "/m/0/rows/3/p", "/m/0/rows/3/estimate/value", "/m/0/rows/3/low", "/m/0/rows/3/h",
    ]  # fmt: skip


CASES = {
    "one row": [(Number(1.0, "/rows/0/p"), None)],
    "an undefined number": [
        (Number(None, "/rows/0/p"), estimate("/rows/0")),
        (Number(1.0, "/rows/1/p"), estimate("/rows/1", None)),
        (Number(1.0, "/rows/2/p"), estimate("/rows/2")),
    ],
    "cells of their own": [
        tuple(Number(1.0, f"/cells/{48 * i + j}/accuracy") for j in range(3)) for i in range(3)
    ],
    "two places that vary": [
        (Number(1.0, f"/m/{i}/rows/{j}/p"), Number(2.0, f"/m/{i}/rows/{j}/q"))
        for i in range(2)
        for j in range(2)
    ],
    "other shapes": [
        (Number(1.0, "/a/0/p"),), (Number(1.0, "/a/1/p"),), (Number(1.0, "/b/x/p"),),
        (Number(1.0, "/b/2/0/p"),),
    ],
    "spaces and stars in names": [
        (Number(1.0, f"/l/a b/{i}"), Number(1.0, f"/l/a*/{i}"), Number(1.0, f'/l/"<{i}>'))
        for i in range(3)
    ],
    "always the same place": [(Number(5, "/n"), Number(1.0, f"/r/{i}")) for i in range(3)],
    "lengths of lists": [(Number(i, f"/r/{i}/#"),) for i in range(3)],
    "an estimate over two rows": [
        (Estimate(Number(1.0, f"/r/{i}/v"), Number(0.0, f"/r/{i + 1}/v"), Number(2.0, "/r/9/v")),)
        for i in range(3)
    ],
}  # fmt: skip


@pytest.mark.parametrize("rows", CASES.values(), ids=CASES.keys())
def test_every_path_can_be_read_back(rows: list[tuple[Piece | None, ...]]) -> None:
    wanted = []
    for row in rows:
        for cell in row:
            numbers = [cell] if isinstance(cell, Number) else []
            if isinstance(cell, Estimate):
                whole = cell.low.value is not None and cell.high.value is not None
                numbers = [cell.value, cell.low, cell.high] if whole else [cell.value]
            wanted += [number.path for number in numbers if number.value is not None]
    assert paths_read(small_table(*rows)) == wanted


@pytest.mark.parametrize("language", [ENGLISH, TURNED])
def test_a_sentence_has_its_numbers_in_the_order_of_the_language(language: Language) -> None:
    rows = Cursor([{"n": i, "all": 10 + i} for i in range(3)], "/rows")
    table = small_table(
        *(
            (Text.of("{n} of {all}", n=Number.count(row["n"]), all=Number.count(row["all"])),)
            for row in rows
        )
    )
    keys = ["n", "all"] if language is ENGLISH else ["all", "n"]
    assert paths_read(table, language) == [f"/rows/{i}/{key}" for i in range(3) for key in keys]
