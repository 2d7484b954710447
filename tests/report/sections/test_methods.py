from __future__ import annotations

import pytest

from nongrata.report.document.blocks import Code
from nongrata.report.sections.methods import bibtex, methods_section
from report.first_screen_studies import KINDS, results, study, text, untranslated, wrong_numbers


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_and_spanish(kind):
    section = methods_section(study(kind))
    assert wrong_numbers(section, results(kind)) == []
    assert untranslated(section) == []


def test_every_number_is_filled_in():
    said = text(methods_section(study("plain")))
    assert "sim answered 12 multiple-choice questions under 3 persona labels and 2 controls" in said
    assert "12 configurations, the full cross of persona_format (2 levels)" in said
    assert "100 bootstrap resamples and 4 random halves" in said
    assert "each cell was answered once" in said
    assert "{" not in said


def test_replicates_imports_and_single_configurations():
    assert "each cell was answered 2 times" in text(methods_section(study("two models")))
    assert "imported from a table" in text(methods_section(study("import")))
    assert "in one configuration" in text(methods_section(study("one configuration")))


def test_software_and_protocol_can_be_cited():
    blocks = methods_section(study("plain")).blocks
    (code,) = [block for block in blocks if isinstance(block, Code)]
    version = results("plain")["provenance"]["computed_with"]
    assert code.text == bibtex(version)
    assert f"version = {{{version}}}" in code.text
    assert "eprint = {2607.00937}" in code.text
    assert code.text.count("{") == code.text.count("}")
