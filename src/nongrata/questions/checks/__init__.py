"""What is odd about a set of questions, before a study rests on it."""

from __future__ import annotations

from collections import Counter

from nongrata.questions.checks.choices import choice_findings
from nongrata.questions.checks.report import QuestionsReport
from nongrata.questions.checks.structure import (
    by_source,
    class_findings,
    class_order,
    lengths,
    structure_findings,
)
from nongrata.questions.checks.texts import text_findings
from nongrata.questions.model import QuestionSet

GRAVITY = ("error", "warning", "note")


def check_questions(questions: QuestionSet) -> QuestionsReport:
    """Look for everything that real question files have done to studies.

    Parameters
    ----------
    questions
        Whole sources in the order of their files, so that the order can be judged too.

    Returns
    -------
    QuestionsReport
        Typed findings; nothing is printed and nothing refused.

    Examples
    --------
    >>> from nongrata.questions.model import Question
    >>> one = QuestionSet((Question("a", "own", "1 + 1?", ("None", "2"), 1, domain="other"),))
    >>> report = check_questions(one)
    >>> report.finding("null_words").ids
    ('a',)
    """
    from nongrata.questions.checks.wording import leak_findings, wording_leak

    sources = by_source(questions)
    orders = tuple(class_order(name, members) for name, members in sources.items())
    leaks = tuple(wording_leak(name, members) for name, members in sources.items())
    findings = [
        *structure_findings(questions),
        *choice_findings(questions),
        *text_findings(questions),
        *class_findings(orders),
        *leak_findings(leaks),
    ]
    findings.sort(key=lambda finding: GRAVITY.index(finding.severity))
    return QuestionsReport(
        n=len(questions),
        sha256=questions.sha256(),
        sources=tuple((name, len(members)) for name, members in sources.items()),
        domains=tuple(sorted(Counter(q.domain for q in questions).items())),
        choice_counts=tuple(sorted(Counter(len(q.choices) for q in questions).items())),
        findings=tuple(findings),
        leaks=leaks,
        order=orders,
        lengths=tuple(lengths(name, members) for name, members in sources.items()),
        notes=questions.notes,
    )
