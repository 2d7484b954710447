"""Tables of a document as files, with an index and a page that shows all of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from nongrata.report.document.blocks import Document, Table
from nongrata.report.document.plain import plain
from nongrata.report.exported import chosen, stems, write_files
from nongrata.report.languages.language import Language
from nongrata.report.tables.csv import csv_table
from nongrata.report.tables.html import html_table
from nongrata.report.tables.latex import latex_preamble, latex_table
from nongrata.report.tables.markdown import markdown_table, markdown_text
from nongrata.report.tables.wording import all_tables

TableFormat = Literal["md", "tex", "html", "csv"]
TABLE_FORMATS: tuple[TableFormat, ...] = ("md", "tex", "html", "csv")
"""Endings of files, which are the names of formats too."""


def write_tables(
    document: Document,
    folder: Path,
    language: Language,
    formats: Sequence[TableFormat] = TABLE_FORMATS,
    *,
    only: Sequence[str] = (),
    unicode: bool = False,
) -> list[Path]:
    """Write every table of a document, those of charts too, in every format.

    Beside them: ``tables.md``, which lists them, and with LaTeX ``tables.tex``, a document that
    shows them all.

    Parameters
    ----------
    document
        From `nongrata.report.build.build_document`.
    folder
        Where to. Files of the same names are replaced, others stay.
    language
        In which language.
    formats
        Which.
    only
        Ids of the tables wanted; empty for all.
    unicode
        Whether LaTeX is for XeLaTeX or LuaLaTeX.

    Raises
    ------
    NongrataError
        If there is no table with an id, or the folder cannot be written to.
    """
    tables = chosen(all_tables(document), only, "table")
    names = dict(zip([table.id for table in tables], stems(t.id for t in tables), strict=True))
    writers = {
        "md": markdown_table,
        "tex": lambda table, language: latex_table(table, language, unicode=unicode),
        "html": html_table,
        "csv": csv_table,
    }
    files = {
        f"{names[table.id]}.{ending}": writers[ending](table, language)
        for table in tables
        for ending in TABLE_FORMATS
        if ending in formats
    }
    ids = list(names.values())
    files["tables.md"] = _index(tables, names, language, [f for f in TABLE_FORMATS if f in formats])
    if "tex" in formats:
        text = "".join(files[f"{name}.tex"] for name in ids)
        files["tables.tex"] = _page(ids, latex_preamble(text, unicode=unicode))
    return write_files(folder, {name: text.encode() for name, text in files.items()})


def _index(
    tables: list[Table], names: dict[str, str], language: Language, formats: list[TableFormat]
) -> str:
    lines = []
    for table in tables:
        name = names[table.id]
        links = " ".join(f"[{ending}]({name}.{ending})" for ending in formats)
        lines.append(f"- `{table.id}`: {markdown_text(plain(table.caption, language))} ({links})")
    return "\n".join(lines) + "\n"


def _page(names: list[str], preamble: list[str]) -> str:
    """A document that shows all tables: to look at them, and to take its preamble."""
    lines = [
        r"\documentclass[a4paper,11pt]{article}",
        *preamble,
        r"\usepackage[margin=2.5cm]{geometry}",
        r"\begin{document}",
        *(rf"\input{{{name}}}\clearpage" for name in names),
        r"\end{document}",
    ]
    return "\n".join(lines) + "\n"
