"""The first screen says what is true: three simulated studies whose truth is known."""

from __future__ import annotations

import json

import pytest

from benchmarks.first_screen import TRUTHS, make, questions, study
from nongrata.analysis.model_data import Resampling
from nongrata.report.sections.study import Study
from nongrata.report.sections.summary import summary_section
from nongrata.study_results import study_results
from report.first_screen_studies import text


@pytest.fixture(scope="module")
def screens(tmp_path_factory):
    found = {}
    for number, truth in enumerate(TRUTHS, 1):
        run = make(tmp_path_factory.mktemp("first") / truth.kind, number, truth)
        results = study_results(run, resampling=Resampling(200, 10)).as_dict()
        found[truth.kind] = text(summary_section(Study(results)))
    return found


def verdicts(screen):
    """What the three cards say in a word."""
    heads = ("Accuracy | ", "Order of labels | ", "Which questions are right | ")
    return [
        next(line for line in screen.splitlines() if line.startswith(head)).split(" | ")[1]
        for head in heads
    ]


def test_noise_is_called_nothing(screens):
    assert verdicts(screens["noise"]) == ["undecided"] * 3
    assert screens["noise"].startswith(
        "Nothing is established: the data show neither that labels differ"
    )
    assert "| robust |" not in screens["noise"]
    assert "| fragile |" not in screens["noise"]


def test_formats_that_matter_are_named_and_labels_are_not(screens):
    accuracy, order, right = verdicts(screens["formats"])
    assert accuracy == right == "depends on the configuration"
    assert order == "undecided"
    assert "It moves with task_format." in screens["formats"]
    said = "No conclusion about labels is established, so none could survive or fail, and a ranking"
    assert screens["formats"].startswith(said)
    assert "| robust |" not in screens["formats"]


def test_labels_that_matter_are_robust_and_those_that_change_places_fragile(screens):
    assert verdicts(screens["labels"])[1] == "part robust, part fragile"
    said = "Partly. The best label (an-expert-in-math) and the worst (a-7-year-old) are the same"
    assert screens["labels"].startswith(said)
    assert "a full ranking is not supported" in screens["labels"].splitlines()[0]
    assert "(fragile): the other way in" in screens["labels"]


def test_titles_do_not_tell_the_truth():
    for number, truth in enumerate(TRUTHS, 1):
        made = study(number, truth)
        assert truth.kind not in json.dumps([made["name"], made["title"]])
    assert len({question["id"] for question in questions()}) == len(questions())
