from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nongrata.analysis.components import variance_components
from nongrata.analysis.model_data import Resampling
from nongrata.interop import TableMapping, import_to_folder, load_import
from packed_table import (
    HEATS,
    ITEMS,
    PROMPTS,
    REPEATS,
    plain_components,
    plain_counts,
    plain_means,
    write_packed_table,
)

MAPPING = TableMapping(
    item="question id",
    answer="answers",
    gold="key",
    factors=["wording"],
    temperature="temp",
    separator="|",
    options=["A", "B", "C", "D"],
)


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("packed") / "answers.csv"
    write_packed_table(path)
    return path


@pytest.fixture(scope="module")
def imported(packed: Path) -> tuple[dict[str, Any], Any]:
    folder = packed.with_name("imported")
    return import_to_folder(packed, folder, MAPPING), load_import(folder)


def test_counts_are_those_of_a_plain_reading(packed: Path, imported: Any) -> None:
    about, dataset = imported
    plain = plain_counts(packed)
    counts = about["counts"]
    assert counts["rows"] == plain["rows"] == ITEMS * PROMPTS * HEATS
    assert counts["answers"] == plain["rows"] * REPEATS
    assert counts["right"] == plain["right"]
    assert counts["read"] - counts["right"] == plain["wrong"]
    assert counts["strays"] == plain["stray"] > 100
    assert counts["unread"] - counts["strays"] == plain["empty"] > 100
    assert about["malformed"]["total"] == 0
    assert sum(about["strays"].values()) == plain["stray"]
    right = (dataset["option"] == dataset["answer"]) & (dataset["outcome"] == 0)
    assert int(right.sum()) == plain["right"]
    assert int((dataset["outcome"] == 1).sum()) == plain["empty"] + plain["stray"]


def test_every_cell_holds_its_own_answers(packed: Path, imported: Any) -> None:
    _, dataset = imported
    right = (dataset["option"] == dataset["answer"]) & (dataset["outcome"] == 0)
    share = right.mean("replicate").isel(model=0, persona=0)
    plain = plain_means(packed)
    for q in (0, 17, 99):
        for w in range(PROMPTS):
            for h in range(HEATS):
                found = share.sel(
                    question=f"q{q}", wording=f"wording {w}", temperature=f"{h / 10:.1f}"
                )
                assert float(found) == pytest.approx(plain[q, w, h])
    levels = dataset["temperature"].to_numpy().tolist()
    assert levels == [f"{h / 10:.1f}" for h in range(HEATS)]
    assert dataset["sampling_temperature"].isel(wording=0).to_numpy().tolist() == [
        h / 10 for h in range(HEATS)
    ]


def test_variance_components_are_those_of_an_independent_computation(
    packed: Path, imported: Any
) -> None:
    _, dataset = imported
    y = plain_means(packed)
    wanted = plain_components(y)
    noise = float(np.mean(y * (1 - y))) / (REPEATS - 1)
    wanted["ipt"] -= noise
    found = variance_components(dataset, resampling=Resampling(draws=50)).of("model")
    assert found.reason == ""
    facets = {"i": "question", "p": "wording", "t": "temperature"}
    for effect, value in wanted.items():
        row = found.of(*(facets[name] for name in effect))
        assert row.variance == pytest.approx(1e4 * value, abs=2e-3), effect
    assert found.noise.value == pytest.approx(1e4 * noise)
    negative = [effect for effect, value in wanted.items() if value < 0]
    assert negative, "the table is made so that a component is estimated below 0"
    assert len(found.rows) == len(wanted)


def test_the_plain_computation_is_right_where_it_is_known() -> None:
    """A table without noise: two effects of known size, nothing else."""
    i = np.arange(4.0)[:, None, None]
    p = np.array([0.0, 3.0])[None, :, None]
    y = i + p + np.zeros((4, 2, 3))
    found = plain_components(y)
    assert found["i"] == pytest.approx(np.var(np.arange(4.0), ddof=1))
    assert found["p"] == pytest.approx(np.var([0.0, 3.0], ddof=1))
    assert all(abs(found[e]) < 1e-12 for e in ("t", "ip", "it", "pt", "ipt"))
