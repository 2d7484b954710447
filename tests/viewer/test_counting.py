"""Figures are counted beside the pages, in as little memory as one likes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nongrata.viewer import Api, RunOnDisk, counting
from nongrata.viewer.counting import Counting
from nongrata.viewer.flips import QuestionCounts

NAMES = ("flips", "option_flips", "right", "most", "most_flips", "fates")


def counts_of(run: Path, model: str = "sim") -> QuestionCounts:
    counter = Counting(RunOnDisk(run))
    found = counter.wait(model).counts
    counter.end()
    assert found is not None
    return found


def test_a_range_of_questions_at_a_time_gives_the_same(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = counts_of(run)
    monkeypatch.setattr(counting, "_MOST_BYTES", 3_000)
    assert len(counting._ranges(RunOnDisk(run).now())) > 2
    in_parts = counts_of(run)
    for name in NAMES:
        np.testing.assert_array_equal(getattr(in_parts, name), getattr(whole, name))


def test_answers_are_at_hand_only_while_they_are_few(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = RunOnDisk(run)
    counter = Counting(disk)
    assert counter.answers("sim", disk.now(), 0) is None
    counter.wait("sim")
    assert counter.answers("sim", disk.now(), 0) is not None
    kept = counter._by_model["sim"].kept
    assert kept is not None
    monkeypatch.setattr(counting, "_MOST_KEPT", 3 * kept.outcome.size)
    counter.wait("other")
    assert counter.answers("other", disk.now(), 0) is not None
    assert counter.answers("sim", disk.now(), 0) is None
    assert counter.of("sim", disk.now()).counts is not None
    counter.end()


def test_what_goes_wrong_is_told_and_pages_go_on(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> Any:
        raise OSError("the disk is gone")

    monkeypatch.setattr(counting, "count_questions", fails)
    api = Api(RunOnDisk(run))
    assert api.counting.wait("sim").trouble == "the disk is gone"
    listed = api.get("/api/questions", {})
    assert listed is not None
    assert listed["counting"]["trouble"] == "the disk is gone"
    assert listed["questions"][0]["figures"] is None
    api.counting.end()


def test_counting_waits_while_a_page_is_asked_for(run: Path) -> None:
    counter = Counting(RunOnDisk(run))
    with counter.interrupted():
        counter.wait("sim", seconds=0.3)
        assert counter.of("sim", RunOnDisk(run).now()).counts is None
    assert counter.wait("sim").counts is not None
    counter.end()
