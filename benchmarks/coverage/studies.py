"""Simulated studies whose truth is known in closed form.

theta[p,c,q] = base + persona[p] + configuration[c] + cell[p,c] + terms of the question, each of
which is uniform with mean 0 over the population of questions:

    question_sd        a question's difficulty, shared by all cells
    question_persona   question x persona
    question_factor    question x level of a factor, by factor
    question_cell      question x persona x configuration

Everything is bounded, so theta never leaves [0, 1] (checked), and the accuracy of a cell in the
population of questions is exactly base + persona + configuration + cell. In a cluster, all
questions share every term.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from nongrata.stats.units import Units

ROOT3 = 3**0.5


@dataclass(frozen=True)
class Simulated:
    """One simulated study.

    Parameters
    ----------
    theta
        Shape (P, K, Q).
    x
        Answers drawn, bool, shape (R, P, K, Q).
    levels
        Position of each factor's level in each configuration, shape (K, F); last fastest.
    units
        Clusters of the questions.
    accuracy
        True accuracies in the population of questions, shape (P, K).
    """

    theta: Any
    x: Any
    levels: Any
    units: Units
    accuracy: Any


def simulate(
    seed: int,
    *,
    questions: int = 300,
    cluster_size: int = 1,
    factors: Sequence[int] = (2, 2, 3),
    personas: int = 6,
    base: float = 0.5,
    persona: Any = 0.0,
    configuration: Any = 0.0,
    cell: Any = 0.0,
    question_sd: float = 0.1,
    question_persona: float = 0.0,
    question_factor: Mapping[int, float] | None = None,
    question_cell: float = 0.0,
    replicates: int = 1,
) -> Simulated:
    """Draw the questions of a study, and its answers.

    `persona` broadcasts to (P,), `configuration` to (K,), `cell` to (P, K); `question_factor`
    gives the standard deviation of the interaction of the question with each factor.
    """
    rng = np.random.default_rng(seed)
    P, K = personas, int(np.prod(factors))
    levels = np.array(list(product(*(range(n) for n in factors))))
    G = -(-questions // cluster_size)
    cluster = np.repeat(np.arange(G), cluster_size)[:questions]

    def spread(sd: float, *shape: int) -> Any:
        return rng.uniform(-ROOT3 * sd, ROOT3 * sd, (*shape, G)) if sd else np.zeros((*shape, G))

    mean = base + np.broadcast_to(persona, P)[:, None]
    mean = mean + np.broadcast_to(configuration, K) + np.broadcast_to(cell, (P, K))
    theta = mean[:, :, None] + spread(question_sd)
    theta = theta + spread(question_persona, P)[:, None] + spread(question_cell, P, K)
    for f, sd in (question_factor or {}).items():
        theta = theta + spread(sd, factors[f])[levels[:, f]]
    if theta.min() < 0 or theta.max() > 1:
        raise ValueError(f"theta reaches from {theta.min():.3f} to {theta.max():.3f}")
    theta = theta[:, :, cluster]
    x = rng.random((replicates, P, K, questions)) < theta
    return Simulated(theta, x, levels, Units.of(questions, cluster), mean)
