"""The configurations of a study as charts and tables of several sections show them."""

from __future__ import annotations

from nongrata.report.charts.configurations import Configurations
from nongrata.report.charts.panels import said
from nongrata.report.sections.study import Study


def configurations_of(study: Study, model: str) -> Configurations:
    """The configurations; the factors that move a model's accuracy most come first.

    Parameters
    ----------
    study
        The results.
    model
        Whose instability says in which order factors nest.
    """
    found = dict.fromkeys(tuple(row["levels"]) for row in study.results["accuracy"]["cells"])
    moved = {
        row["name"].text: row["ia"].number or 0.0
        for row in study.of("noise", model)["rows"].all(scope="factor")
    }
    nesting = sorted(range(len(study.factors)), key=lambda f: -moved.get(study.factors[f], 0.0))
    return Configurations(
        tuple(said(study.factors)),
        tuple(tuple(said(levels)) for levels in found),
        tuple(nesting),
    )
