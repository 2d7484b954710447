from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

from nongrata.amend import differences
from nongrata.loading import load_study
from nongrata.plan import build_plan
from nongrata.presets import PRESETS, load_preset, preset_text, with_parts
from nongrata.study import Study
from nongrata.yaml_files import parse_yaml, validate

READY = [name for name in PRESETS if name.startswith("paper-")]
WITH_VLLM = ["paper-vllm-1gpu", "paper-vllm-8gpu", "paper-ray"]
OWN = {"name", "title", "note", "models"}


def test_there_is_a_ready_study_for_each_kind_of_hardware() -> None:
    assert [*WITH_VLLM, "paper-hosted"] == READY


@pytest.mark.parametrize("name", READY)
def test_a_ready_study_is_the_papers_protocol(name: str) -> None:
    paper, ready = load_preset("paper"), load_preset(name)
    assert ready.model_dump(exclude=OWN) == paper.model_dump(exclude=OWN)


@pytest.mark.parametrize("name", READY)
def test_the_protocol_is_written_down_once(name: str) -> None:
    folder = resources.files("nongrata.presets").joinpath("parts")
    for part in folder.iterdir():
        keys = set(parse_yaml(part.read_text("utf-8"), part.name).data)
        assert keys <= OWN, part.name
    # and whatever stands in the paper's text outside those keys stands in the ready study's
    kept = preset_text("paper").partition("\nquestions:")[2]
    assert kept in preset_text(name)


@pytest.mark.parametrize("name", READY)
def test_requests_are_the_papers_to_the_last_bit(name: str) -> None:
    def digests(preset: str) -> set[bytes]:
        study = load_preset(preset)
        plan = build_plan(study, study.personas.resolve(Path()), ())
        return {skeleton.digest for skeleton in plan.prompts.skeletons}

    assert digests(name) == digests("paper")


@pytest.mark.parametrize("name", READY)
def test_every_model_is_pinned_or_says_who_must_answer(name: str) -> None:
    for spec in load_preset(name).models:
        assert spec.unpinned() is None
        if name == "paper-hosted":
            assert spec.answers_as  # type: ignore[union-attr]


@pytest.mark.parametrize("name", WITH_VLLM[1:])
def test_a_run_may_go_from_one_gpu_to_many(name: str) -> None:
    one, other = load_preset("paper-vllm-1gpu"), load_preset(name)
    personas = one.personas.resolve(Path())
    assert not differences(one, other, personas, personas, (), ())
    paper = load_preset("paper")
    assert differences(one, paper, personas, personas, (), ())  # so that the above can fail


@pytest.mark.parametrize("name", READY)
def test_init_writes_the_whole_study(name: str, tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(preset_text(name), encoding="utf-8")
    assert load_study(str(path)).study == load_preset(name)
    assert f"nongrata run {name} " in " ".join(load_preset(name).note.split())
    assert "docs/hardware.md" in load_preset(name).note


def test_the_models_are_the_papers() -> None:
    ids = [spec.id for spec in load_preset("paper").models]
    for name in WITH_VLLM:
        assert [spec.id for spec in load_preset(name).models] == ids


@pytest.mark.parametrize(
    ("parts", "result"),
    [
        ("b: 9\n", "# top\n\na:\n  x: 1\n# of c\nc: 3\nb: 9\n"),
        ("a: 0\n", "a: 0\n# of c\nc: 3\n"),
        ("# new\na: 0\nz: 1\nc: 5\n", "# new\na: 0\nz: 1\nc: 5\n"),
        ("c: 4\n# end\n", "# top\n\na:\n  x: 1\nc: 4\n# end\n"),
    ],
)
def test_parts_are_replaced_with_their_comments(parts: str, result: str) -> None:
    assert with_parts("# top\n\na:\n  x: 1\n# of c\nc: 3\n", parts) == result


def test_a_block_scalar_with_a_colon_is_no_key() -> None:
    text = "note: >-\n  run: this\n\n  and: that\nseed: 1\n"
    assert with_parts(text, "seed: 2\n") == text.replace("seed: 1", "seed: 2")
    with pytest.raises(Exception, match="nongrata"):
        validate(Study, parse_yaml(text, "x"))
