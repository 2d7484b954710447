"""Commands that write what people read: report, figures, tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nongrata.cli.loading import warnings_of
from nongrata.cli.options import JsonOption, RunArgument, console, error_console, print_json
from nongrata.terminal import visible


def report(
    run: RunArgument,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Where to write it.")
    ] = None,
    lang: Annotated[str, typer.Option(help="Language: en or es.")] = "en",
    as_json: JsonOption = False,
) -> None:
    """Write the report: one HTML file that opens anywhere, without a network."""
    from nongrata.cli.progress import StepProgress
    from nongrata.report.build import build_document
    from nongrata.report.languages.language import language
    from nongrata.report.page.page import render_page
    from nongrata.run_files import write_atomically
    from nongrata.study_results import study_results

    spoken = language(lang)
    warnings_of(run)  # that there are answers is said before anything is drawn
    path = out or run / "report.html"
    with StepProgress(error_console()) as progress:
        results = study_results(run, progress=progress.step)
        progress.step("writing the report")
        page = render_page(build_document(results), spoken).encode()
    write_atomically(path, page)
    if as_json:
        print_json({"kind": "report", "path": str(path), "bytes": len(page)})
        return
    console().print(visible(f"report: {path} ({len(page) / 1e6:.1f} MB)"))
