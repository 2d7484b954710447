"""Print one of the README's two set-up commands, so that what is checked is what it says.

Run: python scripts/readme_command.py 1|2
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def commands() -> list[str]:
    """The README's commands that make a virtual environment, in order."""
    blocks = re.findall(
        r"^```sh\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    return [block.strip() for block in blocks if "-m venv" in block]


if __name__ == "__main__":
    print(commands()[int(sys.argv[1]) - 1])
