"""The command line: parse, call, print."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated

import typer

from nongrata._version import __version__
from nongrata.errors import NongrataError

app = typer.Typer(
    name="nongrata",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Does a conclusion about persona prompts survive a change of prompt? Runs crossed "
    "multiple-choice evaluations of language models and measures what in them is stable.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"nongrata {__version__}\n")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; a mistake of the user's is one sentence and exit status 2."""
    for stream in (sys.stdout, sys.stderr):
        # a terminal that cannot show a character shows its number instead
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        from nongrata.cli import register

        register.commands(app)
        app()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except NongrataError as error:
        from nongrata.terminal import visible

        sys.stderr.write(f"nongrata: {visible(str(error))}\n")
        raise SystemExit(2) from None
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            # whoever read our output has had enough; keep the interpreter from complaining
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise SystemExit(1) from None
        from nongrata.terminal import visible

        where = error.filename or "the output"
        sys.stderr.write(f"nongrata: {visible(str(where))}: {error.strerror or error}\n")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(2) from None
