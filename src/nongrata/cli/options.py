"""Options and output habits that the commands share."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

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
    keeps every row readable.
    """
    found = Console(highlight=False, markup=False)
    return Console(highlight=False, markup=False, width=max(found.width, 72))


def error_console() -> Console:
    """For progress and notes: standard error."""
    return Console(stderr=True, highlight=False, markup=False)


def print_json(value: Any) -> None:
    """Print one JSON document, ASCII only, so that nothing in it can steer a terminal."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=True, allow_nan=False) + "\n")
