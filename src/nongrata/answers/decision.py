"""A reading of a text, and the place in it that decided."""

from __future__ import annotations

from typing import NamedTuple

from nongrata.answers.clauses import Denied
from nongrata.answers.outcome import Parsed
from nongrata.answers.reading import Reading


class Decision(NamedTuple):
    """What a text says, and where it says so.

    Parameters
    ----------
    parsed
        What it says.
    start, end
        The place that decided, in the cleaned text (`nongrata.answers.reading.Page`); -1 where the
        text as a whole did.
    """

    parsed: Parsed
    start: int = -1
    end: int = -1


class Denial(NamedTuple):
    """What looks like a declaration and is none.

    Parameters
    ----------
    reading
        Where it stands, and what it would declare.
    rule
        The rule that found it.
    why
        Why it is none.
    """

    reading: Reading
    rule: str
    why: Denied
