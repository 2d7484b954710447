"""``nongrata import``: answers that another program collected, for the same analyses."""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer

from nongrata.cli.options import JsonOption, console, error_console, print_json
from nongrata.errors import NongrataError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

app = typer.Typer(
    name="import",
    help="Bring in answers that another program collected, for the same analyses.",
    no_args_is_help=True,
)

FIRST_LINE, LINE_EVERY = 2.0, 5.0


class Wide(StrEnum):
    """What the rows of a matrix are."""

    ITEMS = "items"
    CONFIGURATIONS = "configurations"


class Empty(StrEnum):
    """What an empty answer means."""

    UNPARSED = "unparsed"
    MISSING = "missing"


def _column(what: str, **more: Any) -> Any:
    return typer.Option(metavar="COLUMN", help=what, **more)


@app.callback()
def _group() -> None:
    pass


@app.command()
def table(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A .csv, .tsv, .jsonl (or these .gz) or .parquet."),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where to put it: a new folder.")
    ],
    map_: Annotated[
        Path | None,
        typer.Option("--map", metavar="MAPPING", help="A YAML file of the options below."),
    ] = None,
    item: Annotated[
        list[str] | None, _column("The question; given twice, both columns together.")
    ] = None,
    answer: Annotated[str | None, _column("The answer given; needs --gold.")] = None,
    correct: Annotated[str | None, _column("Instead: whether it is right, 0/1.")] = None,
    gold: Annotated[str | None, _column("The right answer.")] = None,
    persona: Annotated[str | None, _column("The label or persona.")] = None,
    factor: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="A factor; NAME=COLUMN to rename it. Repeat."),
    ] = None,
    temperature: Annotated[str | None, _column("The sampling temperature, a factor too.")] = None,
    replicate: Annotated[
        str | None, _column("Which repeat it is; else repeated rows are repeats.")
    ] = None,
    model: Annotated[str | None, _column("The model.")] = None,
    cluster: Annotated[str | None, _column("Items that share a text or passage.")] = None,
    domain: Annotated[str | None, _column("The item's field.")] = None,
    source: Annotated[str | None, _column("The item's data set.")] = None,
    control: Annotated[
        list[str] | None, typer.Option(metavar="LABEL", help="A persona that is a control. Repeat.")
    ] = None,
    options: Annotated[
        str | None,
        typer.Option(metavar="N|A,B,C", help="How many options each item has, or their labels."),
    ] = None,
    options_column: Annotated[
        str | None, _column("Where the item's number of options stands.")
    ] = None,
    separator: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="What stands between repeats packed in a cell: '|'."),
    ] = None,
    delimiter: Annotated[
        str | None, typer.Option(metavar="CHAR", help="Between the cells of a CSV file: ';'.")
    ] = None,
    wide: Annotated[
        Wide | None, typer.Option(help="A matrix of answers; what its rows are.")
    ] = None,
    header: Annotated[
        str | None,
        typer.Option(metavar="PATTERN", help="Splits names of a matrix: '{persona}/{prompt}'."),
    ] = None,
    empty: Annotated[
        Empty | None,
        typer.Option(help="What an empty answer means; missing in a matrix, else unparsed."),
    ] = None,
    missing: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="An answer that means: not obtained. Repeat."),
    ] = None,
    fold_case: Annotated[
        bool, typer.Option("--fold-case", help="Take 'a' and 'A' for the same answer.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at anything malformed or there twice.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Import a table of answers: one a row, packed repeats, or a matrix.

    Then: nongrata analyze FOLDER. Nothing is guessed: say what the columns are.
    """
    from nongrata.interop.importing import import_to_folder
    from nongrata.interop.table_mapping import read_mapping

    given = {
        "item": tuple(item or ()),
        "answer": answer,
        "correct": correct,
        "gold": gold,
        "persona": persona,
        "temperature": temperature,
        "replicate": replicate,
        "model": model,
        "cluster": cluster,
        "domain": domain,
        "source": source,
        "controls": tuple(control or ()),
        "factors": _factors(factor or []),
        "options": _options(options),
        "options_column": options_column,
        "separator": separator,
        "delimiter": delimiter,
        "header": header,
        "wide": None if wide is None else wide.value,
        "missing": tuple(missing or ()),
        "empty": None if empty is None else empty.value,
        "fold_case": fold_case,
    }
    mapping = read_mapping(map_, given)
    with ImportProgress(error_console()) as progress:
        about = import_to_folder(file, out, mapping, strict=strict, step=progress.step)
    if as_json:
        print_json({key: value for key, value in about.items() if key != "cells"})
        return
    from nongrata.report.terminal.import_table import import_summary

    screen = console()
    for part in import_summary(about, str(out)):
        screen.print(part)


def _factors(given: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in given:
        name, equals, column = text.partition("=")
        if name in found:
            raise NongrataError(
                f"the factor '{name:.60}' is given twice",
                where=f"--factor {text:.60}",
                fix="name each column once",
            )
        found[name] = column if equals else name
    return found


def _options(given: str | None) -> int | tuple[str, ...] | None:
    if given is None:
        return None
    if given.isascii() and given.isdigit():
        return int(given)
    return tuple(part.strip() for part in given.split(","))


class ImportProgress:
    """Says how far an import is, from two seconds on, with its rate and the time left.

    Parameters
    ----------
    screen
        Where to say it.
    """

    def __init__(self, screen: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self._screen, self._clock = screen, clock
        self._began = self._last = clock()
        self._name, self._next = "", self._began + FIRST_LINE
        self._status: Any = None

    def step(self, name: str, done: int, total: int) -> None:
        """Say that a step is so far."""
        now = self._clock()
        if name != self._name:
            self._name, self._began = name, self._last
        self._last = now
        if now < self._next or not done:
            return
        spent = max(now - self._began, 1e-9)
        left = max(total - done, 0) * spent / done
        rate = done / spent
        things = "rows" if name == "reading rows" else "answers"
        speed = f"{rate / 1e6:,.1f} MB/s" if name == "reading" else f"{rate:,.0f} {things}/s"
        text = f"{name}: {min(done / max(total, 1), 1):.0%}, {speed}, {left:,.0f} s left"
        if self._screen.is_terminal:
            self._next = now + 0.2
            if self._status is None:
                self._status = self._screen.status(text)
                self._status.start()
            self._status.update(text)
        else:
            self._next = now + LINE_EVERY
            self._screen.print(text, soft_wrap=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()
