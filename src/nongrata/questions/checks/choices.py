"""Oddities of a question's choices: repeated, pointing at each other, like labels, like nulls."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from nongrata.questions.checks.report import Finding, Severity, Unit
from nongrata.questions.model import Question

_LETTER = r"\(?[A-D]\)?\.?"
_POINTS_AT_LETTERS = re.compile(
    rf"""^\s*(?:(?:all\ of|both|either|neither|nether|only|options?|choices?|answers?)\s+)*
    {_LETTER}(?:(?:\s*,\s*|\s+)(?:(?:and|or|nor|&|but\ not)\s+)?{_LETTER})+
    \s*(?:$|[.;]|,?\s*(?:only|both|above)\b
      |\s(?:is|are)\s+(?:both\s+)?(?:correct|true|right|incorrect|false|wrong|part)\b)""",
    re.IGNORECASE | re.VERBOSE,
)
_NAMES_A_LETTER = re.compile(r"\b(?:in|options?|choices?|answers?)\s+\([A-D]\)", re.IGNORECASE)
_POINTS_IN_WORDS = re.compile(
    r"""^\W*(?:
      (?:all|none|any|both|either|neither|each|some|most|one|two|no|any\ (?:one|two|2))
        (?:\ or\ combinations)?\s+(?:of\s+)?(?:the\s+)?
        (?:other\s+)?(?:above|below|these|those|them|options|choices|answers|alternatives)\b
      |(?:all|both|neither|either|none)\W*$
      )""",
    re.IGNORECASE | re.VERBOSE,
)
_OWN_LABEL = re.compile(r"\(?([A-Ja-j])[).:]\s")
_LABEL_DIGITS = frozenset("01234")
_NUMBER = re.compile(r"[-+]?[0-9]+(?:[.,][0-9]+)*(?:[eE][-+]?[0-9]+)?")
_MISSING = frozenset({"", "none", "na", "n/a", "#n/a", "<na>", "nan", "-nan", "null", "nil", "inf"})
_BOOLEAN = frozenset({"true", "false"})
_YAML_BOOLEAN = frozenset({"yes", "no", "on", "off", "y", "n"})


def points_at_letters(choice: str) -> bool:
    """Whether a choice names other choices by their letters.

    Examples
    --------
    >>> [points_at_letters(t) for t in ("A and B only", "(B) (C) and (D).", "Vitamins A and C")]
    [True, True, False]
    """
    found = _POINTS_AT_LETTERS.search(choice) or _NAMES_A_LETTER.search(choice)
    return found is not None


def points_in_words(choice: str) -> bool:
    """Whether a choice points at other choices in words.

    Examples
    --------
    >>> [points_in_words(t) for t in ("All of the above", "Both", "Both rise", "None of these.")]
    [True, True, False, True]
    """
    return _POINTS_IN_WORDS.search(choice) is not None


def _by_case(question: Question) -> bool:
    distinct = set(question.choices)
    return len({choice.casefold() for choice in distinct}) < len(distinct)


def _label_elsewhere(question: Question) -> bool:
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: len(question.choices)]
    return any(
        len(choice) == 1 and choice in letters and letters[place] != choice
        for place, choice in enumerate(question.choices)
    )


def _own_labels(question: Question) -> bool:
    found = [_OWN_LABEL.match(choice) for choice in question.choices]
    letters = [match[1].upper() for match in found if match]
    return letters == list("ABCDEFGHIJ"[: len(question.choices)])


Rule = tuple[str, str, Unit, Severity, str, Callable[[Question], int]]

_RULES: tuple[Rule, ...] = (
    (
        "right_choice_twice",
        "the right text stands twice among the choices",
        "questions",
        "error",
        "two labels are right, and only one counts",
        lambda q: q.choices.count(q.choices[q.answer]) > 1,
    ),
    (
        "repeated_choices",
        "a text stands twice among the choices",
        "questions",
        "warning",
        "an answer given as text names two labels",
        lambda q: len(set(q.choices)) < len(q.choices),
    ),
    (
        "case_only_choices",
        "choices that differ only in case",
        "questions",
        "warning",
        "matching an answer without regard to case cannot tell them apart",
        _by_case,
    ),
    (
        "choices_naming_letters",
        "choices that name other choices' letters",
        "questions",
        "warning",
        "another order or another kind of label changes what they mean",
        lambda q: any(map(points_at_letters, q.choices)),
    ),
    (
        "choices_pointing_in_words",
        "choices that point at other choices in words",
        "questions",
        "note",
        "'the above' is wrong unless the choice stands last",
        lambda q: any(map(points_in_words, q.choices)),
    ),
    (
        "label_elsewhere",
        "a choice is the label of another choice",
        "questions",
        "warning",
        "an answer that is one letter can mean either",
        _label_elsewhere,
    ),
    (
        "one_letter_choices",
        "choices of one letter from a to j",
        "questions",
        "note",
        "may be mistaken for labels",
        lambda q: any(len(c) == 1 and c in "abcdefghijABCDEFGHIJ" for c in q.choices),
    ),
    (
        "own_labels",
        "choices that begin with labels of their own",
        "questions",
        "warning",
        "each is labelled twice, and wrongly in another order",
        _own_labels,
    ),
    (
        "all_label_digits",
        "all choices are digits from 1 to 4",
        "questions",
        "note",
        "numeric labels would contradict them",
        lambda q: all(len(c) == 1 and c in "1234" for c in q.choices),
    ),
    (
        "several_label_digits",
        "two or more choices are digits from 0 to 4",
        "questions",
        "note",
        "bad company for numeric labels",
        lambda q: sum(c in _LABEL_DIGITS for c in q.choices) >= 2,
    ),
    (
        "null_words",
        "choices that loaders take for a missing value (None, Na, ...)",
        "questions",
        "note",
        "a reader that guesses types loses them; this one does not",
        lambda q: any(c.casefold() in _MISSING for c in q.choices),
    ),
    (
        "boolean_words",
        "choices that loaders take for a boolean (TRUE, False, ...)",
        "questions",
        "note",
        "a reader that guesses types rewrites them; this one does not",
        lambda q: any(c.casefold() in _BOOLEAN for c in q.choices),
    ),
    (
        "yaml_words",
        "choices that YAML 1.1 takes for a boolean (yes, no, on, off, ...)",
        "questions",
        "note",
        "they need quotes in a YAML file",
        lambda q: any(c.casefold() in _YAML_BOOLEAN for c in q.choices),
    ),
    (
        "number_choices",
        "choices that loaders take for a number (0, 1,493, ...)",
        "questions",
        "note",
        "a reader that guesses types rewrites them; this one does not",
        lambda q: any(_NUMBER.fullmatch(c) for c in q.choices),
    ),
)


def choice_findings(questions: Sequence[Question]) -> Iterable[Finding]:
    """Yield what is odd about the choices.

    Parameters
    ----------
    questions
        The questions.

    Examples
    --------
    >>> q = Question("a", "own", "Which?", ("None", "x", "x", "A and B"), 1)
    >>> [f.code for f in choice_findings([q])]
    ... # doctest: +NORMALIZE_WHITESPACE
    ['right_choice_twice', 'repeated_choices', 'choices_naming_letters',
     'choices_pointing_in_words', 'null_words']
    """
    for code, title, unit, severity, why, counter in _RULES:
        ids = tuple(q.id for q in questions if counter(q))
        if ids:
            yield Finding(code, title, severity, unit, len(ids), ids, why)
