"""``nongrata questions``: look at questions, and at what is odd about them, before a study."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nongrata.errors import NongrataError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from nongrata.questions.checks.report import Finding, QuestionsReport
    from nongrata.questions.model import Question
    from nongrata.questions.source import SourceSpec

app = typer.Typer(
    name="questions",
    help="Check question files for what biases or breaks a study, and show questions.",
    no_args_is_help=True,
)

Paths = Annotated[
    list[str] | None, typer.Argument(help="Files, a folder or a pattern.", metavar="[PATH]...")
]
Study = Annotated[
    str | None,
    typer.Option("--study", help="Take the sources from this study, or preset, instead."),
]
Format = Annotated[
    str,
    typer.Option(
        "--format",
        help="normalised, mmlu_hub, mmlu_original, socialiqa_original, socialiqa_hub, normad_csv, "
        "table or starter.",
    ),
]
SourceId = Annotated[str | None, typer.Option("--source", help="Name of the source.")]
Labels = Annotated[str | None, typer.Option(help="Labels file of socialiqa_original.")]
Condition = Annotated[
    str | None, typer.Option(help="NormAd: none, country, value or rule_of_thumb.")
]
ColumnOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        help="For a table: question=NAME, answer=NAME, choices=NAME (again for each choice), and "
        "id, context, subject, cluster.",
    ),
]
AnswerFormOption = Annotated[
    str | None, typer.Option("--answer-form", help="For a table: index0, index1, letter or text.")
]

SEVERITY_STYLE = {"error": "bold red", "warning": "yellow", "note": "dim"}
IDS_SHOWN = 3


@dataclass(frozen=True, slots=True)
class _Origin:
    sources: tuple[SourceSpec, ...]
    base: Path
    domains: Path | None = None
    seed: int = 0


@app.command()
def check(
    paths: Paths = None,
    study: Study = None,
    format_: Format = "normalised",
    source: SourceId = None,
    labels: Labels = None,
    condition: Condition = None,
    column: ColumnOptions = None,
    answer_form: AnswerFormOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    all_ids: Annotated[bool, typer.Option("--ids", help="Print every id concerned.")] = False,
) -> None:
    """Report duplicates, contradictions, leaks, and texts that loaders or templates mangle.

    Sources are read whole and in the order of their files, whatever a study draws from them.
    """
    from nongrata.questions.checks import check_questions
    from nongrata.questions.composite import load_all

    origin = _origin(paths, study, format_, source, labels, condition, column, answer_form)
    questions = load_all(origin.sources, base=origin.base, domains=origin.domains)
    report = check_questions(questions)
    if as_json:
        typer.echo(report.to_json())
    else:
        _print(*_rendered(report, all_ids=all_ids))


@app.command()
def show(
    paths: Paths = None,
    study: Study = None,
    format_: Format = "normalised",
    source: SourceId = None,
    labels: Labels = None,
    condition: Condition = None,
    column: ColumnOptions = None,
    answer_form: AnswerFormOption = None,
    id_: Annotated[
        list[str] | None, typer.Option("--id", help="Show this question; may be repeated.")
    ] = None,
    n: Annotated[int, typer.Option("--n", min=1, help="Show so many of the drawn ones.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Show questions as a study would have them: context, choices, right answer, groupings.

    Control characters are written out as escapes; nothing in a text is interpreted.
    """
    from nongrata.questions.composite import build_questions, load_all

    origin = _origin(paths, study, format_, source, labels, condition, column, answer_form)
    if id_:
        whole = {
            q.id: q for q in load_all(origin.sources, base=origin.base, domains=origin.domains)
        }
        shown = [_by_id(whole, identity) for identity in id_]
    else:
        drawn = build_questions(
            origin.sources, seed=origin.seed, base=origin.base, domains=origin.domains
        )
        shown = list(drawn[:n])
    if as_json:
        from dataclasses import asdict

        from nongrata.cli.options import print_json

        print_json({"kind": "questions", "questions": [asdict(question) for question in shown]})
        return
    for question in shown:
        _print(_question(question), "")


def _by_id(whole: dict[str, Question], identity: str) -> Question:
    from nongrata.questions.source import suggestion

    try:
        return whole[identity]
    except KeyError:
        raise NongrataError(
            f"there is no question '{identity}'", fix=suggestion(identity, tuple(whole))
        ) from None


def _origin(
    paths: list[str] | None,
    study: str | None,
    format_: str,
    source: str | None,
    labels: str | None,
    condition: str | None,
    column: list[str] | None,
    answer_form: str | None,
) -> _Origin:
    if study is not None:
        if paths:
            raise NongrataError("give files or --study, not both")
        from nongrata.loading import load_study

        loaded = load_study(study)
        declared = loaded.study.questions
        domains = None if declared.domains is None else loaded.base / declared.domains
        return _Origin(declared.sources, loaded.base, domains, declared.seed)
    if not paths and format_ != "starter":
        raise NongrataError("there is nothing to read", fix="name a file, or a study with --study")
    given: dict[str, Any] = {
        "id": source or _source_name(paths),
        "format": format_,
        "path": paths or None,
        "labels": labels,
        "condition": condition,
        "columns": _columns(column),
        "answer_form": answer_form,
    }
    return _Origin((_validated({k: v for k, v in given.items() if v is not None}),), Path())


def _validated(given: dict[str, Any]) -> SourceSpec:
    from pydantic import ValidationError

    from nongrata.questions.source import SourceSpec
    from nongrata.yaml_files import Document, explain

    try:
        return SourceSpec.model_validate(given)
    except ValidationError as error:
        told = explain(error, Document("options", given, {(): 1}))
        field = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise NongrataError(told.what, where=f"--{field}" if field else None) from None


def _source_name(paths: list[str] | None) -> str:
    """Name a source by its first file, in the letters a source's name may have."""
    import re

    if not paths:
        return "starter"
    stem = Path(paths[0]).name.split(".")[0]
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", stem).strip("-._") or "questions"


def _columns(given: list[str] | None) -> dict[str, Any] | None:
    if not given:
        return None
    columns: dict[str, Any] = {}
    choices: list[str] = []
    for item in given:
        key, found, name = item.partition("=")
        if not found:
            raise NongrataError(f"'{item}' is not KEY=NAME", where="--column")
        if key == "choices":
            choices.append(name)
        else:
            columns[key] = name
    if choices:
        columns["choices"] = choices[0] if len(choices) == 1 else choices
    return columns


def _print(*parts: RenderableType) -> None:
    from rich.console import Console

    # neither markup nor emoji codes nor highlighting: the texts are other people's
    console = Console(markup=False, emoji=False, highlight=False)
    for part in parts:
        console.print(part)


def _rendered(report: QuestionsReport, *, all_ids: bool) -> list[RenderableType]:
    from rich.text import Text

    from nongrata.terminal import visible

    def line(text: str, style: str = "") -> Text:
        return Text(visible(text, one_line=True), style=style)

    sources = ", ".join(f"{name} {n:,}" for name, n in report.sources)
    domains = ", ".join(f"{name} {n:,}" for name, n in report.domains)
    parts: list[RenderableType] = [
        line(f"{report.n:,} questions ({sources})", "bold"),
        line(f"domains: {domains}"),
        line(f"sha256: {report.sha256}"),
        *(line(f"note: {note}", "yellow") for note in report.notes),
        "",
        _findings_table(report.findings, all_ids=all_ids),
        "",
        line("Order and balance of right answers", "bold"),
        *(line(f"  {order}") for order in report.order),
        line("Lengths", "bold"),
        *(line(f"  {lengths}") for lengths in report.lengths),
        line("Does the wording give the answer away?", "bold"),
    ]
    for leak in report.leaks:
        parts.append(line(f"  {leak}"))
        parts += [line(f"    {ending}") for ending in leak.endings]
    return parts


def _findings_table(findings: tuple[Finding, ...], *, all_ids: bool) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    from nongrata.terminal import visible

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("finding", ratio=4)
    table.add_column("count", justify="right", no_wrap=True)
    table.add_column("where", ratio=3)
    table.add_column("what it does", ratio=4)
    for finding in findings:
        ids = finding.ids if all_ids else finding.ids[:IDS_SHOWN]
        more = len(finding.ids) - len(ids)
        where = ", ".join(ids) + (f", … {more:,} more" if more else "")
        table.add_row(
            Text(visible(finding.title, one_line=True), SEVERITY_STYLE[finding.severity]),
            f"{finding.count:,} {finding.unit[:-1] if finding.count == 1 else finding.unit}",
            Text(visible(where, one_line=True)),
            Text(visible(finding.why, one_line=True)),
        )
    return table


def _question(question: Question) -> RenderableType:
    from rich.text import Text

    from nongrata.terminal import visible

    text = Text()
    groups = [("domain", question.domain), ("subject", question.subject)]
    if question.cluster != question.id:
        groups.append(("cluster", question.cluster))
    text.append(visible(question.id, one_line=True), "bold")
    text.append("".join(f"  {k}: {visible(v, one_line=True)}" for k, v in groups if v), "dim")
    if question.context:
        text.append(f"\n{visible(question.context)}", "italic")
    text.append(f"\n{visible(question.question)}")
    for place, choice in enumerate(question.choices):
        right = place == question.answer
        text.append(
            f"\n{'✓' if right else ' '} {chr(ord('A') + place)}. ", "green" if right else ""
        )
        text.append(visible(choice), "green" if right else "")
    for name, value in question.fields:
        text.append(f"\n  {visible(name, one_line=True)}: {visible(value)}", "dim")
    return text
