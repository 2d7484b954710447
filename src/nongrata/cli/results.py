"""Commands about answers: analyze and show."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from nongrata.answer_view import AnswerView, view_answers
from nongrata.cli.options import JsonOption, RunArgument, console, print_json
from nongrata.terminal import shorten, visible


def analyze(run: RunArgument, as_json: JsonOption = False) -> None:
    """Say how much accuracy, ranking and the right questions depend on the configuration."""
    from nongrata.analysis import analyze as analyze_dataset
    from nongrata.responses import load_run

    analysis = analyze_dataset(load_run(run))
    if as_json:
        print_json(analysis.as_dict())
        return
    from nongrata.report.terminal import render_analysis

    console().print(render_analysis(analysis))


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
    asked, views = view_answers(run, question, persona=persona, model=model)
    if as_json:
        print_json(
            {
                "kind": "answers",
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
    out.print(_table(views))


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
    table = Table(box=None, pad_edge=False)
    several_models = len({view.model for view in views}) > 1
    replicated = any(view.replicate for view in views)
    names = (["model"] if several_models else []) + ["label"]
    names += list(views[0].levels) if views else []
    names += (["replicate"] if replicated else []) + ["answer", "", "read by", "what was got"]
    for name in names:
        table.add_column(name, overflow="fold")
    for view in views:
        cells = ([view.model] if several_models else []) + [view.persona, *view.levels.values()]
        cells += [str(view.replicate)] if replicated else []
        mark = {True: "right", False: "wrong", None: "-"}[view.correct]
        if view.outcome not in {None, "answered"}:
            mark = view.outcome or "-"
        note = " (same request as an earlier cell)" if view.duplicate else ""
        cells += [view.label or "-", mark, view.rule or "not asked yet", _got(view) + note]
        style = {True: "green", False: None, None: "dim"}[view.correct]
        table.add_row(*(Text(visible(cell, one_line=True)) for cell in cells), style=style)
    return table


def _got(view: AnswerView) -> str:
    if view.error:
        return shorten(view.error, 90)
    if view.label_probabilities is not None:
        shares = "  ".join(f"{label} {p:.3f}" for label, p in view.label_probabilities.items())
        return f"{shares}  other {view.outside:.3f}"
    return shorten(view.text or "", 90)
