from __future__ import annotations

import copy
import shlex

import pytest

from nongrata.report.document.blocks import Code, Table
from nongrata.report.sections.provenance import command, provenance_section
from nongrata.report.sections.study import Study
from report.first_screen_studies import KINDS, results, study, text, untranslated, wrong_numbers


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_and_spanish(kind):
    section = provenance_section(study(kind))
    assert wrong_numbers(section, results(kind)) == []
    warnings = set(results(kind)["provenance"]["warnings"])
    assert set(untranslated(section)) <= warnings


def test_everything_that_identifies_the_answers_is_there():
    said = text(provenance_section(study("plain")))
    origin = results("plain")["provenance"]
    for name, value in (*origin["hashes"], *origin["models"][0]["facts"]):
        assert f"{name} | {value}" in said
    assert origin["models"][0]["digest"] in said
    assert origin["created"] in said
    assert "SIMULATED" in said
    assert "first_token | 0.00 | 0 | 1.00 | 0.00" in said


def test_the_command_has_the_options_the_numbers_were_computed_with():
    found = study("plain")
    words = shlex.split(command(found))
    assert words[:4] == ["nongrata", "analyze", "RUN", "--json"]
    options = dict(zip(words[4::2], words[5::2], strict=True))
    assert options == {
        "--unread": "wrong",
        "--value": "draws",
        "--smallest-effect": "1.0",
        "--draws": "100",
        "--splits": "4",
        "--seed": "0",
    }
    blocks = provenance_section(found).blocks
    assert [b.text for b in blocks if isinstance(b, Code)] == [command(found)]


def test_an_import_has_no_sessions_and_no_sampling():
    section = provenance_section(study("import"))
    tables = {b.id for b in section.blocks if isinstance(b, Table)}
    assert tables == {"hashes"}
    assert "Answers imported from" in text(section)


def test_a_session_that_did_not_end_says_so():
    changed = copy.deepcopy(results("plain"))
    changed["provenance"]["sessions"][0]["ended"] = None
    assert "did not end" in text(provenance_section(Study(changed)))
    assert "did not end" not in text(provenance_section(study("plain")))
