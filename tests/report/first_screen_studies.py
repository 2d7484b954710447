"""Results of small simulated studies with known truths, for tests of the first screen."""

from __future__ import annotations

import csv
import json
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.first_screen import questions as made_up
from nongrata.analysis.model_data import Resampling
from nongrata.interop.importing import import_to_folder
from nongrata.interop.table_mapping import mapping_from
from nongrata.report.document.blocks import Listing, Paragraph, Section, Table
from nongrata.report.document.pieces import Estimate, Name, Names, Number, Piece, Text
from nongrata.report.document.plain import plain
from nongrata.report.document.said import templates_of
from nongrata.report.languages.language import language
from nongrata.report.sections.study import Study
from nongrata.runner import run_study
from nongrata.study_results import study_results
from studies import SIMULATED, Silent, loaded, small_study

MANY = ("labels", "formats", "fragile")
"""With many questions, so that something is shown."""
KINDS = (
    *MANY,
    *("plain", "two models", "one configuration", "one label", "chance", "no control", "import"),
)
FEW = Resampling(draws=100, splits=4)


@cache
def results(kind: str) -> dict[str, Any]:
    """The JSON form of a study's results, with the sentences as they were made."""
    with tempfile.TemporaryDirectory() as folder:
        run = _imported(Path(folder)) if kind == "import" else _run(kind, Path(folder))
        return study_results(run, resampling=FEW).as_dict()


def study(kind: str) -> Study:
    """The same as sections read it."""
    return Study(results(kind))


def _run(kind: str, folder: Path) -> Path:
    questions = (json.dumps(each) for each in made_up(200))
    (folder / "questions.jsonl").write_text("\n".join(questions), encoding="utf-8")
    run_study(loaded(_study(kind), folder), folder / "run", Silent())
    return folder / "run"


def _study(kind: str) -> dict[str, Any]:
    values = small_study()
    even = {"engine": "simulated", "id": "sim", "seed": 1, "ability": 1.5}
    values["questions"]["sources"][0]["take"] = 12
    if kind in MANY:
        values["questions"]["sources"] = [
            {"id": "made", "format": "normalised", "path": "questions.jsonl"}
        ]
    if kind == "labels":
        values["models"] = [even | {"persona_effects": {"a-cook": 3.0, "a-pilot": -1.5}}]
    if kind == "formats":
        effects = {"persona_format": {"you": 1.0, "play": -1.0}}
        values["models"] = [even | {"factor_effects": effects}]
    if kind == "fragile":
        values["models"] = [even | {"seed": 6, "persona_factor_sd": {"task": 2.0}}]
    if kind == "two models":
        values["models"] = [SIMULATED, SIMULATED | {"id": "other", "seed": 4, "ability": 1.2}]
        values["replicates"] = 2
    if kind == "one configuration":
        for factor in values["factors"]:
            factor["levels"] = factor["levels"][-1:]
    if kind == "one label":
        values["personas"]["list"] = [
            values["personas"]["list"][0],
            *values["personas"]["list"][3:],
        ]
    if kind == "chance":
        values["models"] = [even | {"ability": 0.0}]
    if kind == "no control":
        values["personas"]["list"] = values["personas"]["list"][:3]
    return values


def _imported(folder: Path) -> Path:
    table = folder / "answers.csv"
    with table.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["item", "label", "format", "right"])
        for item in range(20):
            for label in ("a", "{braces}", "<c>"):
                for form in ("one", "two"):
                    rows.writerow([item, label, form, (item + len(label + form) + item * 3) % 2])
    mapping = mapping_from(
        {"item": ["item"], "persona": "label", "factors": {"format": "format"}, "correct": "right"}
    )
    import_to_folder(table, folder / "import", mapping)
    return folder / "import"


def text(section: Section, code: str = "en") -> str:
    """All that a section says, as plain text, a line for each block, row and item."""
    return "\n".join(lines(section, code))


def lines(section: Section, code: str = "en") -> Iterator[str]:
    """The same line by line."""
    spoken = language(code)
    for block in section.blocks:
        if isinstance(block, Paragraph):
            parts = (block.heading, block.verdict, block.text)
            yield " | ".join(plain(part, spoken) for part in parts if part is not None)
        if isinstance(block, Listing):
            yield from (plain(item, spoken) for item in block.items)
        if isinstance(block, Table):
            yield plain(block.caption, spoken)
            for row in block.rows:
                if row.group is not None:
                    yield plain(row.group, spoken)
                yield " | ".join(plain(cell, spoken) for cell in row.cells)
            yield from (plain(note, spoken) for note in block.notes)


def pieces(section: Section) -> Iterator[Piece]:
    """Every piece of a section."""
    yield from (section.title, section.question)
    for block in section.blocks:
        if isinstance(block, Paragraph):
            yield from (p for p in (block.heading, block.verdict, block.text) if p is not None)
        if isinstance(block, Listing):
            yield from block.items
        if isinstance(block, Table):
            yield from (block.caption, *block.notes)
            for column in block.columns:
                yield from (p for p in (column.heading, column.help, column.unit) if p)
            for row in block.rows:
                yield from (p for p in (row.group, *row.cells) if p is not None)


def numbers(piece: Piece) -> Iterator[Number]:
    """Every number in a piece."""
    if isinstance(piece, Number):
        yield piece
    if isinstance(piece, Estimate):
        yield from (piece.value, piece.low, piece.high)
    if isinstance(piece, Text):
        for value in piece.values.values():
            yield from numbers(value)
    if isinstance(piece, Names):
        for item in piece.items:
            if not isinstance(item, Name):
                yield from numbers(item)


def there(found: Any, path: str) -> Any:
    """What stands at a JSON pointer; ``#`` is the length of a list."""
    for part in path.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if key == "#":
            return len(found)
        found = found[int(key)] if isinstance(found, (list, tuple)) else found[key]
    return found


def wrong_numbers(section: Section, found: dict[str, Any]) -> list[Number]:
    """Numbers that are not those of the results, at the place that they name."""
    return [
        number
        for piece in pieces(section)
        for number in numbers(piece)
        if number.value is not None and there(found, number.path) != number.value
    ]


def untranslated(section: Section, code: str = "es") -> list[str]:
    """English templates of a section that a language lacks."""
    spoken = language(code)
    return sorted(
        {
            template
            for piece in pieces(section)
            for template in templates_of(piece)
            if template and not spoken.has(template)
        }
    )
