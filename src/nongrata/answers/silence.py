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
    r"(?:i (?:don't|do not|really don't) know|i(?:'m| am) not (?:sure|certain)|no idea"
    r"|not enough information|insufficient information|(?:cannot|can't|can not) be determined"
    r"|(?:impossible|not possible) to (?:tell|say|determine|know)|it depends"
    r"|more (?:context|information) (?:is )?needed)\b"
)
_ABSTENTION_WORDS = (
    *("know", "not sure", "certain", "idea", "information", "determined", "possible", "depends"),
    "needed",
)
_REFUSAL_WORDS = (
    *("can", "could", "won't", "will not", "able to", "going to", "want to", "allowed", "designed"),
    *("programmed", "decline", "refuse", "comfortable", "have "),
)
_SECOND_WORDS = (
    *("wait", "hold on", "scratch", "correct", "second thought", "let me", "wrong", "mistake"),
    *("take that", "misspoke", "actually, no"),
)
_SECOND_THOUGHT = re.compile(
    r"(?:[.,!?\n)] ?|- )(?:no, |oh, |hmm,? |oops,? |sorry, )?"
    r"(?:wait(?=[,.!:]| no\b| -|$)|(?:hold on|scratch that|correction|on second thoughts?"
    r"|let me (?:reconsider|rethink|correct (?:that|myself))"
    r"|i (?:was wrong|made a mistake|take that back|misspoke|stand corrected)"
    r"|actually, no|no, that's wrong|that's wrong|that is wrong)(?=[ ,.!:-]|$))"
)
_NEXT_QUESTION = re.compile(
    r"\n(?:(?:next |new )?(?:question|problem|exercise|example)(?: \d{1,4})?[:.)]"
    r"|q(?: ?\d{1,4})?[:.)]|(?:\d{1,3}[.)] )?question\n"
    r"|(?:user|human|### ?instruction|### ?question)s? ?:)"
)
_NEGATED_LABEL = re.compile(r"n(?:'t|(?<!\wn)ot) (?:be )?(?=\S)")
_SENTENCE_ENDS = re.compile(r"[.!?\n](?=\s|$)")


def _has_one(low: str, words: tuple[str, ...]) -> bool:
    """A quick look, so that a slower pattern need not be tried on most texts."""
    for word in words:  # noqa: SIM110 - a generator would cost as much as the pattern
        if word in low:
            return True
    return False


def refusal(low: str) -> int:
    """Where the reply declines to answer; -1 if it does not.

    Examples
    --------
    >>> refusal("sorry, but as an ai i cannot choose."), refusal("she cannot choose.")
    (20, -1)
    """
    match = _REFUSAL.search(low) if _has_one(low, _REFUSAL_WORDS) else None
    return match.start() if match else -1


def sentence_end(low: str, pos: int) -> int:
    """Where the sentence ends that stands at a position.

    Examples
    --------
    >>> sentence_end("sorry. i cannot. no.", 7)
    16
    """
    end = _SENTENCE_ENDS.search(low, pos)
    return end.end() if end else len(low)


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
    return _has_one(low, _ABSTENTION_WORDS) and _ABSTENTION.search(low) is not None


def second_thought(low: str, after: int) -> int:
    """Where a declaration made before `after` is taken back; -1 if it is not.

    Examples
    --------
    >>> second_thought("answer: a. wait, no.", 9), second_thought("answer: a. they wait.", 9)
    (9, -1)
    """
    match = _SECOND_THOUGHT.search(low, after) if _has_one(low, _SECOND_WORDS) else None
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
