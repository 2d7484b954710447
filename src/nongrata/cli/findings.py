"""The command that answers the research question: findings."""

from __future__ import annotations

from typing import Annotated

import typer

from nongrata.cli.loading import load, warnings_of
from nongrata.cli.options import JsonOption, RunArgument, console, error_console, print_json
from nongrata.terminal import visible


def findings(
    run: RunArgument,
    draws: Annotated[
        int, typer.Option(min=100, metavar="N", help="How many resamples of the questions.")
    ] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random numbers.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Say which conclusions survive a change of prompt and temperature, and which do not.

    Each conclusion is robust (shown in nearly all configurations), fragile (one way in some, the
    other way in others), undecided or, where accuracy is not above chance, not rankable.
    """
    from nongrata.analysis.model_data import Resampling
    from nongrata.cli.progress import StepProgress
    from nongrata.conclusions import findings as conclude

    warnings = warnings_of(run)
    with StepProgress(error_console()) as progress:
        dataset = load(run, progress.step("reading answers"))
        progress.step("drawing conclusions")
        result = conclude(dataset, Resampling(draws=draws, seed=seed))
    if as_json:
        print_json(result.as_dict() | {"notices": warnings})
        return
    from nongrata.report.terminal.findings_table import render_findings

    out = console()
    for warning in warnings:
        out.print(visible(warning), style="bold yellow")
    out.print(render_findings(result))
