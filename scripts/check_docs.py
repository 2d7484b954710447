"""Check the pages: links lead somewhere, code blocks in YAML and Python are valid.

Run: python scripts/check_docs.py
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def pages() -> list[Path]:
    """All Markdown pages."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")]
    return sorted(found)


def mistakes(page: Path) -> Iterator[str]:
    """What is wrong on a page."""
    text = page.read_text(encoding="utf-8")
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    for target in LINK.findall(prose):
        if not target.startswith(("http://", "https://", "mailto:")):
            path = (page.parent / target).resolve()
            if not path.exists():
                yield f"the link to {target} leads nowhere"
    for language, body in BLOCK.findall(text):
        try:
            if language == "yaml":
                yaml.safe_load(body)
            elif language == "python":
                ast.parse(body)
        except (yaml.YAMLError, SyntaxError) as error:
            yield f"a {language} block is not valid: {str(error).splitlines()[0]}"
    if re.search(r"[ \t]+$", text, re.MULTILINE):
        yield "lines end with white space"


def main() -> None:
    found = [f"{page.relative_to(ROOT)}: {text}" for page in pages() for text in mistakes(page)]
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
