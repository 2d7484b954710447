"""The command that writes what people read: the report."""

from __future__ import annotations

import os
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
from nongrata.errors import NongrataError
from nongrata.run_path import is_remote, run_path
from nongrata.terminal import visible

if TYPE_CHECKING:
    from nongrata.study_results import StudyResults

FILE = "report.html"
"""What a report is called in a run directory."""


def report(
    run: RunArgument,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            parser=run_path,
            metavar="FILE",
            help="Where to write it. Left out: report.html in the run directory.",
        ),
    ] = None,
    lang: LanguageOption = "en",
    unread: UnreadOption = UnreadAs.WRONG,
    value: ValueOption = ValueOf.DRAWS,
    smallest_effect: SmallestEffectOption = 1.0,
    draws: DrawsOption = 2000,
    splits: SplitsOption = 100,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Write the report: one HTML file that opens anywhere, without a network."""
    from nongrata.cli.progress import StepProgress
    from nongrata.report.languages.language import language

    language(lang)  # what is wrong with the options is said before anything is computed
    path = out or run / FILE
    refuse_unwritable(path)
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
        progress.step("writing the report")
        size = write_report(results, path, lang)
    if as_json:
        print_json({"kind": "report", "path": str(path), "bytes": size, "language": lang})
        return
    console().print(
        f"report: {visible(str(path), one_line=True)} ({size / 1e6:.1f} MB)\n"
        "Open it in any browser, or send it as it is: it needs no network and no other file.",
        soft_wrap=True,
    )


def write_report(results: StudyResults, path: Path, lang: str = "en") -> int:
    """Write the report of a study, whole or not at all; an existing file is replaced.

    Parameters
    ----------
    results
        From `nongrata.study_results`.
    path
        The file.
    lang
        Its language, one of `nongrata.report.languages.language.LANGUAGES`.

    Returns
    -------
    int
        Its size in bytes.
    """
    from nongrata.report.build import build_document
    from nongrata.report.languages.language import language
    from nongrata.report.page.page import render_page
    from nongrata.run_files import write_atomically

    page = render_page(build_document(results), language(lang)).encode()
    write_atomically(path, page)
    return len(page)


def refuse_unwritable(path: Path) -> None:
    """Say early that a file cannot be written; what a disk says later is said then.

    Parameters
    ----------
    path
        The file.
    """
    if is_remote(path):
        return
    if path.is_dir():
        raise NongrataError("is a folder", where=path, fix=f"name a file: {path / FILE}")
    folder = path.absolute().parent
    while not folder.exists():
        folder = folder.parent
    if not folder.is_dir():
        raise NongrataError("is no folder", where=folder, fix="name a file in a folder")
    if not os.access(folder, os.W_OK):
        raise NongrataError(
            "cannot be written: Permission denied", where=path, fix="name a file elsewhere: -o FILE"
        )
