"""Pin what the README's commands install: versions and hashes, no addresses.

Run, with uv installed: python scripts/pin_requirements.py [--upgrade]
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
OPTIONS = (
    "--universal",
    "--generate-hashes",
    "--no-header",
    "--no-annotate",
    "--no-emit-index-url",
    "--no-emit-find-links",
    "--python-version=3.11",
)


def main() -> None:
    for extra in ("demo", "test", "dev"):
        subprocess.run(
            [
                *("uv", "pip", "compile", "--quiet", *OPTIONS, *sys.argv[1:]),
                *("pyproject.toml", "requirements/build.in", "--extra", extra),
                *("--output-file", f"requirements/{extra}.txt"),
            ],
            cwd=ROOT,
            check=True,
        )


if __name__ == "__main__":
    main()
