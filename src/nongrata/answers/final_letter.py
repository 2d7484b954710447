"""Where in a text the letter stands that decided its reading.

A text that ends "... so the answer is B" was sampled up to its letter; the letter itself could have
been another. To read it as a distribution one must know where it stands. The place is found by what
it does, not by a second set of rules: the last place at which the text, cut there and continued
with each of the labels in turn, is read as that label.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from nongrata.answers.outcome import Outcome
from nongrata.answers.parser import parse_answer

_MOST_TRIED = 8


def final_letter(
    text: str, labels: Sequence[str], options: Sequence[str], option: int
) -> int | None:
    """Position of the label that decided that `option` was chosen; None if no label did.

    Parameters
    ----------
    text
        What the model wrote, unaltered.
    labels, options
        As in `parse_answer`.
    option
        The option that the whole text was read as choosing, in the order shown.

    Examples
    --------
    >>> text = "A is red, and so is the sky. Answer: B"
    >>> final_letter(text, "ABC", ["red", "green", "blue"], 1)
    37
    >>> final_letter("It is green.", "ABC", ["red", "green", "blue"], 1) is None
    True
    """
    label = re.escape(labels[option])
    found = re.finditer(rf"(?<![^\W_]){label}(?![^\W_])", text, re.IGNORECASE)
    for match in list(found)[: -_MOST_TRIED - 1 : -1]:
        before = text[: match.start()]
        if all(
            (read := parse_answer(before + other, labels, options)).outcome is Outcome.ANSWERED
            and read.option == place
            for place, other in enumerate(labels)
        ):
            return match.start()
    return None
