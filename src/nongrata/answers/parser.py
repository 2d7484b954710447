"""Which of the things a text declares is its answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from nongrata.answers import bare, silence
from nongrata.answers.clauses import denial
from nongrata.answers.cleaning import first_turn, without_thinking
from nongrata.answers.decision import Decision, Denial
from nongrata.answers.declarations import DECLARATIONS
from nongrata.answers.offered import Labels, Texts, compile_labels, compile_texts
from nongrata.answers.outcome import Outcome, Parsed
from nongrata.answers.reading import Page, Reading
from nongrata.errors import NongrataError

RULES: Final[tuple[tuple[str, Outcome], ...]] = (
    *((rule.name, Outcome.ANSWERED) for rule in DECLARATIONS),
    ("label-line", Outcome.ANSWERED),
    ("text-line", Outcome.ANSWERED),
    ("leading-label", Outcome.ANSWERED),
    ("leading-text", Outcome.ANSWERED),
    ("only-text", Outcome.ANSWERED),
    ("refusal", Outcome.REFUSED),
    ("thinking-unclosed", Outcome.TRUNCATED),
    ("cut-off", Outcome.TRUNCATED),
    ("ambiguous", Outcome.UNPARSED),
    ("alternatives", Outcome.UNPARSED),
    ("label-text-conflict", Outcome.UNPARSED),
    ("none-of-the-above", Outcome.UNPARSED),
    ("option-list", Outcome.UNPARSED),
    ("repeated-text", Outcome.UNPARSED),
    ("retracted", Outcome.UNPARSED),
    ("negated", Outcome.UNPARSED),
    ("hypothetical", Outcome.UNPARSED),
    ("abstention", Outcome.UNPARSED),
    ("empty", Outcome.UNPARSED),
    ("no-declaration", Outcome.UNPARSED),
)
"""Every rule there is, in the order in which they are tried, with the outcome it gives."""

_NOTHING_SAID = frozenset({"abstention", "empty", "no-declaration", "option-list", "only-text"})
"""Rules whose verdict on a text's beginning does not end the matter."""


def parse_answer(
    text: str, labels: Sequence[str], options: Sequence[str], *, truncated: bool = False
) -> Parsed:
    """Read an answer out of a generated text.

    The last valid declaration wins; what declares no single option is left unparsed, never
    guessed. ``docs/parsing.md`` has every rule with examples.

    Parameters
    ----------
    text
        What the model wrote, unaltered.
    labels
        The labels offered, in the order shown.
    options
        The options' texts, in the same order.
    truncated
        Whether the text ended because a token limit was reached.

    Returns
    -------
    Parsed
        Outcome, index of the option in the order shown, and the rule that decided.

    Examples
    --------
    >>> cities = ["London", "Paris", "Rome"]
    >>> parse_answer("A is tempting, but the answer is **(B)**.", "ABC", cities)
    Parsed(outcome=<Outcome.ANSWERED: 'answered'>, option=1, rule='sentence')
    >>> parse_answer("A or B", "ABC", cities).outcome
    <Outcome.UNPARSED: 'unparsed'>
    """
    return decide(text, *offered(labels, options), truncated).parsed


def parse_many(
    texts: Iterable[str],
    labels: Sequence[str],
    options: Sequence[str],
    truncated: Iterable[bool] | bool = False,
) -> list[Parsed]:
    """Read answers to one question out of many texts; equal texts are read once.

    Parameters
    ----------
    texts
        What the model wrote, unaltered.
    labels, options
        As in `parse_answer`, the same for all texts.
    truncated
        For each text, or for all of them.

    Examples
    --------
    >>> [p.option for p in parse_many(["B", "b)", "Rome."], "ABC", ["London", "Paris", "Rome"])]
    [1, 1, 2]
    """
    given = offered(labels, options)
    texts = list(texts)
    cut = [truncated] * len(texts) if isinstance(truncated, bool) else list(truncated)
    seen: dict[tuple[str, bool], Parsed] = {}
    for key in zip(texts, cut, strict=True):
        if key not in seen:
            seen[key] = decide(key[0], *given, key[1]).parsed
    return [seen[key] for key in zip(texts, cut, strict=True)]


def offered(labels: Sequence[str], options: Sequence[str]) -> tuple[Labels, Texts]:
    """What `decide` needs of the labels and options that were offered."""
    if len(labels) != len(options):
        raise NongrataError(
            f"{len(labels)} labels for {len(options)} options", fix="give each option one label"
        )
    return compile_labels(tuple(labels)), compile_texts(tuple(options))


def decide(text: str, labels: Labels, texts: Texts, truncated: bool) -> Decision:
    """As `parse_answer`, with the place that decided."""
    said = without_thinking(text)
    if said is None:
        return Decision(Parsed(Outcome.TRUNCATED, None, "thinking-unclosed"))
    turn = first_turn(said)
    # A label is whole for certain only if something closed it: "The answer is A" may go on "man".
    last = turn.rstrip(" \t")[-1:]
    cut = truncated and len(turn) == len(said) and (last.isalnum() or last == "_")
    page = Page.of(turn, labels, texts)
    further = silence.next_question(page.low)
    if further > 0:
        decision = _decide(page.until(further), cut=False)
        if decision.parsed.rule not in _NOTHING_SAID:
            return decision
    decision = _decide(page, cut=cut)
    silent = decision.parsed.outcome is Outcome.UNPARSED or decision.parsed.rule == "only-text"
    if truncated and silent:
        return Decision(Parsed(Outcome.TRUNCATED, None, "cut-off"))
    return decision


def _decide(page: Page, *, cut: bool) -> Decision:
    """What a page says; UNPARSED where it may only have been cut off."""
    if not page.low:
        return _unparsed("empty")
    declared, denied = declarations(page)
    if declared:
        return _last_declared(page, declared, cut=cut)
    lines = bare.outline(page)
    return _bare(page, lines, cut=cut) or _silent(page, lines, denied)


def declarations(page: Page) -> tuple[list[tuple[Reading, str]], list[Denial]]:
    """What is declared, in the order of the text, and why other declarations are none."""
    declared: list[tuple[Reading, str]] = []
    denied: list[Denial] = []
    low = page.low
    for rule in DECLARATIONS:
        for word in rule.needs:
            if word in low:
                break
        else:
            continue
        for reading in rule.find(page):
            why_not = denial(low, reading.start, reading.covers)
            if why_not is None:
                declared.append((reading, rule.name))
            else:
                denied.append(Denial(reading, rule.name, why_not))
    declared.sort(key=lambda pair: pair[0].end)
    return declared, denied


def _last_declared(page: Page, declared: list[tuple[Reading, str]], *, cut: bool) -> Decision:
    reading, rule = next(pair for pair in declared if pair[0].end == declared[-1][0].end)
    if cut and reading.end == len(page.low):
        settled = [pair for pair in declared if pair[0].end < reading.end]
        if not settled or settled[-1][0].option != reading.option:
            return _unparsed("no-declaration")
        reading, rule = settled[-1]
    back = silence.second_thought(page.low, reading.covers)
    if back >= 0:
        later = [line for line in bare.outline(page).alone if line.start > back]
        if later and not (cut and later[-1].covers == len(page.low)):
            return _line(later[-1])
        return _unparsed("retracted", reading)
    if reading.option is not None and _denied_later(page, reading):
        return _unparsed("retracted", reading)
    return _parsed(reading, rule)


def _denied_later(page: Page, declared: Reading) -> bool:
    """Whether the declared label is said not to be the one: "Answer: A. On reflection, not A"."""
    for pos in silence.negations(page.low, declared.covers):
        label = page.labels.token.match(page.shown, pos)
        if label and label["label"] in page.labels.names:
            value = page.value(pos, pos)
            if value and value.by_label and value.option == declared.option:
                return True
    return False


def _bare(page: Page, lines: bare.Outline, *, cut: bool) -> Decision | None:
    """An answer that nothing announces."""
    alone = lines.alone
    if cut and alone and alone[-1].covers == len(page.low):
        if len(alone) < 2 or alone[-2].option != alone[-1].option:
            return _unparsed("no-declaration")
        alone = alone[:-1]
    if alone and silence.second_thought(page.low, alone[-1].covers) < 0:
        return _line(alone[-1])
    first = bare.first_value(page)
    label = bare.leading_label(page, lines, first) if first else None
    if label is not None and not (cut and _may_be_a_list(page, label)):
        return _first(page, label, "leading-label")
    refused = silence.refusal(page.low)
    if refused >= 0 and silence.in_first_sentence(page.low, refused):
        return _refused(page, refused)
    text = bare.leading_text(page, first) if first else None
    if text is not None and not (cut and text.covers == len(page.low)):
        return _first(page, text, "leading-text")
    return None if refused < 0 else _refused(page, refused)


def _first(page: Page, reading: Reading, rule: str) -> Decision:
    if silence.second_thought(page.low, reading.covers) >= 0:
        return _unparsed("retracted", reading)
    return _parsed(reading, rule)


def _may_be_a_list(page: Page, reading: Reading) -> bool:
    """Whether a label is followed by the beginning of its option's text up to the cut."""
    if reading.option is None:
        return True
    rest = page.low[reading.end :].lstrip(" .:)]-\n")
    return page.texts.exact[reading.option].lower().startswith(rest)


def _silent(page: Page, lines: bare.Outline, denied: list[Denial]) -> Decision:
    """Why a page says nothing, or the one option it names."""
    if denied:
        return _unparsed(denied[-1].why, denied[-1].reading)
    named = None if lines.is_list else bare.only_text(page)
    if named is not None and named.option is None:
        return _unparsed("repeated-text", named)
    if named is not None and named.option is not None:
        if silence.second_thought(page.low, named.covers) >= 0:
            return _unparsed("retracted", named)
        if bare.names_other_label(page, named.option):
            return _unparsed("ambiguous", named)
        return _parsed(named, "only-text")
    if silence.abstains(page.low):
        return _unparsed("abstention")
    if "of th" in page.low and bare.NONE_OF.search(page.low):
        return _unparsed("none-of-the-above")
    for pos in silence.negations(page.low, 0)[:8]:
        value = page.value(pos, pos)
        if value is not None and value.by_label:
            return _unparsed("negated", value)
    return _unparsed("option-list" if lines.is_list else "no-declaration")


def _refused(page: Page, at: int) -> Decision:
    end = silence.sentence_end(page.low, at)
    return Decision(Parsed(Outcome.REFUSED, None, "refusal"), at, end)


def _line(reading: Reading) -> Decision:
    return _parsed(reading, "label-line" if reading.by_label else "text-line")


def _parsed(reading: Reading, rule: str) -> Decision:
    if reading.option is None:
        return _unparsed(reading.undecided or "ambiguous", reading)
    end = max(reading.end, reading.covers)
    return Decision(Parsed(Outcome.ANSWERED, reading.option, rule), reading.start, end)


def _unparsed(rule: str, reading: Reading | None = None) -> Decision:
    parsed = Parsed(Outcome.UNPARSED, None, rule)
    if reading is None:
        return Decision(parsed)
    return Decision(parsed, reading.start, max(reading.end, reading.covers))
