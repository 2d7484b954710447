from __future__ import annotations

import copy
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nongrata.errors import NongrataError
from nongrata.loading import load_study
from nongrata.manifest import Manifest
from nongrata.responses import load_run
from nongrata.run_status import run_status
from nongrata.runner import run_study
from nongrata.store import LOCK, Store, done_keys
from nongrata.yaml_files import dump_yaml
from studies import SIMULATED, Silent, loaded, small_study


def run(values: dict[str, Any], folder: Path, **options: Any) -> tuple[Any, Silent]:
    watcher = Silent()
    return run_study(loaded(values), folder, watcher, **options), watcher


def same_answers(one: Path, two: Path) -> bool:
    left, right = load_run(one), load_run(two)
    return bool(left.drop_attrs().identical(right.drop_attrs()))


def test_a_run_answers_the_whole_design(tmp_path: Path) -> None:
    summary, _ = run(small_study(replicates=2), tmp_path / "run")
    assert summary.answers == 5 * 2 * 2 * (1 + 2 + 2) * 8
    dataset = load_run(tmp_path / "run")
    model = run_status(tmp_path / "run").models[0]
    assert model.answers == model.answers_in_all == summary.answers
    assert not (dataset.outcome == 255).any()
    assert dataset.attrs["stored_twice"] == 0
    assert dataset.sizes["replicate"] == 2
    # a deterministic engine's replicates at temperature 0 are one answer
    cold = dataset.sel(temperature="0")
    assert (cold.option.sel(replicate=0) == cold.option.sel(replicate=1)).all()
    warm = dataset.sel(temperature="1")
    assert (warm.option.sel(replicate=0) != warm.option.sel(replicate=1)).any()


def test_theta_is_known_exactly_where_one_token_answers(tmp_path: Path) -> None:
    run(small_study(), tmp_path / "run")
    theta = load_run(tmp_path / "run").theta
    assert theta.sel(task="answer").notnull().all()
    assert theta.sel(task="explain").isnull().all()
    cold = theta.sel(task="answer", temperature="0")
    assert set(np.unique(cold)) <= {0.0, 1.0}


def test_structural_duplicates_share_their_answers(tmp_path: Path) -> None:
    run(small_study(), tmp_path / "run")
    nobody = load_run(tmp_path / "run").sel(persona="no-persona")
    one, two = nobody.sel(persona_format="you"), nobody.sel(persona_format="play")
    assert (one.option == two.option).all()
    assert not one.duplicate.any()
    assert two.duplicate.all()


def test_the_same_command_again_asks_nothing(tmp_path: Path) -> None:
    run(small_study(), tmp_path / "run")
    again, watcher = run(small_study(), tmp_path / "run")
    assert again.requests == 0
    assert any("complete" in note for note in watcher.notes)


@pytest.mark.parametrize("block", [1, 7, 1000])
def test_answers_do_not_depend_on_blocks(tmp_path: Path, block: int) -> None:
    run(small_study(), tmp_path / "one")
    run(small_study(models=[SIMULATED | {"block": block}]), tmp_path / "two")
    assert same_answers(tmp_path / "one", tmp_path / "two")


def grow(values: dict[str, Any]) -> list[dict[str, Any]]:
    """A study amended step by step: persona, level, questions, replicates, model."""
    steps = [values]

    def amend(change: Any) -> None:
        values = copy.deepcopy(steps[-1])
        change(values)
        steps.append(values)

    amend(lambda v: v["personas"]["list"].insert(1, {"id": "a-nun", "text": "a nun"}))
    amend(
        lambda v: v["factors"][0]["levels"].append(
            {"id": "as", "slots": {"persona_prompt": "As {persona}:"}}
        )
    )
    amend(lambda v: v["factors"][2]["levels"].insert(1, 0.3))
    amend(lambda v: v["questions"]["sources"][0].update(take=12))
    amend(lambda v: v.update(replicates=3))
    amend(lambda v: v["models"].append({**SIMULATED, "id": "other", "ability": 1.0}))
    return steps


def test_an_amended_study_goes_on_and_equals_one_run_at_once(tmp_path: Path) -> None:
    steps = grow(small_study())
    for values in steps:
        summary, _ = run(values, tmp_path / "grown")
        assert summary.requests > 0
    run(steps[-1], tmp_path / "at-once")
    assert same_answers(tmp_path / "grown", tmp_path / "at-once")
    assert Store(tmp_path / "grown").rows() == Store(tmp_path / "at-once").rows()


# no effects by name of a factor, so that a factor can be renamed
BASE = small_study(replicates=2, models=[SIMULATED | {"factor_sd": {}}])


def change_of(path: list[Any], value: Any) -> dict[str, Any]:
    values = copy.deepcopy(BASE)
    node: Any = values
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    return values


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (["seed"], 12, "seed: 11 became 12"),
        (["replicates"], 1, "replicates: 2 became 1"),
        (["personas", "list", 0, "text"], "a chef", "persona a-cook, text: 'a cook' became"),
        (["personas", "list", 0, "id"], "a-chef", "persona a-cook: in the run, but not in"),
        (
            ["factors", 0, "levels", 0, "slots", "persona_prompt"],
            "Hi {persona}",
            "level of persona",
        ),
        (["factors", 2, "levels"], [0, 1], "level of temperature 0.5: in the run, but not in"),
        (["factors", 1, "name"], "assignment", "factors: persona_format, task, temperature became"),
        (["settings", "max_tokens"], 17, "settings, max_tokens: 16 became 17"),
        (["models", 0, "ability"], 0.5, "model sim, ability: 0.4 became 0.5"),
        (["questions", "sources", 0, "take"], 4, "question starter/"),
    ],
)
def test_a_changed_study_is_refused_with_the_difference(
    tmp_path: Path, path: list[Any], value: Any, says: str
) -> None:
    run(BASE, tmp_path / "run")
    before = {p: p.read_bytes() for p in (tmp_path / "run").rglob("*") if p.is_file()}
    with pytest.raises(NongrataError) as caught:
        run(change_of(path, value), tmp_path / "run")
    assert says in str(caught.value)
    after = {p: p.read_bytes() for p in (tmp_path / "run").rglob("*") if p.is_file()}
    before.pop(tmp_path / "run" / LOCK)
    after.pop(tmp_path / "run" / LOCK)
    assert before == after  # nothing was touched


def test_a_folder_of_other_things_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(NongrataError, match="not empty and holds no run"):
        run(small_study(), tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]


def test_damage_is_found_named_and_repaired_by_rerunning(tmp_path: Path) -> None:
    values = small_study(models=[SIMULATED | {"block": 40}])
    run(values, tmp_path / "whole")
    run(values, tmp_path / "run")
    shards = Store(tmp_path / "run").paths()
    shards[0].unlink()
    shards[1].write_bytes(shards[1].read_bytes()[:-20])
    status = run_status(tmp_path / "run")
    assert {item.name for item in status.damage} == {shards[0].name, shards[1].name}
    assert not status.complete
    summary, watcher = run(values, tmp_path / "run")
    assert len(summary.damage) == 2
    assert any(shards[0].name in note for note in watcher.notes)
    assert run_status(tmp_path / "run").complete
    assert same_answers(tmp_path / "whole", tmp_path / "run")


def test_a_limited_run_says_so_and_can_be_completed(tmp_path: Path) -> None:
    summary, _ = run(small_study(), tmp_path / "run", limit=3)
    assert summary.limit == 3
    assert load_run(tmp_path / "run").attrs["limited"]
    assert "not a result" in run_status(tmp_path / "run").warnings()[0]
    run(small_study(), tmp_path / "run")
    assert not load_run(tmp_path / "run").attrs["limited"]
    run(small_study(), tmp_path / "whole")
    assert same_answers(tmp_path / "whole", tmp_path / "run")


def test_errors_are_data_and_can_be_asked_again(tmp_path: Path) -> None:
    values = small_study(models=[SIMULATED | {"error": 0.2}])
    summary, _ = run(values, tmp_path / "run")
    assert summary.errors > 0
    dataset = load_run(tmp_path / "run")
    errors = int((dataset.outcome == 4).sum())
    assert errors >= summary.errors
    assert dataset.theta.where((dataset.outcome == 4).any("replicate"), drop=False).isnull().any()
    again, watcher = run(values, tmp_path / "run", retry_errors=True)
    assert again.requests == summary.errors
    assert any("asked again" in note for note in watcher.notes)


def test_the_manifest_says_what_was_asked_by_what(tmp_path: Path) -> None:
    run(small_study(), tmp_path / "run")
    manifest = Manifest.read(tmp_path / "run")
    record = manifest.models["sim"]
    assert not record.is_model
    assert record.identity["truth"]["ability"] == 0.4
    assert manifest.sampling["seed"] == 11
    generated = [s for s in manifest.sampling["parameters"] if s["reading"] == "free"]
    assert [s["temperature"] for s in generated] == [0.0, 0.5, 1.0]
    assert {s["max_tokens"] for s in generated} == {16}
    session = manifest.sessions[0]
    assert session.ended
    assert session.requests == Store(tmp_path / "run").rows()
    assert session.environment["packages"]["numpy"] == np.__version__


def test_every_prompt_that_was_sent_is_stored(tmp_path: Path) -> None:
    import polars as pl

    values = small_study()
    run(values, tmp_path / "run")
    prompts = pl.read_parquet(tmp_path / "run" / "prompts.parquet")
    from nongrata.run_folder import read_content

    content = read_content(tmp_path / "run")
    table = content.plan().prompts
    assert len(prompts) == len(table.skeletons) * len(content.questions)
    stored = {(row["skeleton"], row["question"]): row for row in prompts.iter_rows(named=True)}
    for s in range(len(table.skeletons)):
        for q in range(len(content.questions)):
            key = (int(table.skeleton_digests[s, 0]), int(table.question_hashes[q]))
            messages = table.messages(s, q)
            assert stored[key]["system"] == messages.system
            assert stored[key]["user"] == messages.user
            assert stored[key]["prefill"] == messages.prefill
    for path in Store(tmp_path / "run").paths():
        for row in pl.read_parquet(path).iter_rows(named=True):
            assert (row["skeleton"], row["question"]) in stored


@pytest.mark.parametrize("kills", [4, pytest.param(25, marks=pytest.mark.slow)])
def test_kills_at_random_moments_lose_nothing_and_repeat_nothing(
    tmp_path: Path, kills: int
) -> None:
    """SIGKILL at random moments; then the run equals one that was never stopped."""
    values = small_study(
        models=[SIMULATED | {"block": 5, "delay": 0.006}],
        questions={"sources": [{"id": "starter", "format": "starter", "take": 30}]},
    )
    study = tmp_path / "study.yaml"
    study.write_text(dump_yaml(values), encoding="utf-8")
    command = [sys.executable, "-m", "nongrata", "run", str(study), "--out", str(tmp_path / "run")]
    chance = random.Random(kills)
    done = 0
    while done < kills:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0.2, 1.4))
        if process.poll() is not None:
            # it ended before the kill: make work for the remaining ones
            assert process.returncode == 0
            for path in Store(tmp_path / "run").paths()[::2]:
                path.unlink()
            continue
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        done += 1
    subprocess.run(command, check=True, capture_output=True)
    run(values | {"models": [SIMULATED]}, tmp_path / "calm")
    store = Store(tmp_path / "run")
    assert not done_keys(store.paths()).duplicates()
    assert store.rows() == Store(tmp_path / "calm").rows()
    assert same_answers(tmp_path / "run", tmp_path / "calm")
    from nongrata.analysis import analyze

    killed, calm = (load_run(tmp_path / name) for name in ("run", "calm"))
    assert analyze(killed).as_dict() == analyze(calm).as_dict()


def test_a_run_that_is_refused_before_an_answer_leaves_nothing_behind(tmp_path: Path) -> None:
    values = small_study(
        models=[{"id": "m", "engine": "llamacpp", "path": "no/such.gguf"}],
    )
    with pytest.raises(NongrataError, match="no such model file"):
        run_study(loaded(values, tmp_path), tmp_path / "run", Silent())
    assert not (tmp_path / "run").exists()
    # what was there before stays
    run_study(loaded(small_study()), tmp_path / "run", Silent())
    before = {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()}
    with pytest.raises(NongrataError):
        run_study(loaded(values, tmp_path), tmp_path / "run", Silent())
    kept = {path for path in before if path.name != "manifest.json"}
    assert all(path.read_bytes() == before[path] for path in kept)


def test_without_a_watcher_notes_are_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert run_study(load_study("smoke"), tmp_path / "run").answers == 3456
    with caplog.at_level("INFO", logger="nongrata"):
        assert run_study(load_study("smoke"), tmp_path / "run").requests == 0
    assert "simulated: complete, nothing to ask" in caplog.text
