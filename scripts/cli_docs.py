"""Write docs/cli.md and docs/study.schema.json from the code, or check that they are up to date.

Run: python scripts/cli_docs.py [--check]
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import typer.main
from typer.cli import get_docs_for_click

from nongrata.cli import app, register
from nongrata.study_schema import study_schema

DOCS = Path(__file__).parents[1] / "docs"
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
    wanted = {
        "cli.md": page(),
        "study.schema.json": json.dumps(study_schema(), indent=1) + "\n",
    }
    for name, text in wanted.items():
        path = DOCS / name
        if "--check" not in sys.argv[1:]:
            path.write_text(text, encoding="utf-8")
        elif not path.is_file() or path.read_text(encoding="utf-8") != text:
            sys.exit(f"{name} is not what the code says; run scripts/cli_docs.py")


if __name__ == "__main__":
    main()
