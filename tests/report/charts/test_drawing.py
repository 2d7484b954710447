"""Every chart of these sections can be drawn, at phone width, without a browser."""

from __future__ import annotations

import pytest

from nongrata.report.sections.accuracy import accuracy_section
from nongrata.report.sections.contrasts import contrasts_section
from nongrata.report.sections.outcomes import outcomes_section
from nongrata.report.sections.ranks import ranks_section
from report.chart_checks import charts, svg
from report.first_screen_studies import study

pytest.importorskip("vl_convert")

SECTIONS = (accuracy_section, ranks_section, contrasts_section, outcomes_section)


@pytest.mark.parametrize("section", SECTIONS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("kind", ["labels", "two models", "one configuration", "import"])
def test_drawn(kind, section):
    for chart in charts(section(study(kind))):
        drawn = svg(chart)
        assert "NaN" not in drawn
        assert drawn.count("<path") > 2
        assert "width" in chart.spec
        assert chart.spec["width"] == "container"
