"""Rows of a table as HTML; a long table has many thousand cells, so this is no template."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup, escape

from nongrata.report.document.blocks import Column, Facets, Row, Table
from nongrata.report.page.markup import PieceMarkup, Reasons
from nongrata.terminal import visible

_CLASSES = {"number": ' class="n"', "estimate": ' class="n"'}


@dataclass(frozen=True, slots=True)
class TableMarkup:
    """What a template needs of a table.

    Parameters
    ----------
    bodies
        Its ``tbody`` elements, one for each group of rows.
    reasons
        Letter and reason of numbers that are undefined.
    rows
        How many rows it has.
    """

    bodies: Markup
    reasons: tuple[tuple[str, Markup], ...]
    rows: int


def table_markup(table: Table, piece: PieceMarkup) -> TableMarkup:
    """The rows of a table as HTML.

    Parameters
    ----------
    table
        The table.
    piece
        Writes what stands in cells.
    """
    reasons = Reasons()
    lines = list(_bodies(table, piece, reasons))
    return TableMarkup(
        bodies=Markup("\n".join(lines)),  # noqa: S704 - made of escaped pieces
        reasons=tuple((letter, Markup(why)) for letter, why in reasons.pairs),  # noqa: S704 - the same
        rows=len(table.rows),
    )


def facet_attributes(facets: Facets) -> Markup:
    r"""Facets as ``data-`` attributes.

    Examples
    --------
    >>> facet_attributes({"model": 'a"b\x00'})
    Markup(' data-model="a&#34;b\\x00"')
    """
    attributes = (
        f' data-{facet}="{escape(visible(value, one_line=True))}"'
        for facet, value in facets.items()
    )
    return Markup("".join(attributes))  # noqa: S704 - values are escaped, facets are ours


def _bodies(table: Table, piece: PieceMarkup, reasons: Reasons) -> Iterator[str]:
    kinds = [_CLASSES.get(column.kind, "") for column in table.columns]
    open_ = False
    for row in table.rows:
        if row.group is not None or not open_:
            if open_:
                yield "</tbody>"
            yield "<tbody>"
            open_ = True
        if row.group is not None:
            heading = piece.html(row.group)
            yield (
                f'<tr class="group"><th scope="rowgroup" colspan="{len(table.columns)}">'
                f"{heading}</th></tr>"
            )
        yield _row(row, kinds, piece, reasons)
    yield "</tbody>" if open_ else "<tbody></tbody>"


def _row(row: Row, kinds: list[str], piece: PieceMarkup, reasons: Reasons) -> str:
    first, *others = row.cells
    cells = "".join(
        f"<td{kind}>{piece.html(cell, reasons)}</td>"
        for kind, cell in zip(kinds[1:], others, strict=True)
    )
    head = f'<th scope="row"{kinds[0]}>{piece.html(first, reasons)}</th>'
    return f"<tr{facet_attributes(row.facets)}>{head}{cells}</tr>"


def helped(columns: tuple[Column, ...]) -> list[Column]:
    """Columns that are explained under the table."""
    return [column for column in columns if column.help is not None]
