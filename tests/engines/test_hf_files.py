from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nongrata.engines.hf_files import (
    check_folder,
    folder_at_hand,
    folder_sha256,
    locate_folder,
    weight_files,
)
from nongrata.errors import NongrataError
from nongrata.model_specs import TransformersSpec

REVISION = "0123456789abcdef0123456789abcdef01234567"


def make(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    whole = {"config.json": "{}", "tokenizer.json": "{}", "model.safetensors": "w"}
    for name, text in (whole | {key.replace("__", "."): v for key, v in files.items()}).items():
        (folder / name).write_text(text)
    return folder


def spec(**place: Any) -> TransformersSpec:
    return TransformersSpec(id="m", engine="transformers", **place)


def test_a_whole_folder_is_found_and_hashed(tmp_path: Path) -> None:
    make(tmp_path / "m", README__md="no part of the model")
    found = locate_folder(spec(path="m"), tmp_path, cache=tmp_path / "cache")
    assert found.path == tmp_path / "m"
    assert found.origin == {"path": "m"}
    (tmp_path / "m" / "README.md").write_text("changed")
    assert locate_folder(spec(path="m"), tmp_path, cache=tmp_path / "c").sha256 == found.sha256
    for name in ("config.json", "tokenizer.json", "model.safetensors", "generation_config.json"):
        other = make(tmp_path / f"with-{name}")
        (other / name).write_text('{"x": 1}')
        assert folder_sha256(other, tmp_path / "cache") != found.sha256


@pytest.mark.parametrize(
    ("gone", "said"),
    [
        ("config.json", "no config.json"),
        ("tokenizer.json", "no tokenizer"),
        ("model.safetensors", "no 'model.safetensors'"),
    ],
)
def test_what_is_missing_is_named(tmp_path: Path, gone: str, said: str) -> None:
    (make(tmp_path / "m") / gone).unlink()
    with pytest.raises(NongrataError, match=said):
        check_folder(tmp_path / "m")


def test_a_gguf_file_is_for_another_engine(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(b"GGUF")
    with pytest.raises(NongrataError, match="use engine: llamacpp"):
        locate_folder(spec(path="m.gguf"), tmp_path, cache=tmp_path)


def test_weights_in_parts(tmp_path: Path) -> None:
    make(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"a": "1.safetensors", "b": "2.safetensors"}}))
    assert weight_files(tmp_path) == ("1.safetensors", "2.safetensors")
    with pytest.raises(NongrataError, match=r"no '1\.safetensors'"):
        check_folder(tmp_path)
    for bad in ('{"weight_map": {"a": "../../etc/passwd"}}', "[]", "{", '{"weight_map": 3}'):
        index.write_text(bad)
        with pytest.raises(NongrataError, match="list of weight files"):
            weight_files(tmp_path)


def test_the_hub_is_asked_for_what_is_needed_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []

    def download(repo_id: str, **options: Any) -> str:
        asked.append({"repo_id": repo_id, **options})
        return str(make(tmp_path / "snapshot"))

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "none"))
    notes: list[str] = []
    place = {"hub": {"repo": "some/model", "revision": REVISION}}
    found = locate_folder(spec(**place), Path(), cache=tmp_path / "cache", notify=notes.append)
    assert found.path == tmp_path / "snapshot"
    assert found.origin == {"repo": "some/model", "revision": REVISION}
    assert notes == ["fetching some/model from the Hub"]
    (options,) = asked
    assert options["revision"] == REVISION
    from huggingface_hub.utils import filter_repo_objects

    offered = [
        "config.json", "model.safetensors", "model-00001-of-2.safetensors", "tokenizer.json",
        "pytorch_model.bin", "original/consolidated.00.pth", "consolidated.safetensors",
        "onnx/model.onnx", "README.md", "chat_template.jinja", "original/tokenizer.model",
    ]  # fmt: skip
    taken = filter_repo_objects(
        offered,
        allow_patterns=options["allow_patterns"],
        ignore_patterns=options["ignore_patterns"],
    )
    assert list(taken) == [*offered[:4], "chat_template.jinja"]


def test_a_gated_model_is_refused_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import errors

    def download(*_: Any, **__: Any) -> str:
        raise errors.GatedRepoError.__new__(errors.GatedRepoError)

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(NongrataError, match=r"accept its terms .* HF_TOKEN") as caught:
        locate_folder(
            spec(hub={"repo": "meta/gated", "revision": REVISION}), Path(), cache=tmp_path
        )
    assert str(caught.value).startswith("Hub model meta/gated: ")
    assert "\n" not in str(caught.value)


def test_a_model_without_a_revision_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NongrataError, match="not pinned"):
        locate_folder(spec(hub={"repo": "some/model"}), Path(), cache=tmp_path)
    assert folder_at_hand(spec(hub={"repo": "some/model"}), Path()) is None
