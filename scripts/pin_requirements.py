"""Pin what the README's commands and the tests of heavy parts install: versions and hashes.

PyTorch is left out of ``engines.txt``: which build of it to install depends on the machine.

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
    for extra in ("demo", "test", "dev", "engines", "browser"):
        without = ["--override", "requirements/no-torch.in"] if extra == "engines" else []
        subprocess.run(
            [
                *("uv", "pip", "compile", "--quiet", *OPTIONS, *sys.argv[1:]),
                *without,
                *("pyproject.toml", "requirements/build.in", "--extra", extra),
                *("--output-file", f"requirements/{extra}.txt"),
            ],
            cwd=ROOT,
            check=True,
        )


if __name__ == "__main__":
    main()
