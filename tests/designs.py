"""Small random designs, and Datasets of responses made from them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st


@dataclass(frozen=True)
class Design:
    """One study: answers right or wrong, which of them exist, and the configurations' levels."""

    correct: Any  # bool (P, C, Q)
    present: Any  # bool (P, C, Q)
    levels: list[tuple[int, ...]]

    def study(self):
        """The same as nested lists, None where missing."""
        return [
            [
                [int(v) if there else None for v, there in zip(*row, strict=True)]
                for row in zip(*persona, strict=True)
            ]
            for persona in zip(self.correct.tolist(), self.present.tolist(), strict=True)
        ]


def random_design(
    seed: int, *, personas: int | None = None, shape: tuple[int, ...] | None = None
) -> Design:
    """A small design with ties, empty unions, missing answers and constant questions."""
    rng = np.random.default_rng(seed)
    P = personas or int(rng.integers(1, 7))
    shape = shape or tuple(int(n) for n in rng.integers(1, 4, size=int(rng.integers(1, 4))))
    levels = list(product(*(range(n) for n in shape)))
    Q = int(rng.integers(1, 9))
    ability = rng.choice([0.0, 0.1, 0.5, 0.9, 1.0], size=(P, 1, Q))
    correct = rng.random((P, len(levels), Q)) < ability
    if seed % 4 == 0:
        correct[0] = False
    lost = rng.choice([0.0, 0.0, 0.1, 0.4])
    present = rng.random(correct.shape) >= lost
    if seed % 5 == 0 and lost:
        present[:, 0] = False
    if seed % 11 == 7:
        present[:, 1:] = False
    return Design(correct, present, levels)


@st.composite
def designs(draw: Any, *, missing: bool = True) -> Design:
    """Designs for Hypothesis, which shrinks them."""
    P = draw(st.integers(1, 4))
    shape = draw(st.lists(st.integers(1, 3), min_size=1, max_size=2))
    Q = draw(st.integers(1, 5))
    levels = list(product(*(range(n) for n in shape)))
    size = P * len(levels) * Q
    codes = draw(st.lists(st.integers(0, 2 if missing else 1), min_size=size, max_size=size))
    cells = np.array(codes).reshape(P, len(levels), Q)
    return Design(cells == 1, cells != 2, levels)


def responses(
    *,
    personas: int = 4,
    controls: int = 1,
    factors: dict[str, list[Any]] | None = None,
    replicates: int = 1,
    questions: int = 12,
    models: int = 1,
    accuracy: float = 0.6,
    unread: float = 0.0,
    lost: float = 0.0,
    seed: int = 0,
    theta: bool = False,
    duplicates: bool = False,
    attrs: dict[str, Any] | None = None,
) -> Any:
    """A Dataset of responses as the package's own importer makes it; the last are controls.

    With `duplicates` the last control is one prompt under every level of the first factor.
    """
    import xarray as xr

    rng = np.random.default_rng(seed)
    factors = factors or {"format": ["plain", "role"], "temperature": [0.0, 0.5, 1.0]}
    names = list(factors)
    P, Q, R = personas + controls, questions, replicates
    inner = tuple(len(v) for v in factors.values())
    cell = (models, P, *inner)
    n_options = np.where(np.arange(Q) % 3 == 2, 3, 4).astype(np.int8)
    answer = (rng.integers(0, 12, Q) % n_options).astype(np.int8)
    ease = np.clip(accuracy + rng.normal(0, 0.15, Q), 0, 1)
    chance_right = np.clip(ease + rng.normal(0, 0.05, (*cell, 1)), 0, 1)
    right = rng.random((*cell, R, Q)) < chance_right[..., None, :]
    wrong = (answer + 1 + rng.integers(0, 2, right.shape)) % n_options
    option = np.where(right, answer, wrong).astype(np.int8)
    outcome = np.zeros(option.shape, np.uint8)
    unread_here = rng.random(option.shape) < unread
    outcome[unread_here] = rng.integers(1, 4, int(unread_here.sum()))
    lost_here = rng.random(option.shape) < lost
    outcome[lost_here] = rng.choice([4, 255], int(lost_here.sum()))
    option[outcome != 0] = -1
    duplicate = np.zeros((P, *inner), bool)
    if duplicates:
        duplicate[-1, 1:] = True
        option[:, -1, 1:] = option[:, -1, :1]
        outcome[:, -1, 1:] = outcome[:, -1, :1]
    known = chance_right + np.zeros(Q) if theta else np.full((*cell, Q), np.nan)
    dims = ("model", "persona", *names)
    domain = np.array(["sums", "manners", "facts"])[np.arange(Q) % 3]
    return xr.Dataset(
        {
            "option": ((*dims, "replicate", "question"), option),
            "outcome": ((*dims, "replicate", "question"), outcome),
            "theta": ((*dims, "question"), known.astype(np.float32)),
            "duplicate": (("persona", *names), duplicate),
        },
        coords={
            "model": [f"model-{i}" for i in range(models)],
            "persona": [f"label-{i}" for i in range(personas)]
            + [f"control-{i}" for i in range(controls)],
            **factors,
            "replicate": np.arange(R),
            "question": [f"q/{i:04d}" for i in range(Q)],
            "is_control": ("persona", np.arange(P) >= personas),
            "answer": ("question", answer),
            "domain": ("question", domain),
            "cluster": (
                "question",
                np.array([f"c{i // 2 * 2}" if i < 4 else f"c{i}" for i in range(Q)]),
            ),
            "source": ("question", np.array(["one", "two"])[np.arange(Q) // ((Q + 1) // 2)]),
            "n_options": ("question", n_options),
        },
        attrs={"factors": names, **(attrs or {})},
    )


def mixed_responses(seed: int, *, lost: float = 0.0, replicates: int = 1) -> Any:
    """A small study with effects, clusters, two sources and two domains."""
    ds = responses(
        personas=4, controls=1, questions=24, models=2, replicates=replicates, unread=0.05,
        lost=lost, seed=seed, factors={"format": ["f0", "f1"], "heat": ["h0", "h1"]},
    )  # fmt: skip
    ds = ds.assign_coords(
        persona=[f"p{i}" for i in range(ds.sizes["persona"])],
        question=[f"q{i}" for i in range(24)],
        model=["m0", "m1"],
        domain=("question", ["d0", "d1"] * 12),
        cluster=("question", [f"c{i // 2}" for i in range(24)]),
        source=("question", ["s0"] * 12 + ["s1"] * 12),
    )
    shift = np.random.default_rng(seed).random(ds["option"].shape) < 0.15
    gold = ds["answer"].to_numpy()
    ds["option"].values[shift] = np.broadcast_to(gold, shift.shape)[shift]
    return ds
