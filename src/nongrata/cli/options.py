"""Options and output habits that the commands share."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import IO, Annotated, Any, cast

import typer
from rich.console import Console

from nongrata.run_path import run_path

StudyArgument = Annotated[
    str,
    typer.Argument(
        metavar="STUDY",
        help="A study file, or a preset: paper, paper-hosted, paper-ray, paper-vllm-1gpu, "
        "paper-vllm-8gpu, demo, smoke.",
    ),
]
RunArgument = Annotated[
    Path,
    typer.Argument(
        parser=run_path,
        metavar="RUN",
        help="A run directory, or its address in an object store: s3://bucket/run.",
        show_default=False,
    ),
]
OutOption = Annotated[
    Path,
    typer.Option(
        "--out",
        parser=run_path,
        metavar="RUN",
        help="The run directory, or its address in an object store: s3://bucket/run.",
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY.KEY=VALUE",
        help="Override a value of the study; may be repeated. List items go by id or index: "
        "--set models.demo.workers=1",
    ),
]
LimitOption = Annotated[
    int | None,
    typer.Option(
        "--limit",
        min=1,
        metavar="N",
        help="Ask only N questions, taken from the sources in turn. Marks all output as no result.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON to standard output.")]


def console() -> Console:
    """For results: standard output; respects NO_COLOR, width and pipes.

    Tables are never squeezed below 72 columns: a narrower terminal folds the lines itself, which
    keeps every row readable. In a pipe or a file no line ends in the spaces that pad a table.
    """
    found = Console(highlight=False, markup=False)
    file = None if found.is_terminal else cast("IO[str]", Unpadded(sys.stdout))
    return Console(highlight=False, markup=False, width=max(found.width, 72), file=file)


class Unpadded:
    r"""A text file whose lines lose their trailing spaces.

    Parameters
    ----------
    file
        Where they go.

    Examples
    --------
    >>> import io
    >>> under = io.StringIO()
    >>> Unpadded(under).write("a  b   \nc \n")
    11
    >>> under.getvalue()
    'a  b\nc\n'
    """

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, text: str) -> int:
        """Write a text, whole lines at a time."""
        self._file.write(re.sub(r" +(?=\n)", "", text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def error_console() -> Console:
    """For progress and notes: standard error."""
    return Console(stderr=True, highlight=False, markup=False)


def print_json(value: Any) -> None:
    """Print one JSON document, ASCII only, so that nothing in it can steer a terminal."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=True, allow_nan=False) + "\n")
