"""What agreement between configurations says: over labels, label by label, factor by factor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from nongrata.analysis.estimated import Estimated
from nongrata.analysis.selection import LeftOut
from nongrata.stats.figure import Figure
from nongrata.stats.iq_and_kappa import Link
from nongrata.wording import say

About = Literal["correctness", "option"]
Scope = Literal["labels", "label", "factor"]
Unread = Literal["left_out", "category"]


@dataclass(frozen=True, slots=True)
class TotalAgreement:
    """How often some number of configurations, picked at random, all agree.

    Parameters
    ----------
    of
        How many are picked.
    share
        In how many questions all of them agree, in per cent.
    """

    of: int
    share: Estimated


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """How far configurations agree on the same questions, within labels.

    Parameters
    ----------
    about
        ``"correctness"``: right or not right, unread answers are not right; ``"option"``: the
        option chosen, whatever its place.
    scope, name
        ``"labels"``: the mean over labels; ``"label"``: one; ``"factor"``: between the levels of
        one factor, the others held, over labels and settings together.
    compared
        Configurations compared with one another.
    settings
        Settings of the other factors; 1 where all configurations are compared.
    raw
        Pairs of configurations that agree, in per cent.
    fleiss, gwet, alpha
        Fleiss' kappa, Gwet's AC1, Krippendorff's alpha (nominal). For factors kappa has no
        interval, and the other two are not computed.
    conger, light
        Conger's exact kappa and Light's kappa, which take each configuration's own shares of
        categories; without intervals.
    total
        Total agreement of several numbers of configurations.
    unread
        Answers that could not be read, in per cent of those there are.
    """

    about: About
    scope: Scope
    name: str
    compared: int
    settings: int
    raw: Estimated
    fleiss: Estimated
    gwet: Estimated
    alpha: Estimated
    conger: Figure
    light: Figure
    total: tuple[TotalAgreement, ...]
    unread: float

    def total_of(self, m: int) -> Estimated:
        """Total agreement of `m` configurations."""
        for entry in self.total:
            if entry.of == m:
                return entry.share
        return Estimated.undefined(say("total agreement of {m} was not computed", m=m))


@dataclass(frozen=True, slots=True)
class ModelAgreement:
    """Agreement between configurations, of one model.

    Parameters
    ----------
    model
        Its name.
    rows
        On correctness and on the option chosen, for each scope.
    fixed
        Number of configurations at which total agreement is given for every factor: the levels
        of the factor with the fewest.
    iq_and_kappa
        The correlation over labels of IQ with Fleiss' kappa of correctness, three ways.
    labels, configurations, questions, clusters, replicates
        What the figures rest on.
    design_effect
        Variance of the raw agreement on correctness over what it would be without clusters.
    categories
        Options that AC1 of the option reckons with: the most that any question has.
    left_out
        Personas and configurations that are not in them, and why.
    """

    model: str
    rows: tuple[AgreementRow, ...]
    fixed: int
    iq_and_kappa: tuple[Link, ...]
    labels: int
    configurations: int
    questions: int
    clusters: int
    replicates: int
    design_effect: Figure
    categories: int
    left_out: tuple[LeftOut, ...]

    def of(self, about: About, scope: Scope = "labels") -> tuple[AgreementRow, ...]:
        """The rows of one kind."""
        return tuple(r for r in self.rows if r.about == about and r.scope == scope)
