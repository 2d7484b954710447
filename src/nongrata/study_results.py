"""Everything that is computed about a folder of answers, in one object and one JSON form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from nongrata.analysis.analyze import Analysis, analyze
from nongrata.analysis.instability import Value
from nongrata.analysis.model_data import Resampling
from nongrata.analysis.result import Result
from nongrata.analysis.unread import Unread, take_unread
from nongrata.conclusions.findings import findings
from nongrata.conclusions.model import Findings
from nongrata.interop.loading import load_answers
from nongrata.provenance import Provenance, provenance
from nongrata.run_path import run_path
from nongrata.temperature_curves import TemperatureCurves, temperature_curves

Progress = Callable[[str], Callable[[int, int], None]]
"""Told the name of a step; what it returns is told how many of how many items are done."""


@dataclass(frozen=True, slots=True)
class StudyResults(Result):
    """Analysis, findings, temperature curves and provenance of one folder of answers.

    Parameters
    ----------
    analysis, findings, temperature_curves, provenance
        The parts. In the JSON form the fields of the analysis stand at the top and the others
        beside them.
    """

    analysis: Analysis
    findings: Findings
    temperature_curves: TemperatureCurves
    provenance: Provenance
    kind: Literal["analysis"] = "analysis"

    def as_dict(self) -> dict[str, Any]:
        """What ``nongrata analyze --json`` prints; every number of a report points into it."""
        return self.analysis.as_dict() | {
            "findings": self.findings.as_dict(),
            "temperature_curves": self.temperature_curves.as_dict(),
            "provenance": self.provenance.as_dict(),
        }

    def __str__(self) -> str:
        return str(self.findings)


def study_results(
    folder: str | Path,
    *,
    value: Value = "draws",
    unread: Unread = "wrong",
    smallest_effect: float = 1.0,
    resampling: Resampling | None = None,
    progress: Progress | None = None,
) -> StudyResults:
    """Everything that is computed about a run or an imported table.

    The same answers and seed always give the same result, to the last bit of its JSON form.

    Parameters
    ----------
    folder
        A run directory or an imported table.
    value, unread, smallest_effect, resampling
        As of `nongrata.analysis.analyze`. Findings rest on the same answers, taken in the same way.
    progress
        Told what is done, and how far it is.

    Raises
    ------
    NongrataError
        If the folder holds no answers.
    """
    folder = run_path(folder)
    step = progress or _nobody
    origin = provenance(folder)
    responses = load_answers(folder, step("reading answers"))
    analysis = analyze(
        responses,
        value=value,
        unread=unread,
        smallest_effect=smallest_effect,
        resampling=resampling,
        progress=step("analysing"),
    )
    step("drawing conclusions")
    taken = take_unread(responses, unread)
    found = findings(taken, resampling, chance=analysis.chance)
    del responses, taken
    curves = temperature_curves(folder, progress=step("temperature curves"))
    return StudyResults(analysis, found, curves, origin)


def _nobody(name: str) -> Callable[[int, int], None]:  # noqa: ARG001
    return lambda done, total: None  # noqa: ARG005
