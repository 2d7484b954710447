"""Commands about answers: analyze, rerun and show."""

from __future__ import annotations

import itertools
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from nongrata.cli.analysis_options import (
    DrawsOption,
    SeedOption,
    SmallestEffectOption,
    SplitsOption,
    UnreadAs,
    UnreadOption,
    ValueOf,
    ValueOption,
    results_of,
)
from nongrata.cli.loading import load, warnings_of
from nongrata.cli.options import JsonOption, RunArgument, console, error_console, print_json
from nongrata.terminal import shorten, visible

if TYPE_CHECKING:
    from nongrata.answer_view import AnswerView


class PersonaSet(StrEnum):
    """Which personas figures rest on."""

    LABELS = "labels"
    WITH_CONTROLS = "with_controls"
    AS_PREPRINT = "as_preprint"


class About(StrEnum):
    """Parts of the analysis."""

    INSTABILITY = "instability"
    CHANCE = "chance"
    LABELS = "labels"
    OUTCOMES = "outcomes"
    ACCURACY = "accuracy"
    RANKING = "ranking"
    CONTRASTS = "contrasts"
    TASK_FORMAT = "task-format"
    COMPONENTS = "components"
    AGREEMENT = "agreement"
    HELD_OUT = "held-out"
    COMPARISONS = "comparisons"
    ALL = "all"


def analyze(
    run: RunArgument,
    about: Annotated[
        list[About] | None,
        typer.Option(
            "--about",
            help="Which part to print; may be repeated. Left out: the first four. JSON has all.",
        ),
    ] = None,
    unread: UnreadOption = UnreadAs.WRONG,
    value: ValueOption = ValueOf.DRAWS,
    smallest_effect: SmallestEffectOption = 1.0,
    draws: DrawsOption = 2000,
    splits: SplitsOption = 100,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Say how much accuracy, ranking and the right questions depend on the configuration.

    The tables need the analysis alone. JSON holds everything that is computed about a study:
    findings, temperature curves and provenance too, each number of a report at its place.
    """
    from nongrata.cli.progress import StepProgress

    if as_json:
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
        print_json(results.as_dict())
        return
    from nongrata.analysis import Resampling
    from nongrata.analysis import analyze as analyze_dataset

    warnings_of(run)  # that there are answers is said before anything is drawn
    with StepProgress(error_console()) as progress:
        analysis = analyze_dataset(
            load(run, progress.step("reading answers")),
            value=value.value,
            unread=unread.value,
            smallest_effect=smallest_effect,
            resampling=Resampling(draws, splits, seed),
            progress=progress.step("analysing"),
        )
    from nongrata.report.terminal.analysis import OVERVIEW, SECTIONS, render_analysis

    wanted = {name.value.replace("-", "_") for name in about or ()}
    chosen = SECTIONS if "all" in wanted else [name for name in SECTIONS if name in wanted]
    console().print(render_analysis(analysis, chosen or OVERVIEW))


def rerun(
    run: RunArgument,
    draws: Annotated[int, typer.Option(min=2, metavar="N", help="How many re-runs.")] = 500,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the re-runs' random numbers.")] = 0,
    personas: Annotated[
        PersonaSet,
        typer.Option(help="Labels alone, with controls, or everything as in the preprint."),
    ] = PersonaSet.LABELS,
    as_json: JsonOption = False,
) -> None:
    """Say how far the same study's figures would differ, had it been run another time.

    Answers are drawn anew from their probabilities, so no model is asked. What is shown is the
    sampling noise of this study, not uncertainty about other questions or formats.
    """
    from nongrata.analysis.rerun import rerun as draw_again
    from nongrata.cli.progress import StepProgress

    warnings = warnings_of(run)
    with StepProgress(error_console()) as progress:
        dataset = load(run, progress.step("reading answers"))
        tell = progress.step("drawing re-runs")
        result = draw_again(dataset, personas.value, draws=draws, seed=seed, progress=tell)
    if as_json:
        print_json(result.as_dict() | {"notices": warnings})
        return
    from nongrata.report.terminal.rerun_table import render_rerun

    out = console()
    for warning in warnings:
        out.print(visible(warning), style="bold yellow")
    out.print(render_rerun(result))


def show(
    run: RunArgument,
    question: Annotated[str, typer.Option(metavar="ID", help="Id of the question.")],
    persona: Annotated[
        str | None, typer.Option(metavar="ID", help="Only this label; left out: all of them.")
    ] = None,
    model: Annotated[str | None, typer.Option(metavar="ID", help="Only this model.")] = None,
    prompts: Annotated[
        bool, typer.Option("--prompts", help="Print each distinct prompt in full.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show the prompt sent and the answer got, side by side over configurations."""
    from nongrata.answer_view import view_answers
    from nongrata.manifest import Manifest

    asked, views = view_answers(run, question, persona=persona, model=model)
    notices = Manifest.read(run).warnings()
    if as_json:
        print_json(
            {
                "kind": "answers",
                "notices": notices,
                "question": {
                    "id": asked.id,
                    "context": asked.context,
                    "question": asked.question,
                    "choices": list(asked.choices),
                    "answer": asked.answer,
                },
                "answers": [view.as_dict() for view in views],
            }
        )
        return
    out = console()
    for notice in notices:
        out.print(visible(notice), style="bold yellow")
    out.print(visible(asked.id), style="bold")
    for text in (asked.context, asked.question):
        if text:
            out.print(visible(text))
    for index, choice in enumerate(asked.choices):
        mark = "*" if index == asked.answer else " "
        out.print(f" {mark} {visible(choice)}")
    out.print("(* the right option)\n")
    if prompts:
        _print_prompts(out, views)
    for (name, label), group in itertools.groupby(views, lambda view: (view.model, view.persona)):
        title = label if len({view.model for view in views}) == 1 else f"{name}: {label}"
        out.print(visible(title, one_line=True), style="bold")
        out.print(_table(list(group)))


def _print_prompts(out: Console, views: list[AnswerView]) -> None:
    seen: set[tuple[str, str, str]] = set()
    for view in views:
        key = (view.system, view.user, view.prefill)
        if key in seen:
            continue
        seen.add(key)
        levels = ", ".join(f"{factor} {level}" for factor, level in view.levels.items())
        out.print(f"{visible(view.persona)}, {levels}", style="bold")
        out.print("[system]", style="cyan")
        out.print(visible(view.system) or "(empty)", soft_wrap=True)
        out.print("[user]", style="cyan")
        out.print(visible(view.user), soft_wrap=True)
        if view.prefill:
            out.print("[assistant begins]", style="cyan")
            out.print(visible(view.prefill), soft_wrap=True)
        out.print("")


def _table(views: list[AnswerView]) -> Table:
    """One label's answers of one model, a row per configuration."""
    replicated = any(view.replicate for view in views)
    table = Table(box=None, pad_edge=False, expand=True)
    table.add_column(" · ".join(views[0].levels), overflow="fold")
    if replicated:
        table.add_column("replicate", justify="right")
    table.add_column("answer", no_wrap=True)
    table.add_column("what was got", overflow="fold", ratio=1)
    for view in views:
        cells = [" · ".join(view.levels.values())]
        cells += [str(view.replicate)] if replicated else []
        cells += [_verdict(view), _got(view)]
        style = {True: "green", False: None, None: "dim"}[view.correct]
        table.add_row(*(Text(visible(cell, one_line=True)) for cell in cells), style=style)
    return table


def _verdict(view: AnswerView) -> str:
    if view.outcome is None:
        return "not asked yet"
    if view.outcome != "answered":
        return view.outcome
    return f"{view.label} {'right' if view.correct else 'wrong'}"


def _got(view: AnswerView) -> str:
    note = " [same request as above]" if view.duplicate else ""
    if view.error:
        return shorten(view.error, 90) + note
    if view.label_probabilities is not None:
        shares = {**view.label_probabilities, "other": view.outside or 0.0}
        return " ".join(f"{label} {_short(p)}" for label, p in shares.items()) + note
    if view.text is None:
        return note.strip()
    return f"{shorten(view.text, 90)} [read by {view.rule}]{note}"


def _short(probability: float) -> str:
    """Two decimals without the leading zero: .07."""
    return f"{probability:.2f}".removeprefix("0") if probability < 0.995 else "1"
