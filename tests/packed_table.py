"""A table as somebody else may have it: repeats packed in one cell, with holes and strays."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

ITEMS, PROMPTS, HEATS, REPEATS = 100, 5, 11, 10
LABELS = "ABCD"
STRAYS = ("E", "X", "AB", "?")


def write_packed_table(path: Path, seed: int = 0) -> None:
    """Write 100 items x 5 prompts x 11 temperatures, ten repeats packed in a cell.

    Accuracy depends on the item, a little on the prompt, and on their interaction; not on the
    temperature but through noise, so that its variance component is estimated around 0, on either
    side.
    """
    rng = np.random.default_rng(seed)
    ease = rng.normal(0.5, 1.2, size=ITEMS)
    format_effect = rng.normal(0, 0.25, size=PROMPTS)
    both = rng.normal(0, 0.4, size=(ITEMS, PROMPTS))
    order = rng.permutation(ITEMS * PROMPTS * HEATS)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["question id", "key", "wording", "temp", "answers"])
        for at in order.tolist():
            item, rest = divmod(at, PROMPTS * HEATS)
            prompt, heat = divmod(rest, HEATS)
            gold = item % 4
            chance = 1 / (1 + np.exp(-(ease[item] + format_effect[prompt] + both[item, prompt])))
            cells = []
            for _ in range(REPEATS):
                luck = rng.random()
                if luck < 0.01:
                    cells.append("")
                elif luck < 0.02:
                    cells.append(STRAYS[int(rng.integers(len(STRAYS)))])
                elif rng.random() < chance:
                    cells.append(LABELS[gold])
                else:
                    cells.append(LABELS[(gold + int(rng.integers(1, 4))) % 4])
            writer.writerow(
                [f"q{item}", LABELS[gold], f"wording {prompt}", f"{heat / 10:.1f}", "|".join(cells)]
            )


def plain_counts(path: Path) -> dict[str, int]:
    """What is in the table, read by splitting lines and nothing else."""
    found = {"rows": 0, "right": 0, "wrong": 0, "empty": 0, "stray": 0}
    lines = path.read_text(encoding="utf-8").split("\n")
    for line in lines[1:]:
        if not line:
            continue
        _, key, _, _, packed = line.rstrip("\r").split(",")
        found["rows"] += 1
        for said in packed.split("|"):
            if said == "":
                found["empty"] += 1
            elif said not in list(LABELS):
                found["stray"] += 1
            elif said == key:
                found["right"] += 1
            else:
                found["wrong"] += 1
    return found


def plain_means(path: Path) -> np.ndarray:
    """Share of right answers, shape (items, prompts, temperatures), by plain loops."""
    right = np.zeros((ITEMS, PROMPTS, HEATS))
    for line in path.read_text(encoding="utf-8").split("\n")[1:]:
        if line:
            item, key, wording, heat, packed = line.rstrip("\r").split(",")
            said = packed.split("|")
            at = int(item[1:]), int(wording.split(" ")[1]), round(10 * float(heat))
            right[at] = sum(one == key for one in said) / len(said)
    return right


def plain_components(y: np.ndarray) -> dict[str, float]:
    """Variance components of a fully crossed random three-way table, one value a cell.

    By expected mean squares (Cornfield & Tukey, 1956): the mean square of an effect expects the
    sum over the effects that contain it, each times the number of cells it is averaged over. The
    mean squares come from loops over every cell; nothing is set to 0 that comes out below it.
    """
    names = "ipt"
    sizes = dict(zip(names, y.shape, strict=True))
    effects = ["i", "p", "t", "ip", "it", "pt", "ipt"]

    def mean_over(effect: str, at: tuple[int, ...]) -> float:
        index = tuple(at[d] if names[d] in effect else slice(None) for d in range(3))
        return float(np.mean(y[index]))

    squares = {}
    for effect in effects:
        total = 0.0
        ranges = [range(sizes[n]) if n in effect else range(1) for n in names]
        for a in ranges[0]:
            for b in ranges[1]:
                for c in ranges[2]:
                    value = 0.0
                    for below in ["", *effects]:
                        if set(below) <= set(effect):
                            sign = (-1) ** (len(effect) - len(below))
                            value += sign * mean_over(below, (a, b, c))
                    total += value**2
        others = np.prod([sizes[n] for n in names if n not in effect])
        freedom = np.prod([sizes[n] - 1 for n in effect])
        squares[effect] = total * others / freedom
    found: dict[str, float] = {}
    for effect in sorted(effects, key=len, reverse=True):
        others = np.prod([sizes[n] for n in names if n not in effect])
        above = 0.0
        for other, value in found.items():
            if set(effect) < set(other):
                above += value * np.prod([sizes[n] for n in names if n not in other])
        found[effect] = float((squares[effect] - above) / others)
    return found
