"""Where questions come from, what is drawn from them, and what is odd about them.

`load_questions` reads one source, `build_questions` draws a study's composite, and
`check_questions` looks for what real question files have done to studies.
"""

from __future__ import annotations

from nongrata.questions.checks import check_questions
from nongrata.questions.composite import build_questions, load_all
from nongrata.questions.loaders import load_questions
from nongrata.questions.model import Question, QuestionSet
from nongrata.questions.source import SourceSpec
from nongrata.questions.storage import read_questions, write_questions

__all__ = [
    "Question",
    "QuestionSet",
    "SourceSpec",
    "build_questions",
    "check_questions",
    "load_all",
    "load_questions",
    "read_questions",
    "write_questions",
]
