"""Results -> document: which sections a report has, in their order."""

from __future__ import annotations

from typing import Any

from nongrata.report.document.blocks import Document
from nongrata.report.document.pieces import Name
from nongrata.report.sections.accuracy import accuracy_section
from nongrata.report.sections.agreement import agreement_section
from nongrata.report.sections.comparisons import comparisons_section
from nongrata.report.sections.components import components_section
from nongrata.report.sections.contrasts import contrasts_section
from nongrata.report.sections.design import design_section
from nongrata.report.sections.instability import instability_section
from nongrata.report.sections.limits import limits_section
from nongrata.report.sections.methods import methods_section
from nongrata.report.sections.outcomes import outcomes_section
from nongrata.report.sections.provenance import provenance_section
from nongrata.report.sections.question_sets import question_sets_section
from nongrata.report.sections.ranks import ranks_section
from nongrata.report.sections.stable import stable_section
from nongrata.report.sections.study import Study
from nongrata.report.sections.summary import summary_section
from nongrata.report.sections.task_format import task_format_section
from nongrata.report.sections.temperature import temperature_section
from nongrata.study_results import StudyResults

SECTIONS = (
    summary_section,
    design_section,
    accuracy_section,
    instability_section,
    ranks_section,
    contrasts_section,
    question_sets_section,
    agreement_section,
    components_section,
    task_format_section,
    temperature_section,
    stable_section,
    outcomes_section,
    comparisons_section,
    limits_section,
    methods_section,
    provenance_section,
)
"""In the order in which they are read; the first is the first screen."""


def build_document(results: StudyResults | dict[str, Any]) -> Document:
    """The report of a study, whatever it will be written in.

    Parameters
    ----------
    results
        From `nongrata.study_results`, or its JSON form.
    """
    study = Study(results if isinstance(results, dict) else results.as_dict())
    origin = study.results["provenance"]
    return Document(
        title=Name(origin["title"] or origin["study"]),
        sections=tuple(section(study) for section in SECTIONS),
        facets={
            "model": tuple(study.models),
            "domain": tuple(study.domains),
            "factor": tuple(study.factors),
            "persona": tuple(study.personas),
        },
        results=study.results,
    )
