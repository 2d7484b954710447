"""Command: which commits to pin a study's models to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nongrata.cli.options import JsonOption, StudyArgument, console, print_json
from nongrata.errors import NongrataError
from nongrata.terminal import visible


def pin(
    study: StudyArgument,
    every: Annotated[
        bool, typer.Option("--all", help="Look up pinned models too, and pin them anew.")
    ] = False,
    write: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the study with the commits to a new file."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Ask the Hub for the commits of a study's models, so that they can be pinned."""
    from dataclasses import asdict

    from nongrata.pin import find_pins, pinned_text

    pins = find_pins(study, every=every)
    if write is not None:
        text = pinned_text(study, pins)
        try:
            with write.open("x", encoding="utf-8", newline="") as handle:
                handle.write(text)
        except FileExistsError:
            raise NongrataError(
                "this file exists", where=write, fix="give another path; nothing was written"
            ) from None
    if as_json:
        print_json({"kind": "pins", "pins": [asdict(pin) for pin in pins]})
        return
    out = console()
    if not pins:
        out.print("every model that is fetched from the Hub is pinned")
        return
    for found in pins:
        moved = found.pinned is not None and found.pinned != found.latest
        before = f", the study has {found.pinned}" if moved else ""
        line = f"{visible(found.model)}: main of {found.repo} is {found.latest}{before}"
        out.print(line, soft_wrap=True)
    if write is not None:
        out.print(f"wrote {visible(str(write))}")
        return
    out.print("\nto pin them:")
    for found in pins:
        out.print(f"  {found.override}", soft_wrap=True)
