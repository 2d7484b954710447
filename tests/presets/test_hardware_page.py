from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from nongrata.presets import load_preset
from nongrata.speeds import read_speeds

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "hardware_page.py"


def test_the_tables_are_what_the_plan_computes() -> None:
    done = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["paper-vllm-1gpu", "paper-vllm-8gpu", "paper-ray"])
def test_assumed_speeds_are_of_the_models_of_the_ready_studies(name: str) -> None:
    speeds = read_speeds(ROOT / "docs" / "assumed-speeds.yaml")
    assert speeds.basis == "assumed"
    assert set(speeds.models) == {spec.id for spec in load_preset(name).models}


def test_the_dimensions_give_the_published_sizes() -> None:
    import importlib.util

    form = importlib.util.spec_from_file_location("hardware_page", SCRIPT)
    assert form is not None
    assert form.loader is not None
    page = importlib.util.module_from_spec(form)
    sys.modules["hardware_page"] = page  # dataclasses look their module up
    form.loader.exec_module(page)
    # bytes of the published bfloat16 safetensors of two of them, headers apart
    assert 2 * page.SHAPES["qwen2.5-7b-instruct"].parameters == pytest.approx(
        15_231_271_888, rel=1e-5
    )
    assert 2 * page.SHAPES["qwen2.5-14b-instruct"].parameters == pytest.approx(
        29_540_134_000, rel=1e-5
    )
