"""What each analysis can use of an imported table, said before any is run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MOST_MISSING = 0.05
"""Share of combinations that may lack an answer for variance components."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How large and how complete a table is.

    Parameters
    ----------
    labels, controls, configurations, items, clusters, domains
        Numbers.
    requests, wanted
        Requests (model, persona, configuration, item) that have an answer, and all of them.
    most_repeats, fewest_repeats
        Repeats of the requests that have an answer.
    options_are
        What an option's number means; see `nongrata.interop.imported.load_import`.
    options_known
        Whether every question's number of options is known.
    knows_temperature
        Whether it is known at which temperature answers were drawn.
    """

    labels: int
    controls: int
    configurations: int
    items: int
    clusters: int
    domains: int
    requests: int
    wanted: int
    most_repeats: int
    fewest_repeats: int
    options_are: str
    options_known: bool
    knows_temperature: bool


Verdict = Literal["yes", "partly", "no"]


@dataclass(frozen=True, slots=True)
class Use:
    """Whether an analysis can be made of a table, and why not or how far."""

    analysis: str
    can: Verdict
    why: str


def uses(table: Extent) -> tuple[Use, ...]:
    """Say what each analysis can use.

    Examples
    --------
    >>> table = Extent(2, 0, 3, 10, 10, 1, 60, 60, 1, 1, "correctness", False, False)
    >>> [use.analysis for use in uses(table) if use.can == "no"][:2]
    ['accuracy against chance', 'sampling noise']
    """
    return (
        Use("accuracy, outcomes, bounds", "yes", f"{table.items:,} items"),
        _chance(table),
        _noise(table),
        _instability(table),
        _ranks(table),
        _contrasts(table),
        _components(table),
        _domains(table),
        _clusters(table),
    )


def _chance(table: Extent) -> Use:
    name = "accuracy against chance"
    if not table.options_known:
        return Use(name, "no", "how many options a question has is not known: give --options")
    if table.options_are != "labels":
        return Use(name, "partly", "not against the best constant answer: no shared labels")
    return Use(name, "yes", "the number of options is known, and which was chosen")


def _noise(table: Extent) -> Use:
    name = "sampling noise"
    if table.most_repeats < 2:
        why = "one answer a request: noise and what depends on the configuration look the same"
        return Use(name, "no", why)
    if table.fewest_repeats < 2:
        return Use(name, "partly", f"some requests have one answer, others {table.most_repeats}")
    said = f"{table.fewest_repeats:,} to {table.most_repeats:,}"
    if table.fewest_repeats == table.most_repeats:
        said = f"{table.most_repeats:,}"
    also = "" if table.knows_temperature else "; temperature 0 is not marked (--temperature)"
    return Use(name, "yes", f"{said} repeats a request{also}")


def _instability(table: Extent) -> Use:
    name = "instability (IA, IQ)"
    if table.configurations < 2:
        return Use(name, "no", "one configuration: nothing to be unstable against")
    return Use(name, "yes", f"{table.configurations:,} configurations")


def _ranks(table: Extent) -> Use:
    name = "ranks of labels (IO)"
    if table.labels < 2:
        return Use(name, "no", "one label cannot be ranked")
    if table.configurations < 2:
        return Use(name, "partly", "one configuration: no agreement between configurations")
    return Use(name, "yes", f"{table.labels:,} labels")


def _contrasts(table: Extent) -> Use:
    if not table.controls:
        return Use("contrasts with controls", "no", "no label is marked as one: give --control")
    return Use("contrasts with controls", "yes", f"controls: {table.controls:,}")


def _components(table: Extent) -> Use:
    name = "variance components"
    lost = table.wanted - table.requests
    if lost > MOST_MISSING * table.wanted:
        why = f"{lost:,} of {table.wanted:,} combinations have no answer; at most 5% may"
        return Use(name, "no", why)
    if lost:
        why = (
            f"{lost:,} of {table.wanted:,} combinations have no answer: allowed for as chance loss"
        )
        return Use(name, "partly", why)
    if table.fewest_repeats < table.most_repeats:
        return Use(name, "partly", "repeats are unequal: the mean of each request is used")
    return Use(name, "yes", "every combination has as many answers")


def _domains(table: Extent) -> Use:
    if table.domains < 2:
        return Use("comparisons of domains", "no", "one domain: give --domain")
    return Use("comparisons of domains", "yes", f"{table.domains:,} domains")


def _clusters(table: Extent) -> Use:
    if table.clusters == table.items:
        why = "each item on its own; if some share a text, give --cluster: intervals are too narrow"
        return Use("dependence of items", "partly", why)
    return Use(
        "dependence of items", "yes", f"{table.clusters:,} clusters of {table.items:,} items"
    )
