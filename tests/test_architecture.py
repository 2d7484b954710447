from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "nongrata"
PAGE = ROOT / "docs" / "architecture.md"
# the package's front door names everything, lazily; `python -m` is the command line
FRONT = {"__init__.py", "__main__.py", "py.typed"}


def floors() -> dict[str, int]:
    """Floor of each top-level module or folder, from the page; 0 is the lowest."""
    block = PAGE.read_text(encoding="utf-8").split("```")[1]
    rows = []
    for line in block.strip().splitlines():
        names = []
        for word in line.split():
            if not word.endswith((".py", "/")):
                break
            names.append(word.rstrip("/"))
        rows.append(names)
    return {name: floor for floor, names in enumerate(reversed(rows)) for name in names}


def home(parts: tuple[str, ...]) -> str:
    """Name on the page of a module path inside the package."""
    first = parts[0]
    return first if (SOURCE / first).is_dir() else f"{first}.py"


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names = [node.module]
            if node.module == "nongrata":
                names = [f"nongrata.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            parts = tuple(name.split("."))
            if parts[0] == "nongrata" and len(parts) > 1:
                found.add(home(parts[1:]))
    return found


def test_every_module_stands_on_the_page() -> None:
    there = {path.name for path in SOURCE.iterdir() if not path.name.startswith("__pycache__")}
    assert there - FRONT == set(floors())


FILES = sorted(
    path for path in SOURCE.rglob("*.py") if path.parent != SOURCE or path.name not in FRONT
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_file_imports_only_from_floors_below(path: Path) -> None:
    rank = floors()
    own = home(path.relative_to(SOURCE).with_suffix("").parts)
    wrong = {name for name in imports(path) - {own} if rank[name] > rank[own]}
    assert not wrong, f"{own} imports {sorted(wrong)}, which lie above it"


def test_no_file_is_long_without_a_reason() -> None:
    long = {
        str(path.relative_to(SOURCE)): count
        for path in SOURCE.rglob("*.py")
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > 420
    }
    assert set(long) <= {"study.py"}  # one class after another, each a part of the file's form
