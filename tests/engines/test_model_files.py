"""Where a model comes from; the Hub is not asked here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import huggingface_hub
import pytest

from nongrata.engines.file_cache import sha256_of
from nongrata.engines.model_files import locate_model
from nongrata.errors import NongrataError
from nongrata.model_specs import LlamaCppSpec

HUB = {"repo": "org/model-GGUF", "revision": "a" * 40, "file": "model.gguf"}


def spec(**where: Any) -> LlamaCppSpec:
    return LlamaCppSpec.model_validate({"id": "m", "engine": "llamacpp", **where})


def test_a_path_starts_from_the_studys_folder(tmp_path: Path) -> None:
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    found = locate_model(spec(path="model.gguf"), tmp_path, cache=tmp_path / "cache")
    assert found.path == tmp_path / "model.gguf"
    assert found.sha256 == sha256_of(found.path)
    assert found.origin == {"path": "model.gguf"}


def test_a_file_on_the_hub_is_asked_for_at_its_revision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def download(repo_id: str, filename: str, repo_type: str, revision: str) -> str:
        asked.append((repo_id, filename, repo_type, revision))
        (tmp_path / "blob").write_bytes(b"GGUF")
        return str(tmp_path / "blob")

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", download)
    found = locate_model(spec(hub=HUB), tmp_path, cache=tmp_path / "cache")
    assert asked == [(HUB["repo"], HUB["file"], "model", HUB["revision"])]
    assert found.origin == HUB


def test_an_unpinned_revision_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NongrataError, match="not pinned"):
        locate_model(spec(hub=HUB | {"revision": None}), tmp_path)
