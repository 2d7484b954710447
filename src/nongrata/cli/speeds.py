"""What `nongrata plan` knows of speed: where it comes from, and how it is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from nongrata.cli.options import error_console
from nongrata.cli.progress import StepProgress
from nongrata.errors import NongrataError
from nongrata.terminal import visible

if TYPE_CHECKING:  # keeps the command's start fast
    from nongrata.loading import LoadedStudy
    from nongrata.plan_summary import PlanSummary
    from nongrata.speeds import Speeds

_NAMES = {"first_token": "single passes", "cloze": "likelihoods", "free": "generations"}


class _Steps(StepProgress):
    """Shows a calibration: a bar or lines with the time left, and notes."""

    def note(self, text: str) -> None:
        """Print a line."""
        self._console.print(visible(text), soft_wrap=True)


def find_speeds(
    loaded: LoadedStudy,
    *,
    speed: float | None,
    speed_from: Path | None,
    models: Sequence[str],
    seconds: float,
    save: Path | None,
    limit: int | None,
) -> Mapping[str, float] | Speeds | None:
    """Speeds as given, from a file or a run, or measured now."""
    given = [speed is not None, speed_from is not None, bool(models)]
    if sum(given) > 1:
        raise NongrataError(
            "two sources of speeds are given",
            where="--speed, --speed-from, --calibrate",
            fix="give one of them",
        )
    if save is not None and not models:
        raise NongrataError(
            "nothing is measured, so there is nothing to save",
            where="--save-speeds",
            fix="add --calibrate all",
        )
    if speed is not None:
        return {spec.id: speed for spec in loaded.study.models}
    if speed_from is not None:
        if speed_from.is_file():
            from nongrata.speeds import read_speeds

            return read_speeds(speed_from)
        return _speeds_of_run(speed_from)
    if not models:
        return None
    from nongrata.calibrate import calibrate
    from nongrata.speeds import write_speeds

    with _Steps(error_console()) as steps:
        found = calibrate(loaded, steps, models=models, seconds=seconds, limit=limit)
    if save is not None:
        write_speeds(save, found)
    return found


def add_speed_rows(table: Table, summary: PlanSummary) -> None:
    """Time and cost of each model, as rows of a plan's table."""
    side = f" with {summary.engines} engines" if summary.engines > 1 else ""
    for model, hours in summary.hours.items():
        rate = summary.passes_per_second[model]
        found = summary.estimates.get(model)
        between = ""
        if found is not None and found.hours_between is not None:
            between = " ({} to {})".format(*map(_hours, found.hours_between))
        table.add_row(
            f"time of {visible(model)}{side}",
            f"{_hours(hours)}{between} at {_rate(rate)} passes/s",
            "",
        )
    for model, reason in summary.not_timed.items():
        table.add_row(f"time of {visible(model)}", visible(reason), "")
    for model, amount in summary.cost.items():
        tokens = summary.estimates.get(model)
        known = tokens is not None and tokens.generated_tokens is not None
        table.add_row(
            f"cost of {visible(model)}, {'about' if known else 'at most'}", f"{amount:,.2f}", ""
        )
    if not summary.hours and not summary.not_timed:
        table.add_row("time", "give --speed, --speed-from or --calibrate", "")


def add_token_rows(table: Table, summary: PlanSummary) -> None:
    """Tokens, as rows of a plan's table: measured where every model was, else estimated."""
    n = len(summary.models)
    found = [summary.estimates.get(model) for model in summary.models]
    prompt = [one.prompt_tokens for one in found if one is not None]
    written = [one.generated_tokens for one in found if one is not None]
    basis = next((one.basis for one in found if one is not None), "")
    for name, all_known, otherwise, estimate in (
        ("prompt tokens", prompt, "about", summary.prompt_tokens_per_model),
        ("generated tokens", written, "at most", summary.completion_tokens_per_model),
    ):
        known = [count for count in all_known if count is not None]
        if len(known) == n:
            total = sum(known)
            each = f"{total // n:,}" if n == 1 else f"{total // n:,} on average"
            table.add_row(f"{name}, {basis}", each, f"{total:,}")
        else:
            table.add_row(f"{name}, {otherwise}", f"{estimate:,}", f"{estimate * n:,}")


def speed_table(summary: PlanSummary) -> Table | None:
    """Speed, tokens and time by model and reading; None where speeds are not known so finely."""
    if not summary.estimates:
        return None
    basis = next(iter(summary.estimates.values())).basis
    table = Table(
        *("", "passes", "a second", "±", "prompt", "cached", "written", "time"),
        title=f"Speeds, {basis}; tokens a pass",
        box=None,
    )
    for column in table.columns[1:]:
        column.justify = "right"
    for model, found in summary.estimates.items():
        table.add_row(visible(model), *[""] * 7, style="bold")
        for reading, hours in found.hours_by_reading.items():
            values = found.speed[reading]
            passes = summary.passes_per_question[reading] * summary.questions
            table.add_row(
                f"  {_NAMES[reading]}",
                f"{passes:,}",
                _rate(values["passes_per_second"]),
                _number(values["spread"], "{:.0%}"),
                _number(values["prompt_tokens"], "{:,.0f}"),
                _number(values["cached_share"], "{:.0%}"),
                _number(values["generated_tokens"], "{:,.0f}"),
                _hours(hours),
            )
            if values["errors"]:
                table.add_row(f"  ({values['errors']:,} requests failed)", *[""] * 7)
    return table


def _number(value: float | None, form: str) -> str:
    return "" if value is None else form.format(value)


def _rate(value: float) -> str:
    """A speed with at least two digits that mean something."""
    return f"{value:,.1f}" if value >= 1 else f"{value:.2g}"


def _hours(hours: float) -> str:
    if hours < 1 / 60:
        return f"{hours * 3600:.0f} s"
    if hours < 1:
        return f"{hours * 60:.0f} min"
    return f"{hours:,.1f} h"


def _speeds_of_run(run: Path) -> dict[str, float]:
    from nongrata.manifest import Manifest

    asked: dict[str, int] = {}
    seconds: dict[str, float] = {}
    for session in Manifest.read(run).sessions:
        for model, count in session.requests_by_model.items():
            asked[model] = asked.get(model, 0) + count
            spent = session.seconds_by_model.get(model, 0.0)
            seconds[model] = seconds.get(model, 0.0) + spent
    return {model: asked[model] / seconds[model] for model in asked if seconds[model] > 0}
