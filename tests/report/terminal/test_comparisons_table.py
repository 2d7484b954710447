from __future__ import annotations

import io

import numpy as np
import pytest
from rich.console import Console

from designs import responses
from nongrata.analysis.comparisons import comparisons
from nongrata.analysis.model_data import Resampling
from nongrata.report.terminal.comparisons_table import (
    DOMAINS_SHOWN,
    comparisons_table,
    model_comparisons_table,
)


def shown(ds, width=80, **console):
    result = comparisons(ds, resampling=Resampling(draws=50))
    out = io.StringIO()
    screen = Console(file=out, width=width, **console)
    for part in model_comparisons_table(result):
        screen.print(part)
    for part in comparisons_table(result, result.factors[0].model):
        screen.print(part)
    return out.getvalue(), result


def many_domains(n=30, questions=900, **settings):
    ds = responses(questions=questions, personas=2, **settings)
    name = np.array([f"a subject with a long name {i % n}" for i in range(questions)])
    ds["domain"] = ("question", name)
    return ds


@pytest.mark.parametrize("width", [80, 120])
def test_it_fits_and_explains_itself(width):
    text, result = shown(many_domains(models=3), width)
    assert max(map(len, text.splitlines())) <= width
    flat = " ".join(text.split())
    for words in (
        "Which factor moves accuracy most",
        "Domains, the most sensitive",
        "noise of drawing and of the choice of questions taken off",
        "The order of the others may be chance",
        "adjusted for all 30 (Holm)",
        "few models say little about models in general",
    ):
        assert words in flat
    row = result.factors[0].rows[0].typical_difference
    assert f"{row.value.value:.1f} [{row.low:.1f}, {row.high:.1f}]" in flat


def test_of_many_domains_the_ends_are_shown_and_the_rest_counted():
    ds = many_domains()
    text, result = shown(ds)
    assert f"{30 - DOMAINS_SHOWN} domains in between not shown" in text
    rows = sorted(result.domains[0].rows, key=lambda r: -r.squared_difference.value.value)
    folded = "".join(text.split())
    assert "".join(rows[0].domain.split()) in folded.replace("│", "") or rows[0].domain[:10] in text
    counts = {c.metric: c for c in result.domains[0].pair_counts}
    assert f"{counts['accuracy'].decided} of 435 in accuracy" in " ".join(text.split())


def test_small_domains_are_named_as_not_comparable():
    text, _ = shown(responses(questions=30))
    flat = " ".join(text.split())
    assert "not comparable, with fewer than 20 clusters of questions: facts, manners, sums" in flat


def test_one_model_has_no_table_of_models():
    text, _ = shown(responses(questions=70))
    assert "Models side by side" not in text


def test_undefined_figures_say_why():
    text, _ = shown(responses(factors={"f": ["x"]}, questions=70))
    assert "- : undefined, the factor has one level" in " ".join(text.split())


def test_names_from_files_are_shown_not_obeyed():
    ds = responses(questions=90, models=2).assign_coords(model=["evil\x1b]0;t\x07", "[b]m[/b]"])
    ds = ds.rename(format="\x1b[31mformat")
    ds.attrs["factors"] = ["\x1b[31mformat", "temperature"]
    names = np.array(["\u202ea", "b\nc", "[i]d[/i]"])[np.arange(90) % 3]
    ds["domain"] = ("question", names)
    text, _ = shown(ds, 160, force_terminal=True, color_system=None)
    assert not [c for c in text if (ord(c) < 32 and c != "\n") or c == "\u202e"]
    assert "[b]m[/b]" in text
    assert "[i]d[/i]" in text
