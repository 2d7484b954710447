"""The second pass: repeats are numbered, options named, and what is there twice is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nongrata.answers import Outcome
from nongrata.errors import NongrataError
from nongrata.interop.coded import Codes
from nongrata.interop.gathering import UNREAD, Gathered
from nongrata.interop.malformed import quoted
from nongrata.interop.option_codes import Options, batches, options_of
from nongrata.rows import OUTCOMES

MOST_CELLS = 2**31
"""Answers that the crossed design may have place for: they are held in memory when analysed."""
ANSWERED, UNPARSED = OUTCOMES.index(Outcome.ANSWERED), OUTCOMES.index(Outcome.UNPARSED)


@dataclass
class Settled:
    """What the second pass found.

    Parameters
    ----------
    options
        Which option each answer is.
    repeats
        Repeats of a request: the most that any has.
    repeat_of
        Place of each named repeat.
    most_repeats, fewest_repeats
        Of the requests that have an answer.
    present
        Answers of each item, whatever the cell, shape (items,).
    requests
        Requests (item and cell) that have an answer.
    same, conflicting
        Answers that are there twice, with the same or another answer.
    strays
        Answers that are none of the options, by text.
    right, read, unread
        Answers that are right, read, not read.
    """

    options: Options
    repeats: int
    repeat_of: Codes
    most_repeats: int = 0
    fewest_repeats: int = 0
    requests: int = 0
    same: int = 0
    conflicting: int = 0
    strays: dict[str, int] = field(default_factory=dict)
    right: int = 0
    read: int = 0
    unread: int = 0


def numeric_order(names: list[str]) -> list[int]:
    """Places of names in ascending order if all are numbers, else as they stand.

    Examples
    --------
    >>> numeric_order(["1.0", "0.5"]), numeric_order(["b", "a"])
    ([1, 0], [0, 1])
    """
    try:
        values = [float(name) for name in names]
    except ValueError:
        return list(range(len(names)))
    if not np.isfinite(values).all():
        return list(range(len(names)))
    return sorted(range(len(names)), key=lambda i: values[i])


def settle(
    gathered: Gathered,
    *,
    numbered: bool,
    into: Path,
    step: Callable[[str, int, int], None],
) -> Settled:
    """Read the gathered answers again and write them as they will be kept.

    Parameters
    ----------
    gathered
        The first pass.
    numbered
        Whether rows with the same item and cell are repeats, to be numbered as they come.
    into
        The Parquet file to write.
    step
        Told what is done, and how many of how many answers are.
    """
    items, cells = len(gathered.items), len(gathered.cells)
    _refuse_hollow(gathered, 1)
    names = gathered.repeats.all
    repeat_of = np.argsort(numeric_order(names)).astype(np.int64)
    counted = _count(gathered, step) if numbered else None
    repeats = len(names) or _most_places(gathered)
    if counted is not None:
        repeats = int(counted.max(initial=0))
    _refuse_hollow(gathered, repeats)
    found = Settled(options_of(gathered), max(repeats, 1), repeat_of)
    times = np.zeros((cells, items), dtype=np.int32)
    _write(gathered, found, numbered, times, into, step)
    there = times[times > 0]
    found.requests = len(there)
    if len(there):
        found.most_repeats, found.fewest_repeats = int(there.max()), int(there.min())
    return found


def _refuse_hollow(gathered: Gathered, repeats: int) -> None:
    sizes = [len(gathered.models), len(gathered.personas), len(gathered.items), repeats]
    sizes += [len(levels) for levels in gathered.levels.values()]
    cells = int(np.prod([float(size) for size in sizes]))
    if cells > MOST_CELLS or repeats > np.iinfo(np.int16).max:
        crossed = " x ".join(f"{size:,}" for size in sizes)
        raise NongrataError(
            f"every persona in every configuration with every item would be {cells:,} answers "
            f"({crossed}), and the table has {gathered.counts['answers']:,}",
            where=gathered.remarks.file,
            fix="is a column of free values, such as a run's number, taken for a factor?",
        )


def _most_places(gathered: Gathered) -> int:
    return 1 + max(
        (int(repeat.max(initial=0)) for _, _, repeat, _, _ in batches(gathered)), default=0
    )


def _count(gathered: Gathered, step: Callable[[str, int, int], None]) -> NDArray[np.int32]:
    """How many rows each request has, shape (cells, items)."""
    items = len(gathered.items)
    times = np.zeros(len(gathered.cells) * items, dtype=np.int32)
    done = 0
    for item, cell, *_ in batches(gathered):
        np.add.at(times, cell * items + item, 1)
        done += len(item)
        step("numbering repeats", done, gathered.counts["answers"])
    return times.reshape(-1, items)


def _write(
    gathered: Gathered,
    found: Settled,
    numbered: bool,
    times: NDArray[np.int32],
    into: Path,
    step: Callable[[str, int, int], None],
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    items, R = len(gathered.items), found.repeats
    flat = times.reshape(-1)
    seen = None if numbered else np.full(len(flat) * R, -1, dtype=np.int32)
    strays = np.zeros(len(gathered.answers) + 1, dtype=np.int64)
    schema = pa.schema(
        {
            "question": pa.int32(),
            "cell": pa.int32(),
            "replicate": pa.int16(),
            "option": pa.int8(),
            "outcome": pa.uint8(),
            "line": pa.int64(),
        }
    )
    done = 0
    with pq.ParquetWriter(
        into, schema, compression="zstd", compression_level=1, use_dictionary=False
    ) as writer:
        for batch in batches(gathered):
            item, cell, repeat, answer, line = batch
            request = cell * items + item
            if seen is None:
                place = flat[request] + rank_within(request)
                keep = np.ones(len(item), dtype=np.bool_)
            else:
                place = found.repeat_of[repeat] if len(found.repeat_of) else repeat
                keep = _once(gathered, found, seen, request * R + place, answer, item, line)
            np.add.at(flat, request[keep], 1)
            columns = _answers(found, item[keep], answer[keep], strays)
            columns |= {"cell": cell[keep], "replicate": place[keep], "line": line[keep]}
            arrays = [
                pa.array(columns[field.name].astype(field.type.to_pandas_dtype()))
                for field in schema
            ]
            # a row group of its own: the writer would hold small ones back, in memory
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
            done += len(request)
            step("writing", done, gathered.counts["answers"])
    texts = gathered.answers.all
    order = [int(i) for i in np.argsort(-strays, kind="stable") if strays[i]]
    found.strays = {texts[i]: int(strays[i]) for i in order}


def _answers(found: Settled, item: Codes, answer: Codes, strays: Codes) -> dict[str, Codes]:
    """Options and outcomes of some answers, counted."""
    option = np.where(answer >= 0, found.options.of(item, np.maximum(answer, 0)), -1)
    stray = (answer > UNREAD) & (option < 0)
    strays += np.bincount(answer[stray], minlength=len(strays))
    found.right += int((option == found.options.gold[item]).sum())
    found.read += int((option >= 0).sum())
    found.unread += int((option < 0).sum())
    outcome = np.where(option >= 0, ANSWERED, UNPARSED)
    return {"question": item, "option": option, "outcome": outcome}


def rank_within(key: Codes) -> Codes:
    """How many earlier entries are equal to each.

    Examples
    --------
    >>> rank_within(np.array([7, 3, 7, 7])).tolist()
    [0, 0, 1, 2]
    """
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    start = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(key) else order
    length = np.diff(np.r_[start, len(key)])
    rank = np.empty(len(key), dtype=np.int64)
    rank[order] = np.arange(len(key)) - np.repeat(start, length)
    return rank


def _once(
    gathered: Gathered,
    found: Settled,
    seen: NDArray[np.int32],
    key: Codes,
    answer: Codes,
    item: Codes,
    line: Codes,
) -> NDArray[np.bool_]:
    """Which answers are the first of their place; the others are counted, and remarked on."""
    value = answer + 1  # an unread answer is 0, and -1 a place without any
    first = np.zeros(len(key), dtype=np.bool_)
    first[np.unique(key, return_index=True)[1]] = True
    new = first & (seen[key] < 0)
    seen[key[new]] = value[new]
    differs = ~new & (seen[key] != value)
    found.same += int((~new & ~differs).sum())
    found.conflicting += int(differs.sum())
    if not new.all():
        names, texts = gathered.items.all, gathered.answers.all
        for at in np.flatnonzero(~new).tolist():
            said, before = (_said(gathered, texts, int(v)) for v in (value[at], seen[key[at]]))
            about = f"item {quoted(names[int(item[at])])}"
            if differs[at]:
                kind = "the same item, cell and repeat again, with another answer"
                what = f"{about} has {said} here and {before} before; the first was kept"
            else:
                kind = "the same item, cell and repeat again, with the same answer"
                what = f"{about} has {said} here and before; it was counted once"
            gathered.remarks.add(int(line[at]), kind, what)
    return new


def _said(gathered: Gathered, texts: list[str], value: int) -> str:
    if value == 0:
        return "no answer"
    if gathered.mapping.gold is None:
        return "right" if value == 2 else "wrong"
    return quoted(texts[value - 1])


def cells_of(gathered: Gathered) -> dict[str, Any]:
    """Model, persona and levels of each cell, their names in the order in which they are kept."""
    orders = {name: numeric_order(levels.all) for name, levels in gathered.levels.items()}
    columns = list(zip(*gathered.cells.all, strict=True)) or [()] * (2 + len(orders))
    found: dict[str, Any] = {"model": list(columns[0]), "persona": list(columns[1])}
    for (name, order), codes in zip(orders.items(), columns[2:], strict=True):
        place = np.argsort(order)
        found[name] = [int(place[code]) for code in codes]
    return found
