from __future__ import annotations

import hashlib
import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from nongrata.errors import NongrataError
from nongrata.loading import load_study
from nongrata.pin import find_pins, latest_commit, pinned_text
from nongrata.presets import preset_text


def commit(repo: str) -> str:
    return hashlib.sha1(repo.encode()).hexdigest()


def all_digits(repo: str) -> str:
    return f"{len(repo):08}" * 5


@pytest.mark.parametrize("commit", [commit, all_digits])
def test_the_papers_models_get_the_commits_of_their_repositories(commit, tmp_path: Path) -> None:
    pins = find_pins("paper", latest=commit)
    assert len(pins) == 5
    path = tmp_path / "study.yaml"
    path.write_text(pinned_text("paper", pins), encoding="utf-8")
    for pin, spec in zip(pins, load_study(str(path)).study.models, strict=True):
        assert spec.unpinned() is None
        assert spec.hub.revision == commit(spec.hub.repo)  # type: ignore[union-attr]
        assert pin.model == spec.id
    # nothing else has changed, to the byte
    text = path.read_text("utf-8")
    for pin in pins:
        text = text.replace(f"'{pin.latest}'", "null").replace(pin.latest, "null")
    assert text == preset_text("paper")
    assert find_pins(str(path), latest=commit) == []


@pytest.mark.parametrize("commit", [commit, all_digits])
def test_the_options_it_prints_pin(commit) -> None:
    pins = find_pins("paper", latest=commit)
    overrides = [shlex.split(pin.override)[1] for pin in pins]
    assert all(spec.unpinned() is None for spec in load_study("paper", overrides).study.models)


def test_pinned_models_are_looked_up_on_request_only() -> None:
    assert find_pins("paper-ray", latest=commit) == []
    pins = find_pins("paper-ray", every=True, latest=commit)
    assert len(pins) == 5
    text = pinned_text("paper-ray", pins)
    for pin in pins:
        assert pin.pinned is not None
        assert pin.pinned not in text
        assert pin.latest in text


def test_no_hub_is_asked_for_models_that_are_not_there() -> None:
    def refuse(repo: str) -> str:
        raise AssertionError(repo)

    for name in ("demo", "smoke", "paper-hosted"):
        assert find_pins(name, every=True, latest=refuse) == []


def test_a_revision_that_is_nowhere_written_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(preset_text("paper").replace("revision: null, ", ""), encoding="utf-8")
    pins = find_pins(str(path), latest=commit)
    with pytest.raises(NongrataError, match="by hand"):
        pinned_text(str(path), pins)


class FakeApi:
    asked: ClassVar[list[dict[str, Any]]] = []

    def repo_info(self, repo: str, **options: Any) -> SimpleNamespace:
        self.asked.append({"repo": repo, **options})
        return SimpleNamespace(sha="ab" * 20)


def test_the_hub_is_asked_for_main(monkeypatch: pytest.MonkeyPatch) -> None:
    FakeApi.asked.clear()
    monkeypatch.setattr("huggingface_hub.HfApi", FakeApi)
    assert latest_commit("a/b") == "ab" * 20
    assert FakeApi.asked == [{"repo": "a/b", "repo_type": "model", "revision": "main"}]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("GatedRepoError", "accept its terms"),
        ("RepositoryNotFoundError", "no such model, or it is private"),
        ("RevisionNotFoundError", "no branch 'main'"),
        ("HfHubHTTPError", "the Hub does not answer"),
        ("OfflineModeIsEnabled", "cannot be reached"),
    ],
)
def test_the_hub_says_no_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, name: str, said: str
) -> None:
    from huggingface_hub import errors

    class Refusing:
        def repo_info(self, *_: object, **__: object) -> None:
            raise getattr(errors, name).__new__(getattr(errors, name))

    monkeypatch.setattr("huggingface_hub.HfApi", Refusing)
    with pytest.raises(NongrataError) as caught:
        latest_commit("a/b")
    assert said in str(caught.value)
    assert str(caught.value).startswith("Hub model a/b: ")
    assert "\n" not in str(caught.value)
