"""What a row of the coverage tables is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Kind = Literal["coverage", "rejection"]
Claim = Literal["nominal", "conservative", "tabulated"]


@dataclass(frozen=True)
class Row:
    """One simulated situation, and the statements tried in it.

    Parameters
    ----------
    family
        The part of the statistics it belongs to, such as ``"accuracy"``.
    name
        The situation, in words for the table.
    kind
        ``"coverage"``: the share of studies whose 95% interval holds the truth; ``"rejection"``:
        the share of null studies in which a test at 5% rejects.
    claim
        What is claimed, by statement: ``"nominal"``: within the 99% binomial band of .95 (.05);
        ``"conservative"``: at least .95 less the band (at most .05 and the band);
        ``"tabulated"``: nothing, the number is shown.
    study
        Simulate the study of this seed and try the statements: by name, 1.0 if the interval holds
        the truth (the test rejects), else 0.0, ``nan`` if there is no statement in this study.
        For intervals of several targets at once, the share of them that is covered.
    """

    family: str
    name: str
    kind: Kind
    claim: dict[str, Claim]
    study: Callable[[int], dict[str, float]]
