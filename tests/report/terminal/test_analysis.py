from __future__ import annotations

import io

import numpy as np
import pytest
from rich.console import Console

from designs import responses
from nongrata.analysis import analyze
from nongrata.report.terminal.analysis import LABELS_SHOWN, Bar, render_analysis


def shown(ds, width=80, **console):
    out = io.StringIO()
    Console(file=out, width=width, **console).print(render_analysis(analyze(ds)))
    return out.getvalue()


@pytest.mark.parametrize("width", [60, 80, 120])
def test_it_keeps_to_the_width(width):
    text = shown(responses(unread=0.1, lost=0.1, duplicates=True, controls=2), width)
    assert max(map(len, text.splitlines())) <= width


def test_warnings_come_before_figures():
    text = shown(
        responses(
            unread=0.3, lost=0.1, accuracy=0.2,
            attrs={"limited": True, "simulated_models": ["model-0"]},
        ),
        200,
    )  # fmt: skip
    at = [
        text.index(words)
        for words in (
            "not a result",
            "is simulated",
            "are missing",
            "could not be read",
            "must not be ranked",
            "Instability",
        )
    ]
    assert at == sorted(at)


def test_labels_are_not_ranked_where_nothing_can_be():
    text = shown(responses(accuracy=0.25, questions=30), 120)
    assert "not ranked" in text
    assert "best in  worst in" not in text
    assert text.index("label-0") < text.index("label-1") < text.index("label-2")
    assert "best in  worst in" in shown(responses(accuracy=0.9, questions=90), 120)


def test_figures_are_those_of_the_analysis():
    ds = responses(accuracy=0.9, questions=90)
    row = analyze(ds).instability[0].rows[0]
    text = shown(ds, 120)
    line = next(line for line in text.splitlines() if line.strip().startswith("labels only"))
    for number in (f"{row.ia.value:.2f}", f"{row.io.value:.2f}", f"{row.iq.value:.1f}"):
        assert number in line.split()


def test_undefined_figures_give_their_reason():
    text = shown(responses(factors={"format": ["plain"]}), 120)
    assert "undefined, one configuration has no pair" in text


def test_names_from_files_are_shown_not_obeyed():
    ds = responses(
        accuracy=0.9, questions=30, factors={"format[red]": ["\x1b[2Jplain", "[bold]b[/bold]"]}
    )
    ds = ds.assign_coords(
        model=["evil\x1b]0;title\x07"],
        persona=["\x1b[31mred", "a\nb", "[link=http://x]c[/link]", "\u202edeb", "control"],
        domain=("question", ["\x9b1mmath"] * 30),
    )
    text = shown(ds, 160, force_terminal=True, color_system=None)
    assert not [
        c for c in text if (ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160 or c == "\u202e"
    ]
    assert "\\x1b[31mred" in text
    assert "[link=http://x]c[/link]" in text
    assert "format[red]" in text
    assert "a\\nb" in text


def test_many_labels_are_cut_and_counted():
    ds = responses(personas=30, controls=0, accuracy=0.9, questions=30)
    text = shown(ds, 120)
    assert f"{30 - LABELS_SHOWN} more labels" in text


def test_several_models_are_shown_apart():
    text = shown(responses(models=2), 120)
    assert text.count("Is there anything to rank?") == 2


def test_it_never_reads_a_label_as_people():
    assert "says nothing about people" in " ".join(shown(responses()).split())


@pytest.mark.parametrize(
    ("share", "expected"),
    [(0.0, "    "), (0.5, "██  "), (1.0, "████"), (2.0, "████"), (0.3, "█▎  ")],
)
def test_bars(share, expected):
    out = io.StringIO()
    Console(file=out, width=10).print(Bar(share, 4))
    assert out.getvalue().rstrip("\n")[:4].ljust(4) == expected


def test_bars_without_unicode():
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii")
    Console(file=out, width=10).print(Bar(0.5, 4))
    out.flush()
    assert raw.getvalue().rstrip() == b"##"


def weak_half():
    """The format "role" is answered by guessing; the others nearly always right."""
    ds = responses(accuracy=0.95, questions=60, seed=3)
    rng = np.random.default_rng(3)
    guess = rng.random(ds["option"].shape) * ds["n_options"].to_numpy()
    ds["option"].values[:, :, 1] = guess.astype(np.int8)[:, :, 1]
    return ds


def test_configurations_at_chance_are_shown_and_their_places_left_out():
    ds = weak_half()
    text = shown(ds, 120)
    flat = " ".join(text.split())
    table = text[text.index("Is there anything") : text.index("Accuracy by label")]
    for heat in ("0.0", "0.5", "1.0"):
        assert f"role · {heat}" in table
        assert f"plain · {heat}" not in table
    assert "3 of 6 configurations" in flat
    assert "3 of these configurations are not shown to be above chance" in flat
    assert "Over the other 3," in flat
    assert "best in, worst in: of the configurations above chance" in flat
    share = next(
        s for s in analyze(ds).best_and_worst.labels if round(s.best) != round(s.best_above_chance)
    )
    line = next(
        line for line in text.splitlines() if line.startswith(f" {share.persona}") and "%" in line
    )
    assert f"{share.best_above_chance:.0f}%" in line.split()


def test_labels_at_chance_are_marked():
    ds = responses(accuracy=0.9, questions=90)
    ds["option"].values[:, 1] = 0
    text = shown(ds, 120)
    assert "label-1 ?" in text
    assert "label-0 ?" not in text
    assert "?: not shown to be above chance" in text


def test_a_preference_for_a_place_is_marked():
    ds = responses(questions=90, seed=2)
    lazy = np.random.default_rng(1).random(ds["option"].shape) < 0.8
    ds["option"].values[lazy] = 0
    text = shown(ds, 120)
    row = next(line for line in text.splitlines() if line.startswith(" all questions"))
    assert "*" in row
    assert "position bias dominates" in text


def test_letters_stand_in_their_own_table_only_where_there_are_any():
    ds = responses(accuracy=0.9, questions=30, replicates=2)
    assert "final letter" not in shown(ds, 120)
    dims = ds["option"].dims
    right = np.where(ds["option"] == ds["answer"], 0.7, 0.2).astype(np.float32)
    ds["final"], ds["final_mass"] = (dims, right), (dims, np.full_like(right, 0.8))
    text = shown(ds, 120)
    letters = analyze(ds).accuracy.models[0].letters
    assert "Generated answers by their final letter" in text
    line = next(line for line in text.splitlines() if line.startswith(" all of them"))
    assert f"{letters.accuracy:.1f}" in line.split()
    assert f"{letters.sampled:.1f}" in line.split()
