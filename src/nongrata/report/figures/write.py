"""Charts of a document as files, with an index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from nongrata.report.charts.library import drawing_library
from nongrata.report.charts.theme import Theme
from nongrata.report.document.blocks import Chart, Document
from nongrata.report.document.plain import plain
from nongrata.report.exported import chosen, stems, write_files
from nongrata.report.figures.drawing import FIGURE_FORMATS, FigureFormat, converted, draw
from nongrata.report.languages.language import Language
from nongrata.report.tables.markdown import markdown_text


def write_figures(
    document: Document,
    folder: Path,
    language: Language,
    formats: Sequence[FigureFormat] = FIGURE_FORMATS,
    *,
    theme: Theme = "light",
    only: Sequence[str] = (),
    progress: Callable[[int, int], None] | None = None,
) -> list[Path]:
    """Draw every chart of a document in every format; ``figures.md`` beside them lists them.

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
    theme
        Light, for print, or dark.
    only
        Ids of the charts wanted; empty for all.
    progress
        Told how many of how many charts are drawn.

    Raises
    ------
    NongrataError
        If there is no chart with an id, something is not installed, or the folder cannot be
        written to.
    """
    drawing_library()
    charts = chosen(document.charts, only, "figure")
    names = stems(chart.id for chart in charts)
    endings = [ending for ending in FIGURE_FORMATS if ending in formats]
    files: dict[str, bytes] = {}
    for done, (chart, name) in enumerate(zip(charts, names, strict=True), 1):
        svg = draw(chart, language, theme)
        files |= {f"{name}.{ending}": converted(svg, ending) for ending in endings}
        if progress is not None:
            progress(done, len(charts))
    files["figures.md"] = _index(charts, names, endings, language).encode()
    return write_files(folder, files)


def _index(
    charts: list[Chart], names: list[str], endings: list[FigureFormat], language: Language
) -> str:
    lines = []
    for chart, name in zip(charts, names, strict=True):
        links = " ".join(f"[{ending}]({name}.{ending})" for ending in endings)
        under = [chart.description, *chart.notes]
        lines.append(f"- `{chart.id}`: {markdown_text(plain(chart.title, language))} ({links})")
        lines += [f"  {markdown_text(plain(text, language))}" for text in under]
    return "\n".join(lines) + "\n"
