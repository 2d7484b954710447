"""Commands that check what a study rests on: check-engine."""

from __future__ import annotations

import math
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn
from rich.table import Table
from rich.text import Text

from nongrata.cli.options import JsonOption, SetOption, console, error_console, print_json
from nongrata.run_path import run_path
from nongrata.terminal import visible

if TYPE_CHECKING:
    from nongrata.loading import LoadedStudy
    from nongrata.numerical_floor import EngineCheck
    from nongrata.plan import Plan


def check_engine(
    study: Annotated[
        str,
        typer.Argument(metavar="STUDY|RUN", help="A study file, a preset, or a run directory."),
    ],
    requests: Annotated[
        int, typer.Option(min=2, metavar="N", help="Single passes asked in each condition.")
    ] = 40,
    texts: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="Texts generated at temperature 0 in each condition."
        ),
    ] = 12,
    overrides: SetOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            parser=run_path,
            metavar="RUN",
            help="Store the figures in this run's manifest.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Measure how far answers move when only batch, order and caches do, beside persona effects."""
    from nongrata import engine_check
    from nongrata.engines import open_engine

    loaded, plan, run = _what_to_check(study, overrides or (), out)
    shown = error_console()
    checks = []
    for spec in loaded.study.models:
        with open_engine(spec, plan, loaded.base, notify=_noter(shown)) as engine:
            if run is not None:
                engine_check.refuse_other_model(run, spec.id, engine)
            steps = engine_check.steps_of_check(requests, texts)
            with _Steps(shown, spec.id, steps) as progress:
                check = engine_check.check_engine(
                    engine,
                    plan,
                    spec.id,
                    requests=requests,
                    texts=texts,
                    tick=progress.advance,
                )
        if run is not None:
            engine_check.store_check(run, check)
        checks.append(check)
    if as_json:
        print_json({"kind": "engine_checks", "checks": [check.as_dict() for check in checks]})
        return
    result = console()
    for check in checks:
        print_check(result, check)
    if run is not None:
        result.print(f"stored in the manifest of {visible(str(run))}")


def print_check(out: Console, check: EngineCheck) -> None:
    """One engine's check as tables and a sentence."""
    out.print()
    out.print(visible(check.model), style="bold")
    place = ", ".join(
        visible(part)
        for part in (check.engine, check.backend, check.precision, check.device)
        if part
    )
    hardware = check.hardware
    out.print(f"{place}; {visible(str(hardware.get('processor')))}, {hardware.get('cores')} cores")
    if check.scores:
        out.print(f"{check.requests} requests, each condition against one batch in planned order")
        out.print(_score_table(check))
    if check.texts:
        out.print(_text_table(check))
    effect = check.effect
    if effect.comparisons:
        out.print(
            f"persona effect here: mean {_figure(effect.mean)}, largest {_figure(effect.largest)} "
            f"over {effect.comparisons} pairs of labels on the same question and formats"
        )
    for note in check.notes:
        out.print(f"note: {visible(note)}", style="yellow")
    if check.errors:
        out.print(f"{check.errors} requests ended in an error and were left out", style="yellow")
    out.print(check.sentence(), style="bold")


def _score_table(check: EngineCheck) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("condition", no_wrap=True)
    for name in ("shares: max", "mean", "masses: max", "mean", "log-odds", "flips"):
        table.add_column(name, justify="right", no_wrap=True)
    for change in check.scores:
        if change.not_asked:
            table.add_row(change.condition, Text(change.not_asked, style="dim"))
            continue
        table.add_row(
            change.condition,
            _figure(change.share_max),
            _figure(change.share_mean),
            _figure(change.mass_max),
            _figure(change.mass_mean),
            _figure(change.log_odds_max),
            str(change.flips),
        )
    return table


def _text_table(check: EngineCheck) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("texts at temperature 0", no_wrap=True)
    for name in ("texts", "differ", "share"):
        table.add_column(name, justify="right")
    for change in check.texts:
        share = "-" if math.isnan(change.share) else f"{change.share:.0%}"
        table.add_row(change.condition, str(change.texts), str(change.differ), share)
    return table


def _figure(value: float) -> str:
    from nongrata.numerical_floor import decimal

    if 0 < value < 5e-8:  # less than float32 can tell
        return "< .0000001"
    return decimal(value)


def _what_to_check(
    reference: str, overrides: Any, out: Path | None
) -> tuple[LoadedStudy, Plan, Path | None]:
    """The study, its plan, and the run in which figures are stored."""
    from nongrata.errors import NongrataError
    from nongrata.loading import load_study
    from nongrata.manifest import FILE
    from nongrata.plan import build_plan
    from nongrata.run_folder import STUDY, read_content

    folder = run_path(reference)
    if not (folder / FILE).is_file():
        if folder.is_dir():
            raise NongrataError(
                "this folder holds no run", where=folder, fix="give a study file or a run directory"
            )
        loaded = load_study(reference, overrides)
        return loaded, build_plan(loaded.study, loaded.personas(), loaded.questions()), out
    loaded = load_study(str(folder / STUDY), overrides)
    content = read_content(folder)
    plan = build_plan(loaded.study, content.personas, content.questions)
    return loaded, plan, out or folder


def _noter(shown: Console) -> Any:
    return lambda text: shown.print(visible(text), soft_wrap=True)


class _Steps:
    """Answers counted, their rate and the time left: a bar on a terminal, lines elsewhere."""

    def __init__(self, shown: Console, name: str, total: int) -> None:
        self._shown, self._name, self._total = shown, visible(name), total
        self._done = 0
        self._started = self._said = time.monotonic()
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def advance(self, count: int) -> None:
        """Some requests were answered."""
        self._done += count
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=self._done, report=self._report())
        elif time.monotonic() - self._said > 10:
            self._said = time.monotonic()
            self._shown.print(
                f"{self._name}: {self._done:,}/{self._total:,} answers, {self._report()}",
                soft_wrap=True,
            )

    def _report(self) -> str:
        rate = self._done / max(time.monotonic() - self._started, 1e-9)
        left = max(self._total - self._done, 0) / rate if rate else math.inf
        return f"{rate:,.1f}/s, {left:,.0f} s left"

    def __enter__(self) -> Self:
        self._started = self._said = time.monotonic()
        if self._shown.is_terminal:
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[report]}"),
                console=self._shown,
                transient=True,
            )
            self._bar.start()
            self._task = self._bar.add_task(self._name, total=self._total, report="")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
