from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import stdtrit

from nongrata.errors import NongrataError
from nongrata.interop.imported import FILE as IMPORT
from nongrata.manifest import Manifest
from nongrata.responses import load_run
from nongrata.run_files import read_table, write_atomically
from nongrata.run_folder import read_content
from nongrata.runner import run_study
from nongrata.store import Store
from nongrata.stored_passes import COLUMNS, StoredPasses
from nongrata.temperature import Sampling
from nongrata.temperature_curves import TemperatureCurves, temperature_curves
from studies import SIMULATED, Silent, loaded, small_study


def ran(folder: Path, values: dict[str, Any]) -> Path:
    run_study(loaded(values), folder, Silent())
    return folder


def study(**changes: Any) -> dict[str, Any]:
    """The small study, with every answer read from a distribution in one of its two tasks."""
    return small_study(**changes)


def row_by_row(folder: Path, kind: Sampling, heats: tuple[float, ...]) -> dict[Any, np.ndarray]:
    """(persona, configuration) -> probability of the right answer, (temperature, question)."""
    plan = read_content(folder).plan()
    vocabulary = Manifest.read(folder).models["sim"].identity.get("vocabulary_size")
    found: dict[Any, np.ndarray] = {}
    hashes = {int(h): q for q, h in enumerate(plan.prompts.question_hashes)}
    frames = {int(d): s for s, d in enumerate(plan.prompts.skeleton_digests[:, 0])}
    by_frame: dict[int, np.ndarray] = {}
    for path in Store(folder).paths("sim"):
        for row in read_table(path, [*COLUMNS, "skeleton", "question", "reading"]).to_pylist():
            if row["reading"] == "free":
                continue
            s, q = frames[row["skeleton"]], hashes[row["question"]]
            question = plan.prompts.questions[q]
            passes = StoredPasses.of_row(row, len(question.choices), vocabulary)
            into = by_frame.setdefault(s, np.full((len(heats), len(hashes)), np.nan))
            for t, heat in enumerate(heats):
                sampling = Sampling(heat, kind.top_k, kind.top_p, kind.min_p).resolved()
                frame = plan.prompts.skeletons[s]
                if frame.reading == "cloze":
                    size = [len(text.encode()) for text in plan.prompts.by_identity(s, q)]
                    answers = passes.texts(sampling, frame.cloze_score, np.array([size], float))
                else:
                    answers = passes.letters(sampling)
                into[t, q] = answers.options[0, question.answer]
    for p, persona in enumerate(plan.personas):
        for c, levels in enumerate(plan.study.configurations()):
            s = int(plan.skeleton_of[p, c])
            if s in by_frame:
                found[persona.id, tuple(level.id for level in levels)] = by_frame[s]
    return found


def test_at_the_studys_temperatures_it_is_the_mean_of_theta(tmp_path: Path) -> None:
    folder = ran(tmp_path / "run", study())
    curves = temperature_curves(folder)
    assert (curves.set_by, curves.factors) == (("temperature",), ("persona_format", "task"))
    assert len(curves.temperatures) == 21
    assert curves.studied == (0.0, 0.5, 1.0)
    theta = load_run(folder).theta.isel(model=0)
    part = curves.of("sim")
    assert [curve.levels for curve in part.curves] == [("you", "answer"), ("play", "answer")]
    assert [one.levels for one in part.without] == [("you", "explain"), ("play", "explain")]
    assert "generated text" in part.without[0].reason
    for curve in part.curves:
        here = theta.sel(persona_format=curve.levels[0], task=curve.levels[1])
        for t, point in enumerate(curve.points):
            assert point.studied == (point.temperature in (0.0, 0.5, 1.0))
            if not point.studied:
                continue
            at = here.sel(temperature=f"{point.temperature:g}")
            want = 100 * at.mean("question", dtype=float)
            by_label = {label.persona: label for label in curve.by_label}
            assert list(by_label) == at.persona.values.tolist()
            for name, label in by_label.items():
                assert label.accuracy[t] == pytest.approx(float(want.sel(persona=name)), abs=1e-4)
            labels = want[~at.is_control]
            assert point.accuracy.estimate.value == pytest.approx(float(labels.mean()), abs=1e-4)
            assert point.error.value == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"top_p": 0.6},
        {"top_k": 2, "min_p": 0.1},
        {"reading": "cloze", "cloze_score": "per_byte"},
    ],
)
def test_at_every_temperature_it_is_what_row_by_row_is(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    values = study()
    task = values["factors"][1]["levels"][0]
    task["set"] = task["set"] | settings
    folder = ran(tmp_path / "run", values)
    heats = (0.0, 0.17, 0.5, 0.8, 1.0)
    curves = temperature_curves(folder, temperatures=(0.17, 0.8))
    assert curves.temperatures == heats
    kind = Sampling(1.0, **{k: v for k, v in settings.items() if k in ("top_k", "top_p", "min_p")})
    truth = row_by_row(folder, kind, heats)
    for curve in curves.of("sim").curves:
        if settings.get("reading") == "cloze":
            assert curve.reading == "cloze"
        else:
            assert (curve.top_k, curve.top_p, curve.min_p) == (kind.top_k, kind.top_p, kind.min_p)
        for label in curve.by_label:
            want = truth[label.persona, (*curve.levels, "1")]
            assert label.accuracy == pytest.approx(100 * want.mean(axis=1), abs=1e-4)


def test_its_interval_is_over_clusters_of_questions(tmp_path: Path) -> None:
    folder = ran(tmp_path / "run", study())
    curve = temperature_curves(folder).of("sim").curves[0]
    data = load_run(folder)
    labels = data.theta.isel(model=0).sel(persona_format="you", task="answer", temperature="0.5")
    by_question = labels[~labels.is_control].mean("persona", dtype=float).to_numpy()
    n = len(by_question)
    point = next(p for p in curve.points if p.temperature == 0.5)
    assert (curve.questions, curve.clusters, curve.labels) == (n, n, 3)
    assert point.accuracy.se == pytest.approx(100 * by_question.std(ddof=1) / n**0.5, abs=1e-4)
    half = stdtrit(n - 1, 0.975) * point.accuracy.se
    middle = point.accuracy.estimate.value
    assert point.accuracy.low == pytest.approx(max(middle - half, 0))
    assert point.accuracy.high == pytest.approx(min(middle + half, 100))
    unread = 1 - data.theta_read.isel(model=0).sel(
        persona_format="you", task="answer", temperature="0.5"
    )
    want = 100 * float(unread[~labels.is_control].mean(dtype=float))
    assert point.unreadable.value == pytest.approx(want, abs=1e-4)


def test_missing_answers_are_left_out_and_counted(tmp_path: Path) -> None:
    folder = ran(tmp_path / "run", study())
    store = Store(folder)
    for path in store.paths("sim"):
        table = read_table(path)
        # every third row is gone, another one failed
        kept = [i for i in range(table.num_rows) if i % 3]
        store.commit("sim", table.take(kept), replaces=path.name)
        store.repair()
    data = load_run(folder)
    theta = data.theta.isel(model=0).sel(persona_format="you", task="answer", temperature="0.5")
    assert np.isnan(theta).any()
    curve = temperature_curves(folder).of("sim").curves[0]
    there = {label.persona: label for label in curve.by_label}
    t = [p.temperature for p in curve.points].index(0.5)
    means = []
    for persona in theta.persona.values:
        known = theta.sel(persona=persona).dropna("question")
        assert there[persona].questions == len(known)
        assert there[persona].accuracy[t] == pytest.approx(
            100 * float(known.mean(dtype=float)), abs=1e-4
        )
        if not bool(known.is_control):
            means.append(float(known.mean(dtype=float)))
    assert curve.fewest_questions < curve.questions
    found = curve.points[t].accuracy
    assert found.estimate.value == pytest.approx(100 * np.mean(means), abs=1e-4)
    # the linearised spread, question by question
    x = theta[~theta.is_control].to_numpy().astype(float)
    x = x[:, ~np.isnan(x).all(axis=0)]
    Q, n = x.shape[1], (~np.isnan(x)).sum(axis=1, keepdims=True)
    moved = np.nan_to_num((x - np.nanmean(x, axis=1, keepdims=True)) * Q / n).mean(axis=0)
    assert found.se == pytest.approx(100 * (moved.var(ddof=1) / Q) ** 0.5, abs=1e-4)


def test_a_shard_that_was_copied_counts_once(tmp_path: Path) -> None:
    folder = ran(tmp_path / "run", study())
    before = temperature_curves(folder).as_dict()
    for path in Store(folder).paths("sim"):
        shutil.copy(path, path.with_name(f"copy-{path.name}"))
    assert temperature_curves(folder).as_dict() == before


def test_a_persona_that_sends_the_same_twice_says_so(tmp_path: Path) -> None:
    curves = temperature_curves(ran(tmp_path / "run", study())).of("sim").curves
    again = {label.persona: label.duplicate for label in curves[1].by_label}
    assert again == {
        "a-cook": False, "a-pilot": False, "a-poet": False, "a-human": False, "no-persona": True
    }  # fmt: skip
    assert not any(label.duplicate for label in curves[0].by_label)
    assert not curves[1].duplicate


def test_runs_without_curves_say_why(tmp_path: Path) -> None:
    single = study()
    single["factors"][2]["levels"] = [0.5]
    found = temperature_curves(ran(tmp_path / "single", single))
    assert (found.models, "sets the temperature" in found.reason) == ((), True)
    texts = study()
    texts["factors"][1]["levels"] = texts["factors"][1]["levels"][1:]
    found = temperature_curves(ran(tmp_path / "texts", texts))
    assert (found.models, "generated text" in found.reason) == ((), True)
    assert found.to_dataframe().height == 0
    assert "no curves" in str(found)
    # what an imported table holds is not even looked at
    write_atomically(tmp_path / "table" / IMPORT, b"{}")
    found = temperature_curves(tmp_path / "table")
    assert (found.models, "imported table" in found.reason) == ((), True)


def test_forms_of_the_result(tmp_path: Path) -> None:
    folder = ran(tmp_path / "run", study(models=[SIMULATED, SIMULATED | {"id": "b", "seed": 4}]))
    told: list[tuple[int, int]] = []
    found = temperature_curves(folder, progress=lambda *step: told.append(step))
    assert told[-1][0] == told[-1][1] == Store(folder).rows()
    assert json.loads(found.to_json())["kind"] == "temperature_curves"
    frame = found.to_dataframe()
    assert frame.height == 2 * 2 * 21 * (1 + 5)
    assert set(frame["model"]) == {"sim", "b"}
    assert "8 curves" not in str(found)
    assert "4 curves" in str(found)
    with pytest.raises(NongrataError, match="no temperature"):
        temperature_curves(folder, temperatures=[-1.0])
    with pytest.raises(NongrataError, match="no model"):
        found.of("nobody")
    assert isinstance(found, TemperatureCurves)
