from __future__ import annotations

import copy

import pytest

from nongrata.report.document.blocks import Paragraph, Table
from nongrata.report.sections.outcomes import outcomes_section
from nongrata.report.sections.study import Study
from report.chart_checks import chart, charts, columns, wrong_chart_numbers
from report.first_screen_studies import KINDS, results, study, text, untranslated, wrong_numbers


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_and_spanish(kind):
    section = outcomes_section(study(kind))
    assert wrong_numbers(section, results(kind)) == []
    assert wrong_chart_numbers(section, results(kind)) == []
    assert untranslated(section) == []


def test_where_all_was_read_one_sentence_says_so():
    section = outcomes_section(study("chance"))
    assert not charts(section)
    leads = [b for b in section.blocks if isinstance(b, Paragraph) and b.tone == "lead"]
    assert len(leads) == 1
    assert "answers of sim that were obtained could be read." in text(section)


def test_unread_answers_are_shown_by_why():
    section = outcomes_section(study("plain"))
    shown = columns(chart(section, "outcomes-by-label"))
    rows = [row for row in results("plain")["outcomes"]["rows"] if row["scope"] == "persona"]
    assert shown["unparsed"] == [row["rates"]["unparsed"] for row in rows]
    # outcomes that do not occur are not drawn
    assert ("truncated" in shown) == any(row["truncated"] for row in rows)
    assert "held no choice (unparsed)" in text(section)
    assert "without them it is" in text(section)


def test_bounds_hold_the_accuracy():
    shown = columns(chart(outcomes_section(study("plain")), "bounds-by-label"))
    for low, middle, high in zip(
        shown["accuracy"], shown["read_only"], shown["if_unread_right"], strict=True
    ):
        assert low <= middle <= high


def changed(kind, change):
    values = copy.deepcopy(results(kind))
    change(values)
    return outcomes_section(Study(values))


def test_what_is_not_there_yet_is_said():
    def lose(values):
        row = next(row for row in values["outcomes"]["rows"] if row["scope"] == "model")
        row["not_obtained"], row["rates"]["not_obtained"] = 1234, 5.5

    assert "1,234 answers that the study wants (5.5 %) are not there" in text(
        changed("plain", lose)
    )


def test_a_place_that_dominates_is_a_warning():
    def prefer(values):
        row = next(row for row in values["chance"]["rows"] if row["scope"] == "overall")
        row["position_dominates"], row["favourite"] = True, 11

    section = changed("plain", prefer)
    warnings = [b for b in section.blocks if isinstance(b, Paragraph) and b.tone == "warning"]
    assert len(warnings) == 1
    assert "The 12 option shown is chosen most" in text(section)


def test_letters_have_a_table_where_they_were_read():
    def read(values):
        letters = {"sampled": 50.0, "accuracy": 51.25, "letter_sd": 0.5, "variance_ratio": 0.75}
        values["accuracy"]["models"][0]["letters"] = letters

    tables = {b.id: b for b in changed("plain", read).blocks if isinstance(b, Table)}
    assert "final-letters" in tables
    assert [cell.value for cell in tables["final-letters"].rows[0].cells[1:]] == [
        50.0, 51.25, 0.5, 0.75
    ]  # fmt: skip
    assert "final-letters" not in {
        b.id for b in outcomes_section(study("plain")).blocks if isinstance(b, Table)
    }
