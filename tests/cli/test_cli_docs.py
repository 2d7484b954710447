from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_the_page_about_the_command_line_is_what_it_says() -> None:
    script = Path(__file__).parents[2] / "scripts" / "cli_docs.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
