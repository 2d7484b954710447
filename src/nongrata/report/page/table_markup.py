"""Rows of a table as HTML; a long table has many thousand cells, so this is no template."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup, escape

from nongrata.report.document.blocks import Column, Facets, Row, Table
from nongrata.report.document.pieces import Name
from nongrata.report.page.markup import InRow, PieceMarkup, Reasons
from nongrata.report.page.table_paths import Places, TablePaths, table_paths
from nongrata.terminal import visible

_NUMBERS = {"number", "estimate"}


@dataclass(frozen=True, slots=True)
class TableMarkup:
    """What a template needs of a table.

    Parameters
    ----------
    bodies
        Its ``tbody`` elements, one for each group of rows.
    reasons
        Letter and reason of numbers that are undefined.
    paths
        For each column the value of its heading's ``data-paths``; empty for none.
    """

    bodies: Markup
    reasons: tuple[tuple[str, Markup], ...]
    paths: tuple[str, ...]


def table_markup(table: Table, piece: PieceMarkup) -> TableMarkup:
    """The rows of a table as HTML.

    Parameters
    ----------
    table
        The table.
    piece
        Writes what stands in cells.
    """
    reasons, paths = Reasons(), table_paths(table, piece.language)
    lines = list(_bodies(table, piece, reasons, paths))
    return TableMarkup(
        bodies=Markup("\n".join(lines)),  # noqa: S704 - made of escaped pieces
        reasons=tuple((letter, Markup(why)) for letter, why in reasons.pairs),  # noqa: S704
        paths=tuple(" ".join(column) for column in paths.columns),
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


def _bodies(table: Table, piece: PieceMarkup, reasons: Reasons, paths: TablePaths) -> Iterator[str]:
    # most cells are numbers, so the others are marked
    kinds = ["" if column.kind in _NUMBERS else " class=t" for column in table.columns]
    open_ = False
    for place, row in enumerate(table.rows):
        if row.group is not None or not open_:
            if open_:
                yield "</tbody>"
            yield "<tbody>"
            open_ = True
        if row.group is not None:
            heading = piece.html(row.group)
            yield (
                f'<tr class="group"><th scope="rowgroup" colspan="{len(table.columns)}">'
                f"<span>{heading}</span></th></tr>"
            )
        at = paths.rows[place]
        cells = [
            piece.html(cell, InRow(reasons, _at(own, at)))
            for cell, own in zip(row.cells, paths.cells[place], strict=True)
        ]
        yield _row(row, _at(at), kinds, cells)
    yield "</tbody>" if open_ else "<tbody></tbody>"


def _at(places: Places | None, known: Places = ()) -> str | None:
    """The attribute that says what stands for stars, if that is not known already.

    Examples
    --------
    >>> _at(("3", "12")), _at(("3",), ("3",)), _at(None)
    (' data-at=3.12', '', None)
    """
    if places is None:
        return None
    return f" data-at={'.'.join(places)}" if places and places != known else ""


def _row(row: Row, at: str | None, kinds: list[str], cells: list[str]) -> str:
    # cells and rows end where the next one begins: HTML asks for no end tags there
    others = "".join(f"<td{kind}>{cell}" for kind, cell in zip(kinds[1:], cells[1:], strict=True))
    facets = facet_attributes(_told_by_attributes(row))
    return f'<tr{facets}{at or ""}><th scope="row">{cells[0]}{others}'


def _told_by_attributes(row: Row) -> Facets:
    """Facets of a row, without the label that its heading names: there are many such rows."""
    heading = row.cells[0]
    if isinstance(heading, Name) and row.facets.get("persona") == heading.text:
        return {facet: value for facet, value in row.facets.items() if facet != "persona"}
    return row.facets


def helped(columns: tuple[Column, ...]) -> list[Column]:
    """Columns that are explained under the table."""
    return [column for column in columns if column.help is not None]
