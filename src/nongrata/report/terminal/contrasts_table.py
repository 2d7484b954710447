"""Each label against each control on a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from nongrata.analysis.contrast_rows import ControlContrasts, LabelContrast, ModelContrasts
from nongrata.analysis.contrasts import Contrasts
from nongrata.report.terminal.pieces import PEOPLE, as_name, count, new_table, percent, shown

LABELS_SHOWN = 12
"""Labels listed for each control; all of them are in the JSON form."""

_VERDICTS = {"differs, but within the smallest effect": "differs, small"}

_CURVE_COLUMNS = (
    "lowest, median, highest: of the differences in single configurations. + in: configurations in "
    "which the label is above the control. sure +, sure -: number of configurations whose "
    "difference is shown to be above (below) 0, all configurations of the label at once. p med, "
    "p sign: of no difference in any configuration, from the median and from how many "
    "configurations lean one way, adjusted for the number of labels."
)


def contrasts_table(result: Contrasts, model: str) -> Iterator[RenderableType]:
    """The differences between labels and controls.

    Parameters
    ----------
    result
        From `nongrata.analysis.contrasts.contrasts`.
    model
        Which of its models.
    """
    found = result.of(model)
    if found.reason:
        yield Text(f"\nLabels against controls: {shown(found.reason)}", style="dim")
        return
    for control in found.controls:
        yield from _control(result, found, control)
    sampled = any(not row.as_sample.reason for c in found.controls for row in c.labels)
    yield Text(_columns(result.smallest_effect, sampled), style="dim")
    if len(found.configurations) > 1:
        yield Text(_CURVE_COLUMNS, style="dim")
    yield Text(_rests_on(found), style="dim")
    for left in found.left_out:
        names = ", ".join(map(shown, left.names[:4]))
        more = f" and {len(left.names) - 4} more" if len(left.names) > 4 else ""
        yield Text(f"left out: {names}{more} ({left.why})", style="dim")
    yield Text(PEOPLE, style="dim")


def _control(
    result: Contrasts, model: ModelContrasts, control: ControlContrasts
) -> Iterator[RenderableType]:
    rows = _clearest(control.labels)
    sampled = any(not row.as_sample.reason for row in control.labels)
    table = new_table(f"Labels less {shown(control.control)} (points of accuracy)")
    table.add_column("label", overflow="fold")
    table.add_column("diff", justify="right", no_wrap=True)
    table.add_column("95%, all labels", justify="right", no_wrap=True)
    table.add_column("p", justify="right", no_wrap=True)
    if sampled:
        table.add_column("other formats", justify="right", no_wrap=True)
    table.add_column("says", overflow="fold")
    for row in rows:
        cells: list[Text | str] = [
            as_name(row.persona),
            _signed(row.estimate),
            _interval(row.low_together, row.high_together),
            _p(row.p_together),
        ]
        if sampled:
            cells.append(_interval(row.as_sample.low, row.as_sample.high))
        table.add_row(*cells, _VERDICTS.get(row.verdict, row.verdict))
    yield table
    if len(control.labels) > len(rows):
        more = count(len(control.labels) - len(rows), "more label")
        yield Text(f"{more}, none with a smaller p: see the JSON output", style="dim")
    yield Text(_sentence(result, control))
    if control.distinct_cells < len(model.configurations):
        yield Text(
            f"{shown(control.control)} has {control.distinct_cells} prompts of its own in "
            f"{count(len(model.configurations), 'configuration')}; the others repeat them.",
            style="dim",
        )
    yield from _formats(model, control)
    yield from _curves(control, rows)


def _clearest(labels: Sequence[LabelContrast]) -> list[LabelContrast]:
    """The labels with the smallest p values, in the order of their differences."""
    clear = sorted(labels, key=lambda row: math.inf if math.isnan(row.p) else row.p)
    known = [-math.inf if math.isnan(row.estimate) else row.estimate for row in labels]
    place = {row.persona: at for row, at in zip(labels, known, strict=True)}
    return sorted(clear[:LABELS_SHOWN], key=lambda row: -place[row.persona])


def _columns(smallest: float, sampled: bool) -> str:
    text = (
        "diff: accuracy under the label less that under the control, same questions, mean over "
        "configurations. 95%, all labels: where the difference lies, for all labels at once. p: "
        "of no difference, adjusted for the number of labels. "
    )
    if sampled:
        text += (
            "other formats: where it lies if the formats are a sample of many, each label alone. "
        )
    return text + (
        f"says: differs (0 is outside), equivalent (all of it within {_points(smallest)} of 0), "
        "differs, small (both), undecided (neither)."
    )


def _sentence(result: Contrasts, control: ControlContrasts) -> str:
    differ = [row for row in control.labels if row.verdict.startswith("differs")]
    small = sum(row.verdict.endswith("effect") for row in differ)
    above = sum(row.estimate > 0 for row in differ)
    alike = sum(row.verdict == "equivalent" for row in control.labels)
    open_ = [row for row in control.labels if row.verdict == "undecided"]
    text = (
        f"{len(differ)} of {count(len(control.labels), 'label')} differ from "
        f"{shown(control.control)} ({above} above, {len(differ) - above} below"
        + (f"; {small} by less than {_points(result.smallest_effect)}" if small else "")
        + f"), {alike} are equivalent to it within {_points(result.smallest_effect)}, "
        f"{len(open_)} are undecided."
    )
    ends = [max(abs(row.low_together), abs(row.high_together)) for row in open_]
    far = max((end for end in ends if not math.isnan(end)), default=math.nan)
    if not math.isnan(far):
        text += (
            f" Undecided is not equal: such a label may be up to {far:.1f} points away for all "
            "that these questions say."
        )
    return text


def _formats(model: ModelContrasts, control: ControlContrasts) -> Iterator[Text]:
    known = [row for row in control.labels if not row.as_sample.reason]
    if known:
        clear = sum(row.as_sample.low > 0 or row.as_sample.high < 0 for row in known)
        names = " and ".join(map(shown, model.sampled))
        yield Text(
            f"With other levels of {names} in mind, 0 is outside for {clear} of "
            f"{count(len(known), 'label')} (each label on its own)."
        )
    for reason in dict.fromkeys(
        row.as_sample.reason for row in control.labels if row.as_sample.reason
    ):
        yield Text(f"no statement about other formats: {shown(reason)}", style="dim")
    for reason in dict.fromkeys(row.reason for row in control.labels if row.reason):
        yield Text(f"- : undefined, {shown(reason)}", style="dim")


def _curves(control: ControlContrasts, rows: Sequence[LabelContrast]) -> Iterator[RenderableType]:
    if max((len(row.curve.points) for row in rows), default=0) < 2:
        return
    table = new_table(f"The same in every configuration, less {shown(control.control)} (points)")
    table.add_column("label", overflow="fold")
    for name in ("lowest", "median", "highest", "+ in", "sure +", "sure -", "p med", "p sign"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        points = row.curve.points
        table.add_row(
            as_name(row.persona),
            _signed(points[0].estimate) if points else "-",
            _signed(row.curve.median),
            _signed(points[-1].estimate) if points else "-",
            f"{percent(row.curve.positive, 0)}%" if points else "-",
            str(row.curve.above),
            str(row.curve.below),
            _p(row.curve.p_median_together),
            _p(row.curve.p_sign_together),
        )
    yield table
    both = sum(row.curve.above > 0 and row.curve.below > 0 for row in control.labels)
    some = sum(row.curve.p_median_together <= 0.05 for row in control.labels)
    yield Text(
        f"Over all configurations together, {some} of {count(len(control.labels), 'label')} "
        f"differ somewhere (p med); {both} are shown to be above in one configuration and below "
        "in another. All configurations share their questions, so a difference that shows up in "
        "many of them is not confirmed many times."
    )


def _rests_on(model: ModelContrasts) -> str:
    text = f"{count(len(model.configurations), 'configuration')}, "
    text += count(model.questions, "question")
    if model.clusters != model.questions:
        effects = [row.design_effect for c in model.controls for row in c.labels]
        known = sorted(e for e in effects if not math.isnan(e))
        text += f" in {count(model.clusters, 'cluster')}"
        if known:
            text += f" (design effect {known[0]:.2f} to {known[-1]:.2f})"
    fewest = min(
        (row.fewest_questions for c in model.controls for row in c.labels),
        default=model.questions,
    )
    if fewest < model.questions:
        text += f"; missing answers leave as few as {fewest:,} questions to a comparison"
    return text


def _points(value: float) -> str:
    return f"{value:g} point{'' if value == 1 else 's'}"


def _signed(value: float) -> str:
    return f"{value:+.2f}" if math.isfinite(value) else "-"


def _interval(low: float, high: float) -> str:
    return f"{low:+.1f} to {high:+.1f}" if math.isfinite(low) else "-"


def _p(value: float) -> str:
    if not math.isfinite(value):
        return "-"
    return "<.001" if value < 0.001 else f"{value:.3f}".removeprefix("0")
