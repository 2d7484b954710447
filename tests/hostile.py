"""Runs whose every text is hostile: markup, scripts, formulas, LaTeX, escapes, marks nobody sees.

A page that lets one of them act sets ``window.pwned``, opens a dialog or asks for something; the
tests in a browser watch for all three.
"""

from __future__ import annotations

import csv
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from nongrata.engines import simulated
from nongrata.interop import TableMapping, import_to_folder
from nongrata.runner import run_study
from studies import Silent, loaded, small_study

ACT = "window.pwned=1"
HOSTILE = {
    "script": f"<script>{ACT}</script>",
    "closing": f"</script></style></title></textarea><img src=x onerror={ACT}>",
    "comment": f"<!--<script>{ACT}//",
    "attribute": f'"\' onmouseover={ACT} onfocus={ACT} autofocus x="',
    "image": f"<img src=https://example.invalid/x.png onerror={ACT}>",
    "frame": f"<iframe srcdoc='<script>parent.{ACT}</script>'></iframe><svg onload={ACT}>",
    "link": f"<a href=javascript:{ACT}>a link</a> [b](javascript:{ACT})",
    "template": "{{7*7}} {x} ${y} %(z)s {% raw %} {0.__class__}",
    "expression": f"datum.x'];{ACT};//",
    "bidi": "\u202eright to left\u2066 \u200f\u200b\ufeff",
    "null": "nul\x00 bell\x07 back\x08\x7f\x85",
    "ansi": "\x1b[31mred\x1b]0;owned\x07 \x9b2J",
    "formula": '=HYPERLINK("https://example.invalid","x")',
    "plus": "+1+cmd|' /C calc'!A0",
    "at": "@SUM(1+1)",
    "latex": r"\input{/etc/passwd} $x_1$ 50% #1 {a} ~ ^ & \\ \end{table}",
    "lines": "one\r\ntwo\n\nthree\u2028four\tfive",
    "long": "a" * 300 + " " + "\u6f22\u5b57" * 40,
    "minus": "-2+3",
    "write": r"\write18{touch owned} ^^5cinput \csname end\endcsname",
    "endless": "b" * 10_000,
    "emoji": "\U0001f469\u200d\U0001f680 e\u0301\u0301\u0301 \U000e0041",
}
"""Texts that would do something where they are not taken as text."""

SENDABLE = {name: text.replace("\x00", "") for name, text in HOSTILE.items()}
"""The same, as far as a model can be sent it."""


def hostile_questions(path: Path) -> Path:
    """A file of questions: text, options, domains and clusters are hostile."""
    texts = list(SENDABLE.values())
    with path.open("w", encoding="utf-8") as handle:
        for i, text in enumerate(texts):
            row = {
                "id": f"q{i}",
                "question": f"{text} what is it? {i}",
                "choices": [f"{texts[(i + j) % len(texts)]} {j}" for j in range(4)],
                "answer": i % 4,
                "domain": texts[i % 6],
            }
            handle.write(json.dumps(row) + "\n")
    return path


def hostile_study(folder: Path) -> dict[str, Any]:
    """Plain values of a study: labels' texts, prompts and questions are hostile."""
    questions = hostile_questions(folder / "questions.jsonl")
    people = [{"id": f"label-{name}", "text": text} for name, text in SENDABLE.items()]
    people += [
        {"id": "a-human", "text": "a human", "control": True},
        {"id": "no-persona", "text": None, "control": True},
    ]
    values = small_study(
        name="hostile",
        title=HOSTILE["closing"],
        note=" ".join(SENDABLE.values()),
        personas={"list": people},
        questions={
            "seed": 5,
            "sources": [
                {
                    "id": "hostile",
                    "format": "table",
                    "path": str(questions),
                    "answer_form": "index0",
                    "columns": {
                        "id": "id",
                        "question": "question",
                        "choices": "choices",
                        "answer": "answer",
                        "subject": "domain",
                    },
                }
            ],
        },
    )
    wording = " ".join(SENDABLE.values()).replace("{", "{{").replace("}", "}}")
    values["factors"][1]["levels"][1]["slots"]["instruction"] += wording
    return values


def hostile_run(folder: Path) -> Path:
    """Make a run whose questions, prompts and raw answers are hostile; the model is simulated."""
    run = folder / "hostile-run"
    plain = simulated._texts()
    texts = itertools.cycle(HOSTILE.values())
    with pytest.MonkeyPatch.context() as patch:
        # the texts that the engine answers with: hostile, and then what it would have said
        patch.setattr(simulated, "_texts", lambda: [f"{next(texts)}\n{text}" for text in plain])
        run_study(loaded(hostile_study(folder)), run, Silent())
    return run


def hostile_table(path: Path) -> Path:
    """A table of answers for ``import table``: labels, levels, models, items, domains are hostile.

    Columns: model, label, wording, temp, item, domain, right; labels end with a control, ``none``.
    """
    texts = list(HOSTILE.values())
    with path.open("w", encoding="utf-8", newline="") as handle:
        rows = csv.writer(handle)
        rows.writerow(("model", "label", "wording", "temp", "item", "domain", "right"))
        people, wordings = [*texts[:8], "none"], texts[4:9]
        cells = itertools.product(texts[:2], people, wordings, (0, 1), range(len(texts)))
        for place, (model, label, wording, heat, item) in enumerate(cells):
            right = int((place * 2_654_435_761 >> 7) % 10 < 4 + item % 5)
            rows.writerow((model, label, wording, heat, texts[item], texts[item % 3], right))
    return path


def hostile_names(folder: Path) -> Path:
    """An imported table in which every text of `HOSTILE` names a label, and as many as can levels.

    NUL is left out: a table that holds it is refused.
    """
    texts = list(SENDABLE.values())
    models = (HOSTILE["latex"], HOSTILE["closing"])
    wordings = [HOSTILE[name] for name in ("attribute", "bidi", "ansi", "formula", "lines")]
    temperatures = (0, 0.5)
    table, out = folder / "names.csv", folder / "names"
    with table.open("w", encoding="utf-8", newline="") as handle:
        rows = csv.writer(handle)
        rows.writerow(("model", "label", "wording", "temp", "item", "domain", "right"))
        cells = itertools.product(models, [*texts, "none"], wordings, temperatures, range(12))
        for place, (model, label, wording, heat, item) in enumerate(cells):
            right = int((place * 2_654_435_761 >> 7) % 10 < 4 + item % 5)
            domain = texts[-1 - item % 4]
            rows.writerow((model, label, wording, heat, f"{item} {texts[item]}", domain, right))
    mapping = TableMapping(
        model="model",
        persona="label",
        factors={HOSTILE["script"]: "wording"},
        temperature="temp",
        item="item",
        domain="domain",
        correct="right",
        controls="none",
        options=4,
    )
    import_to_folder(table, out, mapping)
    return out
