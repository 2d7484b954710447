"""The blocks of a document: paragraphs, tables, charts, sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Name, Number, Piece, Text, Verdict

Facets = Mapping[str, str]
"""What a block or a row is about, by facet: ``model``, ``domain``, ``factor``, ``persona``.

A reader who picks a model sees what is about it and what is about no model in particular.
"""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph.

    Parameters
    ----------
    text
        What it says.
    tone
        ``"plain"``; ``"answer"``, the whole answer, large; ``"lead"``, a part of it;
        ``"note"``, small print; ``"warning"``.
    heading
        What it is about, above it; None where the text says so itself.
    verdict
        What it comes to, in a word, beside the heading.
    """

    text: Text
    tone: Literal["plain", "answer", "lead", "note", "warning"] = "plain"
    facets: Facets = field(default_factory=dict)
    heading: Text | None = None
    verdict: Verdict | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """Several short texts, one under the other.

    Parameters
    ----------
    items
        The texts.
    """

    items: tuple[Text, ...]
    facets: Facets = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Parameters
    ----------
    key
        Its name in a CSV file; an estimate also fills ``key_low`` and ``key_high``.
    heading
        What stands above it.
    unit
        Of its numbers: ``"points"``, ``"%"``; written in the heading.
    kind
        What its cells are.
    help
        What it means, for a reader who does not know.
    """

    key: str
    heading: Text
    unit: str = ""
    kind: Literal["name", "text", "number", "estimate", "verdict"] = "number"
    help: Text | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table.

    Parameters
    ----------
    cells
        One for each column; None is an empty cell.
    facets
        What the row is about.
    group
        Heading of the group that begins with this row; None where it goes on.
    """

    cells: tuple[Piece | None, ...]
    facets: Facets = field(default_factory=dict)
    group: Text | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Parameters
    ----------
    id
        Unique in the document, of letters, digits and hyphens: a file name, an anchor.
    caption
        What it shows, as a title.
    columns, rows
        Its content. The first column names the row.
    notes
        Under it: what it rests on, what abbreviations mean.
    folded
        Whether a page shows it only on request.
    """

    id: str
    caption: Text
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[Text, ...] = ()
    facets: Facets = field(default_factory=dict)
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Field:
    """One column of a chart's data.

    Parameters
    ----------
    values
        One for each row: numbers of the results, or names.
    path
        Where the numbers stand in the results, with a ``*`` for each number in `places`; empty
        for names and for what only orders or groups.
    places
        For each row the numbers that stand for the stars, row after row.
    """

    values: tuple[Any, ...]
    path: str = ""
    places: tuple[tuple[int, ...], ...] = ()

    @classmethod
    def of(cls, places: Sequence[Cursor], *keys: str | int) -> Field:
        """The numbers found by going down `keys` from each of several alike places.

        Examples
        --------
        >>> rows = Cursor([{"se": 0.5}, {"se": 0.25}], "/rows")
        >>> Field.of(list(rows), "se")
        Field(values=(0.5, 0.25), path='/rows/*/se', places=((0,), (1,)))
        """
        values, stars, patterns = [], [], set()
        for place in places:
            found = place
            for key in keys:
                found = found[key]
            number = Number.of(found)
            parts = number.path.split("/")
            stars.append(tuple(int(part) for part in parts if part.isdecimal()))
            patterns.add("/".join("*" if part.isdecimal() else part for part in parts))
            values.append(number.value)
        # an undefined figure and a defined one have the same path
        if len(patterns) > 1:
            raise ValueError(f"places that are not alike: {sorted(patterns)}")
        return cls(tuple(values), patterns.pop() if patterns else "", tuple(stars))

    @classmethod
    def names(cls, values: Sequence[Any]) -> Field:
        """Names, or numbers that only order or group."""
        return cls(tuple(values))


@dataclass(frozen=True, slots=True)
class Dataset:
    """Data of charts, column by column.

    Parameters
    ----------
    name
        Unique in the document; a chart's specification refers to it as ``{"name": name}``.
    fields
        By name, all of the same length.
    """

    name: str
    fields: Mapping[str, Field]

    def rows(self) -> list[dict[str, Any]]:
        """The same row by row, as Vega-Lite wants it."""
        names = list(self.fields)
        columns = [self.fields[name].values for name in names]
        return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart, as a Vega-Lite specification and its data.

    Parameters
    ----------
    id
        Unique in the document: a file name, an anchor.
    title
        What it shows.
    description
        What a reader sees in it, in words: the alternative text.
    spec
        Vega-Lite, without data, theme and title; it refers to `data` by name.
    data
        The datasets.
    table
        The same numbers for those who cannot see the chart; None where a table beside it has
        them.
    notes
        Under it.
    """

    id: str
    title: Text
    description: Text
    spec: Mapping[str, Any]
    data: tuple[Dataset, ...]
    table: Table | None = None
    notes: tuple[Text, ...] = ()
    facets: Facets = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Code:
    """A text that is shown as it is, line by line: a command, a citation, a prompt.

    Parameters
    ----------
    text
        The text; it is never translated.
    """

    text: str
    facets: Facets = field(default_factory=dict)


Block = Paragraph | Listing | Table | Chart | Code


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a document.

    Parameters
    ----------
    id
        Anchor.
    title
        Heading.
    question
        The question it answers, in plain words.
    blocks
        What it holds.
    """

    id: str
    title: Text
    question: Text
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report.

    Parameters
    ----------
    title
        Of the study.
    sections
        The first one is the first screen.
    facets
        What can be filtered by, with all values, in order: ``model``, ``domain``, ``factor``.
    results
        The JSON form of the results that every number points into.
    """

    title: Name
    sections: tuple[Section, ...]
    facets: Mapping[str, tuple[str, ...]]
    results: Mapping[str, Any]

    @property
    def blocks(self) -> list[Block]:
        """All blocks, in order."""
        return [block for section in self.sections for block in section.blocks]

    @property
    def charts(self) -> list[Chart]:
        """All charts, in order."""
        return [block for block in self.blocks if isinstance(block, Chart)]

    @property
    def tables(self) -> list[Table]:
        """All tables, in order, without those that only repeat a chart's numbers."""
        return [block for block in self.blocks if isinstance(block, Table)]
