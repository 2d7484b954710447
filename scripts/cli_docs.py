"""Write docs/cli.md from the command line itself, or check that it is up to date.

Run: python scripts/cli_docs.py [--check]
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import typer.main
from typer.cli import get_docs_for_click

from nongrata.cli import app, register

PAGE = Path(__file__).parents[1] / "docs" / "cli.md"
NOTE = (
    "Generated from the command line by `python scripts/cli_docs.py`; do not edit. A mistake of "
    "the user's ends with status 2 and one sentence, an interrupted run with 130.\n\n"
)


def page() -> str:
    """The whole page."""
    register.commands(app)
    command: Any = typer.main.get_command(app)
    context = command.context_class(command, info_name="nongrata")
    text = get_docs_for_click(obj=command, ctx=context, name="nongrata", title="Command line")
    text = re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)
    head, _, rest = text.partition("\n\n")
    return f"{head}\n\n{NOTE}{rest.strip()}\n"


def main() -> None:
    text = page()
    if "--check" in sys.argv[1:]:
        if not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != text:
            sys.exit(f"{PAGE.name} is not what the command line says; run scripts/cli_docs.py")
        return
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
