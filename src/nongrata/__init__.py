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
    from nongrata.analysis import (
        Resampling,
        accuracy_intervals,
        agreement,
        analyze,
        best_and_worst,
        chance_check,
        comparisons,
        contrasts,
        held_out,
        instability,
        noise,
        outcome_rates,
        ranking,
        rerun,
        take_unread,
        task_format,
        unread_bounds,
        variance_components,
    )
    from nongrata.answer_view import view_answers
    from nongrata.answers import parse_answer
    from nongrata.conclusions import findings
    from nongrata.interop import from_table, import_table, load_import, load_responses
    from nongrata.loading import load_study
    from nongrata.questions import load_questions
    from nongrata.responses import load_run
    from nongrata.run_status import run_status
    from nongrata.runner import run_study
    from nongrata.study_results import study_results
    from nongrata.temperature_curves import temperature_curves

_HOME = {
    "Resampling": "nongrata.analysis",
    "accuracy_intervals": "nongrata.analysis",
    "agreement": "nongrata.analysis",
    "analyze": "nongrata.analysis",
    "best_and_worst": "nongrata.analysis",
    "chance_check": "nongrata.analysis",
    "comparisons": "nongrata.analysis",
    "contrasts": "nongrata.analysis",
    "findings": "nongrata.conclusions",
    "from_table": "nongrata.interop",
    "held_out": "nongrata.analysis",
    "import_table": "nongrata.interop",
    "instability": "nongrata.analysis",
    "load_import": "nongrata.interop",
    "load_questions": "nongrata.questions",
    "load_responses": "nongrata.interop",
    "load_run": "nongrata.responses",
    "load_study": "nongrata.loading",
    "noise": "nongrata.analysis",
    "outcome_rates": "nongrata.analysis",
    "parse_answer": "nongrata.answers",
    "ranking": "nongrata.analysis",
    "rerun": "nongrata.analysis",
    "run_status": "nongrata.run_status",
    "run_study": "nongrata.runner",
    "study_results": "nongrata.study_results",
    "take_unread": "nongrata.analysis",
    "task_format": "nongrata.analysis",
    "temperature_curves": "nongrata.temperature_curves",
    "unread_bounds": "nongrata.analysis",
    "variance_components": "nongrata.analysis",
    "view_answers": "nongrata.answer_view",
}

__all__ = [
    "NongrataError",
    "Resampling",
    "__version__",
    "accuracy_intervals",
    "agreement",
    "analyze",
    "best_and_worst",
    "chance_check",
    "comparisons",
    "contrasts",
    "findings",
    "from_table",
    "held_out",
    "import_table",
    "instability",
    "load_import",
    "load_questions",
    "load_responses",
    "load_run",
    "load_study",
    "noise",
    "outcome_rates",
    "parse_answer",
    "ranking",
    "rerun",
    "run_status",
    "run_study",
    "study_results",
    "take_unread",
    "task_format",
    "temperature_curves",
    "unread_bounds",
    "variance_components",
    "view_answers",
]


def __getattr__(name: str) -> Any:
    """Import a public function when it is first used: the command line starts without them all."""
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'nongrata' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
