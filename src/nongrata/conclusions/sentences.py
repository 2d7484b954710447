"""Sentences put together so that each can still be said in another language."""

from __future__ import annotations

from nongrata.wording import Said, say


def as_said(text: str) -> Said:
    """A text of ours as a sentence without fields, to stand in the field of another.

    Examples
    --------
    >>> as_said("too few questions").template
    'too few questions'
    """
    return text if isinstance(text, Said) else say(text.replace("{", "{{").replace("}", "}}"))


def together(first: str, *rest: str) -> str:
    """Sentences one after the other, as one text.

    Examples
    --------
    >>> together(say("{n} of 3.", n=2), "It is so.")
    '2 of 3. It is so.'
    """
    if not rest:
        return first
    return say("{first} {rest}", first=as_said(first), rest=as_said(together(*rest)))
