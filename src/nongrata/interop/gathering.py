"""The first pass over a table: every usable answer as five numbers, in a file beside.

Names become codes as they appear, so that what stays in memory is as large as the design, not as
the table.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from nongrata.interop.coded import Coded, Codes, FirstSaid, Flags, Names, Rows
from nongrata.interop.malformed import Remarks, quoted
from nongrata.interop.table_mapping import MOST_OPTIONS, TableMapping
from nongrata.interop.table_shapes import Answered

EMPTY_NAME = "(empty)"
"""What a level or label is called whose cell is empty."""
ONE_PERSONA, ONE_MODEL, ONE_LEVEL = "all", "model", "only"
RIGHT = dict.fromkeys(("1", "1.0", "true", "yes"), 1) | dict.fromkeys(
    ("0", "0.0", "false", "no"), 0
)
UNREAD, NOT_OBTAINED, MALFORMED = -1, -2, -3
ABOUT_ITEMS = ("gold", "options", "cluster", "domain", "source")


class Gathered:
    """Answers in a file of their own, and the names they refer to.

    Parameters
    ----------
    mapping
        What the table's columns mean.
    factors
        Names of the factors.
    remarks
        Receives what cannot be used.
    path
        The file to write; an Arrow stream with the columns item, cell, repeat, answer, line.
    """

    def __init__(
        self, mapping: TableMapping, factors: tuple[str, ...], remarks: Remarks, path: Path
    ) -> None:
        import pyarrow as pa

        self.mapping, self.factors, self.remarks, self.path = mapping, factors, remarks, path
        self.items, self.models, self.personas, self.repeats = (Names() for _ in range(4))
        self.levels = {factor: Names() for factor in factors}
        self.answers = Names()
        self.about = {role: Names() for role in ("cluster", "domain", "source")}
        self.said = {role: FirstSaid() for role in ABOUT_ITEMS}
        self.cells = Rows()
        self.counts: Counter[str] = Counter()
        self.labels = [self._comparable(text) for text in self._declared()]
        for label in self.labels:
            self.answers.code(label)
        schema = pa.schema({"item": pa.int32(), "cell": pa.int32(), "repeat": pa.int32()})
        schema = schema.append(pa.field("answer", pa.int32()))
        self._schema = schema.append(pa.field("line", pa.int64()))
        self._writer = pa.ipc.new_stream(str(path), self._schema)

    def _declared(self) -> tuple[str, ...]:
        return self.mapping.options if isinstance(self.mapping.options, tuple) else ()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._writer.close()

    def _comparable(self, text: str) -> str:
        text = text.strip()
        return text.casefold() if self.mapping.fold_case else text

    def add(self, found: Answered) -> None:
        """Take some rows."""
        self.counts["rows"] += (
            len(np.unique(found.lines)) if self.mapping.wide else len(found.lines)
        )
        names = dict(found.names)
        if "gold" in names:
            names["gold"] = names["gold"].map(self._comparable)
        rows = self._usable(names, found.lines)
        codes = {role: self._code(role, cells.take(rows)) for role, cells in names.items()}
        lines = found.lines[rows]
        agreeing = self._agreeing(names, codes, rows, lines)
        codes = {role: code[agreeing] for role, code in codes.items()}
        rows, lines = rows[agreeing], lines[agreeing]
        cell = self._cells(codes, len(rows))
        new_row = np.full(len(found.lines), -1, dtype=np.int64)
        new_row[rows] = np.arange(len(rows))
        row = new_row[found.row]
        row = row[row >= 0]
        kept = new_row[found.row] >= 0
        answer = self._answer_codes(found.answers.take(kept), lines[row], codes["item"][row])
        repeat = codes["replicate"][row] if "replicate" in codes else found.place[kept]
        self._write(answer, codes["item"][row], cell[row], repeat, lines[row])

    def _usable(self, names: dict[str, Coded], lines: Codes) -> Codes:
        """Rows whose names can be used; the others are remarked on."""
        good = np.ones(len(lines), dtype=np.bool_)

        def refuse(bad: Flags, kind: str, cells: Coded | None = None) -> None:
            bad = bad & good
            good[bad] = False
            _, first = np.unique(lines[bad], return_index=True)
            for at in np.flatnonzero(bad)[first].tolist():
                what = f"{kind}: {quoted(cells.text(at))}" if cells else kind
                self.remarks.add(int(lines[at]), kind, what)

        for role, cells in names.items():
            called = {"gold": "right answer"}.get(role, role.removeprefix("factor:"))
            if any("\0" in value for value in cells.values):
                refuse(cells.flag(lambda text: "\0" in text), f"a NUL character in '{called}'")
            if role in {"item", "gold", "replicate", "options"}:
                refuse(cells.flag(lambda text: not text.strip()), f"the {called} is empty")
        if "options" in names:
            cells = names["options"]
            refuse(cells.flag(lambda t: how_many(t) < 0), "no number of options", cells)
        if "gold" in names and self.labels:
            cells = names["gold"]
            limit = self._options(names, len(lines))
            at = cells.numbers(lambda t: self.labels.index(t) if t in self.labels else 10**6)
            refuse(at >= limit, "the right answer is none of the options", cells)
        return np.flatnonzero(good)

    def _options(self, names: dict[str, Coded], n: int) -> Codes:
        if "options" in names:
            return names["options"].numbers(how_many)
        return np.full(n, len(self.labels))

    def _code(self, role: str, cells: Coded) -> Codes:
        if role == "options":
            return cells.numbers(how_many)
        table: Names
        if role.startswith("factor:"):
            table = self.levels[role.removeprefix("factor:")]
        else:
            table = {
                "item": self.items,
                "model": self.models,
                "persona": self.personas,
                "replicate": self.repeats,
                "gold": self.answers,
                **self.about,
            }[role]
        if role in {"model", "persona", "domain", "source"} or role.startswith("factor:"):
            cells = cells.map(lambda text: text or EMPTY_NAME)
        return table.codes(cells)

    def _agreeing(
        self, names: dict[str, Coded], codes: dict[str, Codes], rows: Codes, lines: Codes
    ) -> Flags:
        """Rows that say about their item what its first row said."""
        good = np.ones(len(rows), dtype=np.bool_)
        for role in ABOUT_ITEMS:
            if role not in codes:
                continue
            bad = good & self.said[role].differs(codes["item"], codes[role])
            good &= ~bad
            called = {"gold": "right answer", "options": "number of options"}.get(role, role)
            for at in np.flatnonzero(bad).tolist():
                item = names["item"].text(int(rows[at]))
                said = names[role].text(int(rows[at]))
                self.remarks.add(
                    int(lines[at]),
                    f"another {called} than in the item's first row",
                    f"the {called} of {quoted(item)} is {quoted(said)}, in its first row another",
                )
        return good

    def _cells(self, codes: dict[str, Codes], n: int) -> Codes:
        """The cell of each row: model, persona and the levels of the factors."""
        if not n:
            return np.zeros(0, dtype=np.int64)
        for role, table, alone in (
            ("model", self.models, ONE_MODEL),
            ("persona", self.personas, ONE_PERSONA),
            *((f"factor:{name}", self.levels[name], ONE_LEVEL) for name in self.factors),
        ):
            if role not in codes:
                codes[role] = np.full(n, table.code(alone))
        factors = [codes[f"factor:{name}"] for name in self.factors]
        return self.cells.codes([codes["model"], codes["persona"], *factors])

    def _answer_codes(self, answers: Coded, lines: Codes, item: Codes) -> Codes:
        missing = {text.strip() for text in self.mapping.missing}
        empty = NOT_OBTAINED if self.mapping.empty_means == "missing" else UNREAD
        by_label = self.mapping.gold is not None

        used = np.zeros(len(answers.values), dtype=np.bool_)
        used[answers.index] = True

        def code(text: str, is_used: bool) -> int:
            text = text.strip()
            if not is_used:
                return MALFORMED
            if text in missing:
                return NOT_OBTAINED
            if not text:
                return empty
            if not by_label:
                return RIGHT.get(text.lower(), MALFORMED)
            return MALFORMED if "\0" in text else self.answers.code(self._comparable(text))

        table = np.array(list(map(code, answers.values, used.tolist())), dtype=np.int64)
        codes = table[answers.index] if len(table) else np.zeros(0, dtype=np.int64)
        kind = (
            "an answer holds a NUL character"
            if by_label
            else "neither right nor wrong (1, 0, true, false, yes, no)"
        )
        names = self.items.all if (codes == MALFORMED).any() else []
        for at in np.flatnonzero(codes == MALFORMED).tolist():
            what = f"{quoted(answers.text(at))} for item {quoted(names[int(item[at])])}: {kind}"
            self.remarks.add(int(lines[at]), kind, what)
        return codes

    def _write(self, answer: Codes, item: Codes, cell: Codes, repeat: Codes, line: Codes) -> None:
        import pyarrow as pa

        self.counts["not_obtained"] += int((answer == NOT_OBTAINED).sum())
        self.counts["malformed_answers"] += int((answer == MALFORMED).sum())
        kept = answer >= UNREAD
        self.counts["answers"] += int(kept.sum())
        columns: list[Any] = [item, cell, repeat, answer]
        arrays = [pa.array(column[kept].astype(np.int32)) for column in columns]
        arrays.append(pa.array(line[kept]))
        self._writer.write_batch(pa.record_batch(arrays, schema=self._schema))


def how_many(text: str) -> int:
    """The number of options that a cell says, -1 if it says none.

    Examples
    --------
    >>> how_many("4"), how_many("4.0"), how_many("four")
    (4, 4, -1)
    """
    found = re.fullmatch(r"\s*([0-9]{1,3})(?:\.0)?\s*", text)
    number = int(found[1]) if found else -1
    return number if 2 <= number <= MOST_OPTIONS else -1
