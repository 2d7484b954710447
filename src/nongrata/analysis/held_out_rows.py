"""What a choice of configurations or labels says, in sample and held out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from nongrata.analysis.estimated import Estimated
from nongrata.analysis.selection import LeftOut
from nongrata.stats.figure import Figure

Choosing = Literal[
    "across_temperatures",
    "within_temperature",
    "all_configurations",
    "best_label",
    "worst_label",
    "best_label_of_each_configuration",
    "worst_label_of_each_configuration",
]


@dataclass(frozen=True, slots=True)
class HeldOutRow:
    """One choice, judged on the answers that made it and on others; in points of accuracy.

    Parameters
    ----------
    choosing
        ``"across_temperatures"``: the most stable configurations at the lowest temperature less
        the least stable ones at the highest; ``"within_temperature"``: the most less the least
        stable ones at one temperature; ``"all_configurations"``: of all, where there is no
        temperature; ``"best_label"``, ``"worst_label"``: its mean accuracy less that of the mean
        label; ``..._of_each_configuration``: chosen for each configuration apart.
    name
        The temperature, for ``"within_temperature"``; else empty.
    number
        Configurations on either side, or labels, that are chosen.
    wanted
        How many were asked for: fewer are chosen where there are not twice as many.
    in_sample
        Chosen and judged on the same questions. Its interval ignores the choice.
    held_out
        Chosen on one half of the questions, judged on the other, both ways; its standard error
        is the mean of the two, which is on the safe side.
    optimism
        In sample less held out.
    fold_1, fold_2
        The two estimates held out.
    chosen, against
        Names chosen on all questions, ties included; empty where they differ by configuration.
    """

    choosing: Choosing
    name: str
    number: int
    wanted: int
    in_sample: Estimated
    held_out: Estimated
    optimism: Figure
    fold_1: float
    fold_2: float
    chosen: tuple[str, ...]
    against: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModelHeldOut:
    """The choices of one model.

    Parameters
    ----------
    model
        Its name.
    rows
        One for each choice.
    temperature_gap
        Mean accuracy of *all* configurations at the lowest temperature less that of all at the
        highest, in points: what no choice is needed for.
    lowest, highest
        The two temperatures; ``nan`` if there are not two.
    labels, configurations, questions, clusters
        What the figures rest on.
    left_out
        Personas and configurations that are not in them, and why.
    """

    model: str
    rows: tuple[HeldOutRow, ...]
    temperature_gap: Estimated
    lowest: float
    highest: float
    labels: int
    configurations: int
    questions: int
    clusters: int
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True, slots=True)
class SignTest:
    """In how many models a choice comes out above 0, and how easily that happens by chance.

    Parameters
    ----------
    choosing, name
        Which rows.
    models
        Models with a figure that is not 0.
    positive_in_sample, positive_held_out
        How many of them are above 0.
    p_in_sample, p_held_out
        Two-sided exact p value of the sign test; models are taken as independent.
    """

    choosing: Choosing
    name: str
    models: int
    positive_in_sample: int
    positive_held_out: int
    p_in_sample: float
    p_held_out: float
