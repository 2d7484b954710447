"""Long tables, packed cells and matrices, all as one answer with its names after another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nongrata.errors import NongrataError
from nongrata.factors import RESERVED_FACTORS
from nongrata.interop.coded import Coded, Codes
from nongrata.interop.malformed import Remarks
from nongrata.interop.table_mapping import DEFAULT_FACTOR, TableMapping, find_columns
from nongrata.interop.table_reading import Block, Table

PARTS = ("persona", "model", "replicate")
"""What a part of a configuration's name can be besides a factor."""
MOST_REPEATS = 30_000


@dataclass(frozen=True)
class Answered:
    """Some rows, and the answers in them.

    Parameters
    ----------
    lines
        Where each row begins, shape (n,).
    names
        What names the row, by role: item, persona, gold and so on, or ``"factor:NAME"``.
    answers
        The answers' texts, row by row, shape (m,).
    row, place
        The row of each answer and its place within the cell, shape (m,).
    """

    lines: Codes
    names: Mapping[str, Coded]
    answers: Coded
    row: Codes
    place: Codes


class Shape:
    """How a table's rows become answers.

    Parameters
    ----------
    table
        The table.
    mapping
        What its columns mean.
    """

    def __init__(self, table: Table, mapping: TableMapping) -> None:
        self.table, self.mapping = table, mapping
        self.packed = mapping.separator is not None
        self.pattern = NamePattern(mapping.header) if mapping.header else None
        where = f"{table.name}:1" if table.unit == "line" else table.name
        self.roles = self._roles(where)
        wanted = list(dict.fromkeys([*self._id_columns(), mapping.value_column or ""]))
        self.wanted = find_columns([name for name in wanted if name], table.header, where)
        self.cells: list[str] = []
        self.cell_names: dict[str, Coded] = {}
        if mapping.wide:
            self.cells = [name for name in table.header if name not in self.wanted]
            if not self.cells:
                raise NongrataError(
                    "the matrix has no columns beside those that are named",
                    where=where,
                    fix="leave out the options that name columns of answers",
                )
            self.wanted |= find_columns(self.cells, table.header, where)
            self.cell_names = self._names_of_cells(where)

    def _roles(self, where: str) -> dict[str, tuple[str, ...]]:
        mapping, first = self.mapping, self.table.header[0]
        single = {
            role: getattr(mapping, role)
            for role in ("persona", "model", "replicate", "cluster", "domain", "source", "gold")
        } | {"options": mapping.options_column}
        found: dict[str, tuple[str, ...]] = {}
        found |= {role: (column,) for role, column in single.items() if column is not None}
        found |= {f"factor:{n}": (column,) for n, column in mapping.factor_columns.items()}
        if mapping.wide == "configurations":
            per_item = sorted({"cluster", "domain", "source", "options"} & set(found))
            if per_item or mapping.item:
                raise NongrataError(
                    f"in a matrix whose columns are items, '{(per_item or ['item'])[0]}' can be no "
                    "column",
                    where=where,
                    fix="leave it out, or turn the matrix: --wide items",
                )
            return found or {"configuration": (first,)}
        if mapping.wide == "items":
            wrong = sorted(role for role in found if role.startswith("factor:") or role in PARTS)
            if wrong:
                raise NongrataError(
                    f"in a matrix whose rows are items, '{wrong[0].removeprefix('factor:')}' can "
                    "be no column",
                    where=where,
                    fix="the columns' names hold it: --header '{persona}/{prompt}'",
                )
        return found | {"item": mapping.item or (first,)}

    def _id_columns(self) -> Iterator[str]:
        for columns in self.roles.values():
            yield from columns

    def _names_of_cells(self, where: str) -> dict[str, Coded]:
        if self.mapping.wide == "configurations":
            return {"item": Coded(self.cells, np.arange(len(self.cells)))}
        found = self._split(self.cells, where)
        seen: dict[tuple[str, ...], str] = {}
        for name, parts in zip(self.cells, zip(*found.values(), strict=True), strict=True):
            if seen.setdefault(parts, name) != name:
                raise NongrataError(
                    f"the columns '{seen[parts]:.100}' and '{name:.100}' are one configuration",
                    where=where,
                    fix="name repeats in the pattern: --header '{prompt}/{replicate}'",
                )
        at = np.arange(len(self.cells))
        return {role: Coded(list(values), at) for role, values in found.items()}

    def _split(self, names: Sequence[str], where: str) -> dict[str, list[str]]:
        if self.pattern is None:
            return {f"factor:{DEFAULT_FACTOR}": list(names)}
        parts = [self.pattern.split(name, where) for name in names]
        return {role: [part[role] for part in parts] for role in self.pattern.roles}

    @property
    def factors(self) -> tuple[str, ...]:
        """Names of the factors."""
        found = [*self.mapping.factor_columns]
        if self.mapping.wide and not found:
            split = self.pattern.roles if self.pattern else (f"factor:{DEFAULT_FACTOR}",)
            found = [r.removeprefix("factor:") for r in split if r.startswith("factor:")]
        return tuple(found) or (DEFAULT_FACTOR,)

    @property
    def numbers_repeats(self) -> bool:
        """Whether repeated rows are repeats, numbered as they come."""
        return not (self.mapping.wide or self.packed or self.mapping.replicate)

    def answered(self, remarks: Remarks) -> Iterator[Answered]:
        """Yield the table's answers, some rows at a time."""
        sparse = self.mapping.wide is not None
        for block in self.table.blocks(self.wanted, remarks, sparse=sparse):
            if len(block.lines):
                yield self._matrix(block) if sparse else self._long(block)

    def _named(self, block: Block) -> dict[str, Coded]:
        import pyarrow.compute as pc
        import pyarrow.types as kinds

        found: dict[str, Coded] = {}
        for role, columns in self.roles.items():
            for name in columns:
                if kinds.is_list(block.columns[name].type):
                    raise NongrataError(
                        f"the column '{name:.100}' holds lists",
                        where=self.table.name,
                        fix="only answers can be lists, of repeats",
                    )
            if len(columns) == 1:
                found[role] = Coded.of(block.columns[columns[0]])
                continue
            # doubled, so that a/b with c is not a with b/c
            parts = [pc.replace_substring(block.columns[name], "/", "//") for name in columns]
            found[role] = Coded.of(pc.binary_join_element_wise(*parts, "/"))
        if "configuration" in found:
            whole = found.pop("configuration")
            split = self._split(whole.values, self.table.name)
            found |= {role: Coded(values, whole.index) for role, values in split.items()}
        return found

    def _long(self, block: Block) -> Answered:
        import pyarrow.compute as pc
        import pyarrow.types as kinds

        column = block.columns[self.mapping.value_column or ""]
        n = len(block.lines)
        if not kinds.is_list(column.type) and self.mapping.separator is None:
            row = np.arange(n)
            return Answered(
                block.lines, self._named(block), Coded.of(column), row, np.zeros_like(row)
            )
        if not kinds.is_list(column.type):
            # an empty cell holds no answer at all, not one that could not be read
            whole = pc.if_else(pc.equal(column, ""), None, column)
            column = pc.split_pattern(whole, self.mapping.separator)
        elif self.mapping.replicate is not None:
            raise NongrataError(
                "the answers are lists, and a column names the repeats",
                where=self.table.name,
                fix="leave out 'replicate': the places in a list are the repeats",
            )
        self.packed = True
        lengths = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        row = np.repeat(np.arange(n), lengths)
        place = np.arange(len(row)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        if int(lengths.max(initial=0)) > MOST_REPEATS:
            raise NongrataError(
                f"a cell holds {int(lengths.max()):,} answers",
                where=f"{self.table.name}:{block.lines[int(lengths.argmax())]}",
                fix=f"at most {MOST_REPEATS:,} repeats can be read; is the separator right?",
            )
        return Answered(block.lines, self._named(block), Coded.of(column.flatten()), row, place)

    def _matrix(self, block: Block) -> Answered:
        import pyarrow as pa

        n, m = len(block.lines), len(self.cells)
        column = np.repeat(np.arange(m), n)
        row = np.tile(np.arange(n), m)
        names = {role: cells.take(row) for role, cells in self._named(block).items()}
        names |= {role: cells.take(column) for role, cells in self.cell_names.items()}
        answers = Coded.of(pa.concat_arrays([block.columns[name] for name in self.cells]))
        every = np.arange(n * m)
        return Answered(block.lines[row], names, answers, every, np.zeros_like(every))


class NamePattern:
    """How the name of a configuration is made of its parts.

    Parameters
    ----------
    pattern
        Text with names in braces.

    Examples
    --------
    >>> NamePattern("{persona}/t={temperature}").split("nurse/t=0.5", "t.csv:1")
    {'persona': 'nurse', 'factor:temperature': '0.5'}
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        pieces = re.split(r"\{([A-Za-z_][A-Za-z0-9_-]*)\}", pattern)
        self.names = pieces[1::2]
        if not self.names or len(set(self.names)) < len(self.names) or "{" in "".join(pieces[::2]):
            raise NongrataError(
                f"'{pattern:.100}' is no pattern of names",
                where="header",
                fix="write each name once in braces: '{persona}/{prompt}/{temperature}'",
            )
        self.roles = tuple(name if name in PARTS else f"factor:{name}" for name in self.names)
        taken = [n for n in self.names if n not in PARTS and n in RESERVED_FACTORS]
        if taken:
            raise NongrataError(
                f"a factor cannot be called '{taken[0]}'",
                where=f"header '{pattern:.100}'",
                fix=f"call it my_{taken[0]}",
            )
        between = [re.escape(piece) for piece in pieces[::2]]
        groups = [f"(.+?){text}" for text in between[1:]]
        self._expression = re.compile(between[0] + "".join(groups), re.DOTALL)

    def split(self, name: str, where: str) -> dict[str, str]:
        """The parts of a name by role."""
        found = self._expression.fullmatch(name)
        if found is None:
            raise NongrataError(
                f"the name '{name:.100}' does not fit '{self.pattern:.100}'",
                where=where,
                fix="change the pattern, or name that column in another option",
            )
        return dict(zip(self.roles, found.groups(), strict=True))
