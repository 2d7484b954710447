"""The command that shows everything once: a real small model, embedded questions, a result."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nongrata.cli.options import console, error_console
from nongrata.terminal import visible


def demo(
    out: Annotated[Path, typer.Option("--out", metavar="RUN", help="The run directory.")] = Path(
        "demo-run"
    ),
) -> None:
    """Run a small study of all 48 configurations on a real model, and report what is stable.

    Fetches a model of 93 MB once (SmolLM2-135M-Instruct), asks it 984 requests on the processor,
    about four minutes on two cores, and goes on where it was if it is stopped. Prints a summary
    and writes a report into the run directory.
    """
    from nongrata.cli.progress import RunProgress, StepProgress
    from nongrata.cli.reports import write_report
    from nongrata.loading import load_study
    from nongrata.report.terminal.analysis import render_analysis
    from nongrata.report.terminal.findings_table import render_findings
    from nongrata.runner import run_study
    from nongrata.study_results import study_results

    shown = error_console()
    shown.print("demo: 6 labels x 48 configurations x 6 questions, asked of SmolLM2-135M-Instruct")
    try:
        with RunProgress(shown) as progress:
            summary = run_study(load_study("demo"), out, progress)
    except KeyboardInterrupt:
        shown.print("\nstopped; the same command goes on from what is committed")
        raise SystemExit(130) from None
    result = console()
    result.print(str(summary))
    with StepProgress(shown) as progress:
        results = study_results(out, progress=progress.step)
        progress.step("writing the report")
        page = out / "report.html"
        write_report(results, page, "en")
    result.print(render_analysis(results.analysis, ("instability", "chance", "labels")))
    result.print(render_findings(results.findings))
    result.print(
        f"\nThe report: {visible(str(page))} (open it in a browser)\n"
        f"Everything is in {visible(str(out))}. Look closer:\n"
        f"  nongrata view {visible(str(out))}\n"
        f"  nongrata show {visible(str(out))} --question starter/knowledge/01 --persona a-human\n"
        f"  nongrata analyze {visible(str(out))} --about all\n"
        f"  nongrata findings {visible(str(out))} --json\n"
        f"  nongrata plan paper"
    )
