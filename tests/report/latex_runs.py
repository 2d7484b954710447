"""Run pdfLaTeX on tables, without letting them run anything."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest


def preamble_of(tables: Iterable[str]) -> list[str]:
    """What the tables say in their first lines that they need."""
    found: dict[str, None] = {}
    for table in tables:
        for line in re.findall(r"^%   (\\usepackage\S+)$", table, re.MULTILINE):
            found.setdefault(line)
    return list(found)


def compiled(folder: Path, tables: Iterable[str], language: str = "") -> str:
    """The text of a document that holds the tables and nothing that they do not ask for."""
    tables = list(tables)
    # a small TeX has no other languages: then what they change cannot be tried
    babel = rf"\usepackage[{language}]{{babel}}" if has_file(f"{language}.ldf") else ""
    body = "\n\\clearpage\n".join(tables)
    lines = [r"\documentclass{article}", *preamble_of(tables), babel, r"\begin{document}"]
    (folder / "all.tex").write_text("\n".join([*lines, body, r"\end{document}"]), "utf-8")
    return pdflatex(folder, "all")


def has_file(name: str) -> bool:
    """Whether TeX has a file."""
    finder = shutil.which("kpsewhich")
    return (
        finder is not None and subprocess.run([finder, name], capture_output=True).returncode == 0
    )


def pdflatex(folder: Path, name: str) -> str:
    """Compile a file, or fail with what LaTeX said; the text of the pages, if it can be had."""
    program = shutil.which("pdflatex")
    if program is None:
        pytest.skip("pdflatex is not installed")
    options = ("-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error")
    ran = subprocess.run(
        [program, *options, f"{name}.tex"], cwd=folder, capture_output=True, timeout=300
    )
    log = ran.stdout.decode("latin-1")
    assert ran.returncode == 0, log[-3000:]
    assert "Missing character" not in log
    reader = shutil.which("pdftotext")
    if reader is None:
        return ""
    subprocess.run([reader, "-layout", f"{name}.pdf"], cwd=folder, check=True, timeout=60)
    return (folder / f"{name}.txt").read_text("utf-8")
