"""A real model over real questions, killed on the way; benchmarks/real_input.py in small."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nongrata.loading import load_study
from nongrata.plan import READINGS
from nongrata.responses import load_run
from nongrata.store import Store, done_keys

OVERRIDES = (
    "personas.only=[a-doctor, a-human, no-persona]",
    (
        "questions.sources=["
        "{id: mmlu, format: normalised, path: %(data)s/mmlu_test.jsonl.gz, take: %(take)d,"
        " where: {subject: [nutrition, sociology]}},"
        "{id: socialiqa, format: normalised, path: %(data)s/socialiqa_dev.jsonl.gz,"
        " take: %(take)d},"
        "{id: normad_eti, format: normalised, path: %(data)s/normad_eti.jsonl.gz, take: %(take)d,"
        " condition: rule_of_thumb}]"
    ),
)


@pytest.mark.model
@pytest.mark.slow
def test_real_questions_on_a_real_model_with_two_kills(tmp_path: Path, shared: Path) -> None:
    overrides = [text % {"data": shared.resolve() / "data", "take": 1} for text in OVERRIDES]
    command = [sys.executable, "-m", "nongrata", "run", "demo", "--out", str(tmp_path / "run")]
    for override in overrides:
        command += ["--set", override]
    for wanted in (1, 2):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and len(Store(tmp_path / "run").shards) < wanted:
            time.sleep(0.2)
        assert process.poll() is None, "it ended before it was killed"
        process.kill()
        process.wait()
    done = subprocess.run([*command, "--json"], check=True, capture_output=True, text=True)
    summary = json.loads(done.stdout)
    loaded = load_study("demo", overrides)
    from nongrata.plan import build_plan

    plan = build_plan(loaded.study, loaded.personas(), loaded.questions())
    wanted_rows = sum(plan.size(reading) for reading in READINGS)
    store = Store(tmp_path / "run")
    assert store.rows() == wanted_rows == summary["requests"] + summary["requests_before"]
    assert summary["requests_before"] > 0
    assert not done_keys(store.paths()).duplicates()
    dataset = load_run(tmp_path / "run")
    assert not (dataset.outcome == 255).any()
    assert dataset.sizes["question"] == 3
    assert set(dataset.source.values) == {"mmlu", "socialiqa", "normad_eti"}
