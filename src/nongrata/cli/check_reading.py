"""The command check-reading."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from nongrata.cli.options import (
    JsonOption,
    SetOption,
    StudyArgument,
    console,
    error_console,
    print_json,
)
from nongrata.terminal import visible

if TYPE_CHECKING:
    from nongrata.reading_check import ReadingCheck


def check_reading(
    study: StudyArgument,
    prompts: Annotated[
        int, typer.Option(min=1, metavar="N", help="Prompts that are read both ways.")
    ] = 60,
    max_tokens: Annotated[
        int, typer.Option(min=1, metavar="N", help="Longest text, in tokens.")
    ] = 64,
    overrides: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure how often the most probable label is not the one that a generated text declares."""
    from nongrata.cli.progress import StepProgress
    from nongrata.engines import open_engine
    from nongrata.loading import load_study
    from nongrata.plan import build_plan
    from nongrata.reading_check import check_reading as check

    loaded = load_study(study, overrides or ())
    plan = build_plan(loaded.study, loaded.personas(), loaded.questions())
    shown = error_console()
    found = []
    for spec in loaded.study.models:
        with (
            open_engine(
                spec, plan, loaded.base, notify=lambda text: shown.print(visible(text))
            ) as engine,
            StepProgress(shown) as progress,
        ):
            tell, done = progress.step(visible(spec.id)), 0

            def tick(count: int) -> None:
                nonlocal done
                done += count
                tell(done, 2 * prompts)  # noqa: B023

            found.append(
                check(engine, plan, spec.id, prompts=prompts, max_tokens=max_tokens, tick=tick)
            )
    if as_json:
        print_json({"kind": "reading_checks", "checks": [one.as_dict() for one in found]})
        return
    out = console()
    for one in found:
        _print(out, one)


def _print(out: Console, check: ReadingCheck) -> None:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("prompts", overflow="fold", min_width=12)
    for name in ("n", "read", "differ", "95%", "no label", "right: token", "text"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in check.rows:
        of = f"{row.factor} {row.level}" if row.factor else "all"
        interval = "-" if math.isnan(row.low) else f"{row.low:.0%}-{row.high:.0%}"
        table.add_row(
            visible(of),
            f"{row.prompts}",
            f"{row.texts_read}",
            _share(row.share),
            interval,
            _share(row.no_label),
            _share(row.accuracy_first_token),
            _share(row.accuracy_text),
        )
    out.print(f"\n{visible(check.model)}", style="bold")
    out.print(table)
    if check.errors:
        out.print(f"{check.errors} prompts ended in an error and were left out", style="yellow")
    out.print(
        "n: prompts; read: texts that declare an option; differ: the most probable label is "
        "another, of those read; no label: the most probable next token is none; right: by the "
        "next token and by the text",
        style="dim",
    )
    out.print(visible(str(check)), style="bold")


def _share(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.0%}"
