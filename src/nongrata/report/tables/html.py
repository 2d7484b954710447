"""A table as a fragment of HTML, without style, to drop into a page."""

from __future__ import annotations

from itertools import pairwise

from markupsafe import Markup

from nongrata.report.document.blocks import Row, Table
from nongrata.report.document.pieces import Estimate, Piece
from nongrata.report.languages.language import Language
from nongrata.report.page.markup import InRow, PieceMarkup, Reasons
from nongrata.report.tables.wording import heading, headings_explained
from nongrata.terminal import visible


def html_table(table: Table, language: Language) -> str:
    """A table as HTML that is no whole page and has no style of its own.

    Numbers stand in ``data`` elements, in full precision, with their place in the JSON form of
    the results; number columns have the class ``number``.

    Parameters
    ----------
    table
        The table.
    language
        In which language.
    """
    piece = PieceMarkup(language)
    kinds = [_class(column.kind) for column in table.columns]
    head = Markup().join(
        Markup('<th scope="col"{}>{}</th>').format(kind, visible(heading(column, language)))
        for column, kind in zip(table.columns, kinds, strict=True)
    )
    lines = [
        Markup('<table id="{}" lang="{}">').format(table.id, language.code),
        Markup("<caption>{}</caption>").format(piece(table.caption)),
        Markup("<thead>\n<tr>{}</tr>\n</thead>").format(head),
    ]
    starts = [i for i, row in enumerate(table.rows) if i == 0 or row.group is not None]
    reasons = Reasons()
    for start, end in pairwise([*starts, len(table.rows)] if starts else []):
        lines.append(_body(table.rows[start:end], kinds, piece, reasons))
    explained = headings_explained(table, language)
    under = [Markup("<p>{}</p>").format(explained)] if explained else []
    under += [Markup("<p>{}</p>").format(piece(note)) for note in table.notes]
    under += [
        Markup("<p><sup>{}</sup> ").format(letter) + Markup(why) + Markup("</p>")  # noqa: S704
        for letter, why in reasons.pairs
    ]
    if under:
        cell = Markup('<td colspan="{}">{}</td>').format(len(kinds), Markup().join(under))
        lines.append(Markup("<tfoot>\n<tr>{}</tr>\n</tfoot>").format(cell))
    return visible("\n".join([*lines, "</table>"])) + "\n"


def _body(
    rows: tuple[Row, ...], kinds: list[Markup], piece: PieceMarkup, reasons: Reasons
) -> Markup:
    lines = [Markup("<tbody>")]
    if rows[0].group is not None:
        lines.append(
            Markup('<tr><th scope="rowgroup" colspan="{}">{}</th></tr>').format(
                len(kinds), piece(rows[0].group)
            )
        )
    for row in rows:
        first, *others = [_cell(cell, piece, InRow(reasons)) for cell in row.cells]
        cells = [Markup('<th scope="row"{}>{}</th>').format(kinds[0], first)]
        cells += [
            Markup("<td{}>{}</td>").format(kind, cell)
            for cell, kind in zip(others, kinds[1:], strict=True)
        ]
        lines.append(Markup("<tr>{}</tr>").format(Markup().join(cells)))
    return Markup("\n").join([*lines, Markup("</tbody>")])


def _cell(cell: Piece | None, piece: PieceMarkup, row: InRow) -> Markup:
    if isinstance(cell, Estimate) and cell.low.value is not None and cell.high.value is not None:
        parts = (_cell(each, piece, row) for each in (cell.value, cell.low, cell.high))
        return Markup("{} [{}, {}]").format(*parts)
    return Markup(piece.html(cell, row))  # noqa: S704 - html() escapes all that is not ours


def _class(kind: str) -> Markup:
    return Markup(' class="number"') if kind in ("number", "estimate") else Markup()
