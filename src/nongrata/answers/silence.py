"""Texts that declare nothing: refusals, "I don't know", second thoughts, further questions."""

from __future__ import annotations

import re

_REFUSAL = re.compile(
    r"\b(?:i|we)\b(?:'m| am| are)?[^.!?\n]{0,30}?"
    r"(?:(?:can't|cannot|can not|couldn't|could not|won't|will not|unable to|not able to"
    r"|not going to|don't want to|not allowed to|not designed to|not programmed to)"
    r"(?: (?:really|definitively|directly|honestly|personally|simply|in good conscience|ethically"
    r"|therefore|actually|be able to))?"
    r"(?: (?:(?:choose|select|pick)(?=[ ](?:between|from|among|for|any|an|one|the|a)\b|\W*$|[.,;!])"
    r"|answer|assist|help|provide|determine|comply|respond|engage|fulfil"
    r"|discuss|give|make|say|decide|continue|offer|participate|tell|do (?:that|this|so)|judge|take"
    r"|form|have|express|recommend|endorse)|[.…]|$)"
    r"|(?:must|have to|need to|would|will|politely|respectfully|'ll) decline\b|decline to\b"
    r"|refuse to\b|not comfortable\b|don't feel comfortable|do not feel comfortable"
    r"|(?:do not|don't) have (?:personal )?(?:opinions|preferences|feelings|beliefs))"
)
_ABSTENTION = re.compile(
    r"\b(?:i (?:don't|do not|really don't) know|i have no idea|i(?:'m| am) not (?:sure|certain)|no idea"
    r"|not enough information|insufficient information|(?:cannot|can't|can not) be determined"
    r"|(?:impossible|not possible) to (?:tell|say|determine|know)|it depends|more (?:context|information)"
    r" (?:is )?needed)\b"
)
_SECOND_THOUGHT = re.compile(
    r"(?:[.,!?\n)] ?|- )(?:no, |oh, |hmm,? |oops,? |sorry, )?"
    r"(?:wait(?=[,.!:]| no\b| -|$)|(?:hold on|scratch that|correction|on second thoughts?|let me (?:reconsider|rethink"
    r"|correct (?:that|myself))|i (?:was wrong|made a mistake|take that back|misspoke|stand corrected)"
    r"|actually, no|no, that's wrong|that's wrong|that is wrong)(?=[ ,.!:-]|$))"
)
_NEXT_QUESTION = re.compile(
    r"\n(?:(?:next |new )?(?:question|problem|exercise|example)(?: \d{1,4})?[:.)]|q(?: ?\d{1,4})?[:.)]"
    r"|(?:\d{1,3}[.)] )?question\n|(?:user|human|### ?instruction|### ?question)s? ?:)"
)
_NEGATED_LABEL = re.compile(r"(?:\bnot|n't) (?:be )?(?=\S)")
_SENTENCE_ENDS = re.compile(r"[.!?\n](?=\s|$)")


def refusal(low: str) -> int:
    """Where the reply declines to answer; -1 if it does not.

    Examples
    --------
    >>> refusal("sorry, but as an ai i cannot choose."), refusal("she cannot choose.")
    (20, -1)
    """
    match = _REFUSAL.search(low)
    return match.start() if match else -1


def in_first_sentence(low: str, pos: int) -> bool:
    """Whether a position is in the first sentence."""
    end = _SENTENCE_ENDS.search(low)
    return end is None or pos < end.start()


def abstains(low: str) -> bool:
    """Whether the reply says that it does not know, or that nobody can.

    Examples
    --------
    >>> abstains("i don't know.")
    True
    """
    return _ABSTENTION.search(low) is not None


def second_thought(low: str, after: int) -> int:
    """Where a declaration made before `after` is taken back; -1 if it is not.

    Examples
    --------
    >>> second_thought("answer: a. wait, no.", 9), second_thought("answer: a. they wait.", 9)
    (9, -1)
    """
    match = _SECOND_THOUGHT.search(low, after)
    return match.start() if match else -1


def next_question(low: str) -> int:
    r"""Where the reply begins to ask and answer further questions; -1 if it does not.

    Examples
    --------
    >>> next_question("answer: b\nquestion: what is 2 + 2?")
    9
    """
    match = _NEXT_QUESTION.search(low)
    return match.start() if match else -1


def negations(low: str, after: int) -> list[int]:
    """Where something is said not to be, as positions of what is not.

    Examples
    --------
    >>> negations("it is not a", 0)
    [10]
    """
    return [match.end() for match in _NEGATED_LABEL.finditer(low, after)]
