"""Commands about asking: init, plan, run, status, schema."""

from __future__ import annotations

from enum import StrEnum
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from nongrata.cli.options import (
    JsonOption,
    LimitOption,
    OutOption,
    RunArgument,
    SetOption,
    StudyArgument,
    console,
    error_console,
    print_json,
)
from nongrata.errors import NongrataError
from nongrata.personas import persona_warnings
from nongrata.terminal import visible


class Where(StrEnum):
    """Where a run's engines are."""

    LOCAL = "local"
    RAY = "ray"


def init(
    path: Annotated[Path, typer.Argument(help="Where to write the study.")] = Path("study.yaml"),
    preset: Annotated[
        str | None, typer.Option(help="Start from a preset instead, such as paper or demo.")
    ] = None,
) -> None:
    """Write a commented study to start from."""
    from nongrata.presets import preset_text

    if preset is None:
        text = resources.files("nongrata.presets").joinpath("template.yaml").read_text("utf-8")
    else:
        text = preset_text(preset)
    try:
        with path.open("x", encoding="utf-8") as handle:
            handle.write(text)
    except FileExistsError:
        raise NongrataError(
            "this file exists", where=path, fix="give another path; nothing was written"
        ) from None
    except OSError as error:
        raise NongrataError(f"cannot be written: {error.strerror}", where=path) from None
    out = console()
    out.print(f"wrote {visible(str(path))}")
    out.print(f"next: nongrata plan {visible(str(path))}")


def plan(
    study: StudyArgument,
    overrides: SetOption = None,
    limit: LimitOption = None,
    show: Annotated[
        int, typer.Option("--show", min=0, metavar="N", help="Show N prompts as they are sent.")
    ] = 0,
    speed: Annotated[
        float | None,
        typer.Option(min=1e-6, metavar="X", help="Passes a second, for the time it will take."),
    ] = None,
    speed_from: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN|FILE",
            help="Take the speed that was measured in a run, or the speeds in a file.",
        ),
    ] = None,
    calibrate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL|all",
            help="Open this model, or each, and measure its speed with some of the study's "
            "requests; may be repeated. Nothing is stored.",
        ),
    ] = None,
    calibrate_seconds: Annotated[
        float, typer.Option(min=0.1, metavar="S", help="For how long, warm-up not counted.")
    ] = 60.0,
    save_speeds: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Keep what was measured, for --speed-from."),
    ] = None,
    engines: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="N",
            help="Plan with N engines side by side (--executor ray), each at that speed.",
        ),
    ] = 1,
    as_json: JsonOption = False,
) -> None:
    """Count what a study asks and what that takes; with --calibrate, measure how long."""
    from nongrata.cli.speeds import find_speeds, speed_table
    from nongrata.loading import load_study
    from nongrata.plan_summary import plan_study, prompt_examples, summarise_plan

    loaded = load_study(study, overrides or ())
    planned, questions, mean_chars, known = plan_study(loaded, limit)
    speeds = find_speeds(
        loaded,
        speed=speed,
        speed_from=speed_from,
        models=calibrate or (),
        seconds=calibrate_seconds,
        save=save_speeds,
        limit=limit,
    )
    summary = summarise_plan(
        planned, questions, mean_chars, questions_known=known, speeds=speeds, engines=engines
    )
    examples = prompt_examples(planned, show) if show else []
    sent = _as_sent(loaded, examples)
    if as_json:
        from dataclasses import asdict

        value: dict[str, Any] = {**summary.as_dict(), "limit": limit}
        if show:
            value["prompts"] = [
                {k: v for k, v in asdict(example).items() if k != "messages"} | {"as_sent": texts}
                for example, texts in zip(examples, sent, strict=True)
            ]
        print_json(value)
        return
    out = console()
    if limit is not None:
        out.print(f"LIMITED to {limit} questions: not a result", style="bold yellow")
    out.print(_plan_table(summary))
    speeds_shown = speed_table(summary)
    if speeds_shown is not None:
        out.print(speeds_shown)
    if not known:
        out.print(
            "The question files are not here; the declared numbers were used.", style="yellow"
        )
    for warning in persona_warnings(planned.personas):
        out.print(f"note: {visible(warning)}", style="yellow")
    for number, (example, texts) in enumerate(zip(examples, sent, strict=True), 1):
        _print_example(out, number, example, texts)


def _as_sent(loaded: Any, examples: Any) -> list[dict[str, list[dict[str, Any]]]]:
    """Each example inside the chat template of each model whose file is on this machine."""
    from nongrata.engines import rendered_prompts

    sent: list[dict[str, list[dict[str, Any]]]] = [{} for _ in examples]
    for spec in loaded.study.models:
        rendered = rendered_prompts(spec, loaded.base, [e.messages for e in examples])
        for place, segments in zip(sent, rendered or (), strict=False):
            place[spec.id] = [{"text": text, "template": template} for text, template in segments]
    return sent


def _plan_table(summary: Any) -> Table:
    from nongrata.cli.speeds import add_speed_rows, add_token_rows

    table = Table("", "per model", "all models", title=f"Plan of {summary.study}", box=None)
    for column in table.columns[1:]:
        column.justify = "right"
    n = len(summary.models)
    levels = " x ".join(f"{count} {name}" for name, count in summary.factors.items())

    def row(name: str, one: float, unit: str = "") -> None:
        table.add_row(name, f"{one:,}{unit}", f"{one * n:,}{unit}")

    table.add_row("models", "", f"{n}")
    table.add_row("labels", f"{summary.labels} ({summary.controls} of them controls)", "")
    table.add_row("configurations", f"{summary.configurations} ({levels})", "")
    row("evaluations (label x configuration)", summary.evaluations_per_model)
    table.add_row("questions", f"{summary.questions:,}", "")
    table.add_row("replicates at positive temperature", f"{summary.replicates}", "")
    row("answers", summary.answers_per_model)
    table.add_row("distinct prompts a question", f"{summary.distinct_prompts_per_question:,}", "")
    names = {
        "first_token": "single passes a question (serve all temperatures)",
        "cloze": "likelihoods a question (serve all temperatures)",
        "free": "generations a question",
    }
    for reading, passes in summary.passes_per_question.items():
        answers = summary.answers_per_question[reading]
        fewer = f" ({answers / passes:.1f} times fewer)" if answers > passes else ""
        table.add_row(names[reading], f"{passes:,} for {answers:,} answers{fewer}", "")
    row("passes", summary.passes_per_model)
    add_token_rows(table, summary)
    table.add_row("disk, about", "", _bytes(summary.disk_bytes))
    add_speed_rows(table, summary)
    return table


def _print_example(out: Any, number: int, example: Any, sent: Any) -> None:
    levels = ", ".join(f"{factor} {level}" for factor, level in example.levels.items())
    out.print(
        f"\nPrompt {number}: {visible(example.persona)}, {levels}, "
        f"question {visible(example.question)}, read as {example.reading}",
        style="bold",
    )
    for model, segments in sent.items():
        out.print(f"[as sent to {visible(model)}; marks of the chat template in cyan]")
        line = Text()
        for segment in segments:
            line.append(visible(segment["text"]), style="cyan" if segment["template"] else "")
        out.print(line, soft_wrap=True)
    if sent:
        return
    for turn, text in (
        ("system", example.system),
        ("user", example.user),
        ("assistant begins", example.prefill),
    ):
        if turn == "assistant begins" and not text:
            continue
        out.print(f"[{turn}]", style="cyan")
        out.print(visible(text) if text else "(empty)", soft_wrap=True)


def run(
    study: StudyArgument,
    out: OutOption,
    overrides: SetOption = None,
    limit: LimitOption = None,
    retry_errors: Annotated[
        bool, typer.Option("--retry-errors", help="Ask again what ended in an error.")
    ] = False,
    executor: Annotated[
        Where, typer.Option(help="Where the engines are: in this process, or on a Ray cluster.")
    ] = Where.LOCAL,
    ray_address: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="auto: the cluster of RAY_ADDRESS or of this machine, or a new one; local: a new "
            "one; or a cluster's address.",
        ),
    ] = "auto",
    ray_workers: Annotated[
        int | None,
        typer.Option(metavar="N", help="Engines at most; by default as many as there is room for."),
    ] = None,
    cpus_per_worker: Annotated[float, typer.Option(metavar="X", help="CPUs of each engine.")] = 1.0,
    gpus_per_worker: Annotated[float, typer.Option(metavar="X", help="GPUs of each engine.")] = 0.0,
    as_json: JsonOption = False,
) -> None:
    """Ask what a study asks, or go on with it; the same command again loses nothing."""
    from nongrata.cli.progress import RunProgress
    from nongrata.executors import RayOptions, open_executor
    from nongrata.loading import load_study
    from nongrata.runner import run_study

    ray = RayOptions(ray_address, ray_workers, cpus_per_worker, gpus_per_worker)
    engines = open_executor(ray if executor is Where.RAY else None)
    loaded = load_study(study, overrides or ())
    shown = error_console()
    try:
        with RunProgress(shown) as progress:
            summary = run_study(
                loaded, out, progress, limit=limit, retry_errors=retry_errors, executor=engines
            )
    except KeyboardInterrupt:
        shown.print("\nstopped; the same command goes on from what is committed")
        raise SystemExit(130) from None
    if as_json:
        from dataclasses import asdict

        print_json(
            {
                "kind": "run",
                "run": str(out),
                "requests": summary.requests,
                "requests_before": summary.requests_before,
                "answers": summary.answers,
                "seconds": round(summary.seconds, 3),
                "errors": summary.errors,
                "limit": summary.limit,
                "costs": [asdict(cost) for cost in summary.costs],
                "damage": [
                    {"shard": item.name, "what": item.what, "rows": item.rows}
                    for item in summary.damage
                ],
            }
        )
        return
    result = console()
    if limit is not None:
        result.print(f"LIMITED to {limit} questions: not a result", style="bold yellow")
    result.print(str(summary))
    if summary.errors:
        result.print(
            f"{summary.errors:,} requests ended in an error: see nongrata status; "
            "--retry-errors asks them again",
            style="yellow",
        )
    for cost in summary.costs:
        result.print(f"used so far: {visible(str(cost))}")
    result.print(f"next: nongrata analyze {visible(str(out))}")


def status(run: RunArgument, as_json: JsonOption = False) -> None:
    """Say how far a run is, and whether all of it is whole."""
    from nongrata.run_status import run_status

    found = run_status(run)
    if as_json:
        print_json(found.as_dict())
        return
    out = console()
    for line in found.warnings():
        out.print(visible(line), style="bold yellow")
    state = "complete" if found.complete else "not complete"
    size = _bytes(found.bytes)
    out.print(f"{visible(found.study)} in {visible(found.run)}: {state}, {size}")
    for model in found.models:
        share = model.requests / max(1, model.requests_in_all)
        out.print(f"\n{visible(model.id)}", style="bold")
        out.print(f"  requests  {model.requests:,} of {model.requests_in_all:,} ({share:.1%})")
        out.print(f"  answers   {model.answers:,} of {model.answers_in_all:,}")
        for name, part in sorted(model.outcome_shares.items(), key=lambda item: -item[1]):
            out.print(f"  {name:<9} {part:.1%} of generated texts")
        if model.cached_share is not None:
            out.print(f"  cached    {model.cached_share:.0%} of prompt tokens")


def schema() -> None:
    """Print the JSON Schema of a study file, for editors."""
    from nongrata.study_schema import study_schema

    print_json(study_schema())


def _bytes(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:,.0f} {unit}"
        count /= 1000
    return f"{count:,.1f} TB"
