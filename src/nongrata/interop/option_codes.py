"""Which option an answer is: a label all questions share, a text of its own, or right and wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from nongrata.interop.coded import Codes
from nongrata.interop.gathering import Gathered

MOST_SHARED = 26
"""Different answers up to which they are taken for labels that all questions share."""
LAST_OPTION = 127


@dataclass
class Options:
    """Which option an answer is.

    Parameters
    ----------
    kind
        ``"labels"``: all questions share them; ``"texts"``: each question has its own;
        ``"correctness"``: only right (0) and wrong (1) are known.
    of
        Options of items and answers; -1: the answer is none of the item's options.
    gold
        Right option of each item.
    number
        Number of options of each item; 0: not known.
    texts
        Texts of each item's options; one list for all of them where they are shared.
    merged
        Items with more different answers than can be told apart.
    """

    kind: str
    of: Callable[[Codes, Codes], Codes]
    gold: Codes
    number: Codes
    texts: list[list[str]] = field(default_factory=list)
    merged: int = 0


def batches(gathered: Gathered) -> Iterator[tuple[Codes, ...]]:
    """The gathered answers again: item, cell, repeat, answer, line."""
    import pyarrow as pa

    with pa.OSFile(str(gathered.path)) as file, pa.ipc.open_stream(file) as stream:
        for batch in stream:
            yield tuple(column.to_numpy().astype(np.int64) for column in batch.columns)


def options_of(gathered: Gathered) -> Options:
    """Decide what an option's number means, from what was declared and what occurs."""
    items = len(gathered.items)
    declared = gathered.mapping.options
    number = np.full(items, declared if isinstance(declared, int) else len(gathered.labels))
    if gathered.mapping.options_column is not None:
        number = np.maximum(gathered.said["options"].of(items), 0)
    if gathered.mapping.gold is None:
        gold = np.zeros(items, dtype=np.int64)
        return Options("correctness", lambda _, answer: 1 - answer, gold, number)
    gold = gathered.said["gold"].of(items)
    texts = gathered.answers.all
    if gathered.labels:
        last = np.minimum(number, len(gathered.labels))

        def of_label(item: Codes, answer: Codes) -> Codes:
            return np.where(answer < last[item], answer, -1)

        return Options("labels", of_label, gold, number, [list(gathered.labels)])
    if len(texts) <= MOST_SHARED:
        rank = np.argsort(np.argsort(np.array(texts, dtype=object), kind="stable"))
        shared = sorted(texts)
        return Options("labels", lambda _, answer: rank[answer], rank[gold], number, [shared])
    return _own_options(gathered, gold, number, texts)


def _own_options(gathered: Gathered, gold: Codes, number: Codes, texts: list[str]) -> Options:
    """Options of each item by the answers it got, the right one among them."""
    A, items = len(texts), len(gold)
    pairs = np.arange(items) * A + gold
    pending: list[Codes] = [pairs]
    for item, _, _, answer, _ in batches(gathered):
        pending.append(np.unique((item * A + answer)[answer >= 0]))
        if sum(map(len, pending)) > 2 * len(pairs) + 2**20:
            pairs = np.unique(np.concatenate(pending))
            pending = [pairs]
    pairs = np.unique(np.concatenate(pending))
    start = np.searchsorted(pairs, np.arange(items + 1) * A)
    many = np.diff(start) > LAST_OPTION + 1

    def place_of(item: Codes, answer: Codes) -> Codes:
        place = np.searchsorted(pairs, item * A + answer) - start[item]
        return np.asarray(np.minimum(place, LAST_OPTION))

    # where answers are merged at the end, the right one takes the first one's place
    moved = many & (place_of(np.arange(items), gold) == LAST_OPTION)

    def option_of(item: Codes, answer: Codes) -> Codes:
        found, right = place_of(item, answer), answer == gold[item]
        found = np.where(moved[item] & (found == 0), LAST_OPTION, found)
        return np.where(moved[item] & right, 0, found)

    own = [
        [texts[code % A] for code in pairs[a:b].tolist()]
        for a, b in zip(start[:-1].tolist(), start[1:].tolist(), strict=True)
    ]
    right = option_of(np.arange(items), gold)
    return Options("texts", option_of, right, number, own, int(many.sum()))
