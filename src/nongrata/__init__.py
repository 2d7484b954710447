"""Persona-conditioned multiple-choice evaluations, and what in them is stable.

>>> import nongrata as ng
>>> study = ng.load_study("smoke")
>>> study.study.shape
(4, 4, 3)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nongrata._version import __version__
from nongrata.errors import NongrataError

if TYPE_CHECKING:
    from nongrata.analysis import analyze, rerun
    from nongrata.answer_view import view_answers
    from nongrata.answers import parse_answer
    from nongrata.loading import load_study
    from nongrata.questions import load_questions
    from nongrata.responses import load_run
    from nongrata.run_status import run_status
    from nongrata.runner import run_study

_HOME = {
    "analyze": "nongrata.analysis",
    "load_questions": "nongrata.questions",
    "load_run": "nongrata.responses",
    "load_study": "nongrata.loading",
    "parse_answer": "nongrata.answers",
    "rerun": "nongrata.analysis",
    "run_status": "nongrata.run_status",
    "run_study": "nongrata.runner",
    "view_answers": "nongrata.answer_view",
}

__all__ = [
    "NongrataError",
    "__version__",
    "analyze",
    "load_questions",
    "load_run",
    "load_study",
    "parse_answer",
    "rerun",
    "run_status",
    "run_study",
    "view_answers",
]


def __getattr__(name: str) -> Any:
    """Import a public function when it is first used: the command line starts without them all."""
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'nongrata' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
