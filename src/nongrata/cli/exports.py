"""Commands that write files for papers: tables and figures."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nongrata.cli.analysis_options import (
    DrawsOption,
    LanguageOption,
    SeedOption,
    SmallestEffectOption,
    SplitsOption,
    UnreadAs,
    UnreadOption,
    ValueOf,
    ValueOption,
    results_of,
)
from nongrata.cli.options import JsonOption, RunArgument, console, error_console, print_json
from nongrata.run_path import run_path
from nongrata.terminal import visible

if TYPE_CHECKING:
    from nongrata.report.document.pieces import Text
    from nongrata.report.languages.language import Language


class TableFormat(StrEnum):
    """Formats of tables."""

    MARKDOWN = "md"
    LATEX = "tex"
    HTML = "html"
    CSV = "csv"


class FigureFormat(StrEnum):
    """Formats of figures."""

    SVG = "svg"
    PNG = "png"
    PDF = "pdf"


class ThemeOf(StrEnum):
    """Colours of figures."""

    LIGHT = "light"
    DARK = "dark"


FolderOption = Annotated[
    Path | None,
    typer.Option("--out", "-o", parser=run_path, metavar="DIR", help="The folder to write into."),
]
OnlyOption = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="ID", help="Only this one; may be repeated. --list has ids."),
]
ListOption = Annotated[bool, typer.Option("--list", help="Print ids and titles; write nothing.")]


def tables(
    run: RunArgument,
    out: FolderOption = None,
    formats: Annotated[
        list[TableFormat] | None,
        typer.Option("--format", help="Which format; may be repeated. Left out: all."),
    ] = None,
    only: OnlyOption = None,
    list_: ListOption = False,
    lang: LanguageOption = "en",
    unicode: Annotated[
        bool,
        typer.Option("--unicode", help="LaTeX for XeLaTeX or LuaLaTeX: any script as it is."),
    ] = False,
    unread: UnreadOption = UnreadAs.WRONG,
    value: ValueOption = ValueOf.DRAWS,
    smallest_effect: SmallestEffectOption = 1.0,
    draws: DrawsOption = 2000,
    splits: SplitsOption = 100,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Write the report's tables as Markdown, LaTeX, HTML and CSV, to drop into a paper.

    Intervals, units and notes are in all of them; CSV has every number in full precision. Left
    out, --out is the folder "tables" in the run.
    """
    from nongrata.cli.progress import StepProgress
    from nongrata.report.build import build_document
    from nongrata.report.charts.library import drawing_library
    from nongrata.report.languages.language import language
    from nongrata.report.tables.wording import all_tables
    from nongrata.report.tables.write import write_tables

    spoken = language(lang)
    drawing_library("writing tables")
    with StepProgress(error_console()) as progress:
        results = results_of(
            run,
            progress,
            unread=unread,
            value=value,
            smallest_effect=smallest_effect,
            draws=draws,
            splits=splits,
            seed=seed,
        )
        progress.step("writing tables")
        document = build_document(results)
        if not list_:
            paths = write_tables(
                document,
                out or run / "tables",
                spoken,
                [each.value for each in formats or TableFormat],
                only=only or (),
                unicode=unicode,
            )
    if list_:
        found = {table.id: table.caption for table in all_tables(document)}
        _print_list("tables", found, spoken, as_json)
    else:
        _print_files("tables", paths, as_json)


def figures(
    run: RunArgument,
    out: FolderOption = None,
    formats: Annotated[
        list[FigureFormat] | None,
        typer.Option("--format", help="Which format; may be repeated. Left out: all."),
    ] = None,
    only: OnlyOption = None,
    list_: ListOption = False,
    lang: LanguageOption = "en",
    theme: Annotated[
        ThemeOf, typer.Option(help="Colours: light on white, for print, or dark.")
    ] = ThemeOf.LIGHT,
    unread: UnreadOption = UnreadAs.WRONG,
    value: ValueOption = ValueOf.DRAWS,
    smallest_effect: SmallestEffectOption = 1.0,
    draws: DrawsOption = 2000,
    splits: SplitsOption = 100,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Draw the report's charts as SVG, PNG and PDF, without a browser.

    Titles are left to the paper's captions; SVG has title and alternative text in it. Left out,
    --out is the folder "figures" in the run.
    """
    from nongrata.cli.progress import StepProgress
    from nongrata.report.build import build_document
    from nongrata.report.charts.library import drawing_library
    from nongrata.report.figures.write import write_figures
    from nongrata.report.languages.language import language

    spoken = language(lang)
    drawing_library("drawing figures")
    with StepProgress(error_console()) as progress:
        results = results_of(
            run,
            progress,
            unread=unread,
            value=value,
            smallest_effect=smallest_effect,
            draws=draws,
            splits=splits,
            seed=seed,
        )
        document = build_document(results)
        if not list_:
            paths = write_figures(
                document,
                out or run / "figures",
                spoken,
                [each.value for each in formats or FigureFormat],
                theme=theme.value,
                only=only or (),
                progress=progress.step("drawing figures"),
            )
    if list_:
        found = {chart.id: chart.title for chart in document.charts}
        _print_list("figures", found, spoken, as_json)
    else:
        _print_files("figures", paths, as_json)


def _print_list(what: str, found: dict[str, Text], language: Language, as_json: bool) -> None:
    from nongrata.report.document.plain import plain

    captions = {name: plain(caption, language) for name, caption in found.items()}
    if as_json:
        listed = [{"id": name, "caption": caption} for name, caption in captions.items()]
        print_json({"kind": what, what: listed})
        return
    for name, caption in captions.items():
        console().print(visible(f"{name}  {caption}"), soft_wrap=True)


def _print_files(what: str, paths: list[Path], as_json: bool) -> None:
    folder = paths[-1].parent
    if as_json:
        print_json({"kind": what, "folder": str(folder), "files": [path.name for path in paths]})
        return
    words = f"{what}: {len(paths):,} files in {folder}; {what}.md lists them"
    console().print(visible(words, one_line=True), soft_wrap=True)
