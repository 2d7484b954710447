"""GGUF metadata against the gguf package, and F32 copies against dequantised tensors."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
from gguf.quants import dequantize, quantize
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nongrata.engines.gguf_files import f32_copy, read_metadata
from nongrata.errors import NongrataError


@pytest.fixture
def quantised(tmp_path: Path) -> Path:
    """A small model file with tensors of several types."""
    rng = np.random.default_rng(5)
    writer = gguf.GGUFWriter(tmp_path / "model.gguf", "llama")
    writer.add_context_length(512)
    writer.add_file_type(3)
    writer.add_quantization_version(2)
    writer.add_token_list(["<s>", "A", "ü"])
    writer.add_token_types([3, 1, 1])
    writer.add_token_merges(["A B"])
    writer.add_bos_token_id(0)
    writer.add_add_bos_token(True)
    writer.add_chat_template("{{ messages }}")
    values = rng.normal(size=(4, 64)).astype(np.float32)
    kind = gguf.GGMLQuantizationType
    for name, type_ in (("q41", kind.Q4_1), ("q80", kind.Q8_0), ("half", kind.F16)):
        writer.add_tensor(name, quantize(values, type_), raw_dtype=type_)
    writer.add_tensor("norm", values[0])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return tmp_path / "model.gguf"


def test_metadata_is_what_the_gguf_package_reads(quantised: Path) -> None:
    ours = read_metadata(quantised)
    theirs = gguf.GGUFReader(quantised)
    expected = {
        key: field.contents()
        for key, field in theirs.fields.items()
        if not key.startswith("GGUF.") and key != "tokenizer.ggml.merges"
    }
    assert dict(ours.fields) == expected
    assert ours.tensor_types == ("F16", "F32", "Q4_1", "Q8_0")
    assert ours.architecture == "llama"
    assert ours.context_length == 512
    assert ours.chat_template == "{{ messages }}"
    assert ours.special_token("bos") == (0, "<s>")
    assert ours.special_token("eos") is None
    assert ours.vocabulary_size == 3


def test_an_f32_copy_holds_exactly_the_dequantised_weights(quantised: Path, tmp_path: Path) -> None:
    copy = f32_copy(quantised, tmp_path / "cache")
    source, made = gguf.GGUFReader(quantised), gguf.GGUFReader(copy)
    assert [t.name for t in made.tensors] == [t.name for t in source.tensors]
    for ours, theirs in zip(made.tensors, source.tensors, strict=True):
        assert ours.tensor_type == gguf.GGMLQuantizationType.F32
        np.testing.assert_array_equal(
            ours.data, dequantize(theirs.data, theirs.tensor_type).reshape(ours.data.shape)
        )
    before, after = dict(read_metadata(quantised).fields), dict(read_metadata(copy).fields)
    assert before.pop("general.file_type") == 3
    assert after.pop("general.file_type") == 0
    assert before.pop("general.quantization_version") == 2
    assert before == after


def test_an_f32_copy_is_made_once(quantised: Path, tmp_path: Path) -> None:
    said: list[str] = []
    first = f32_copy(quantised, tmp_path / "cache", said.append)
    changed = first.stat().st_mtime_ns
    assert f32_copy(quantised, tmp_path / "cache", said.append) == first
    assert first.stat().st_mtime_ns == changed
    assert said == ["making an F32 copy of model.gguf"]


@pytest.mark.parametrize("harm", ["cut", "flip", "note"])
def test_a_damaged_copy_is_made_again(quantised: Path, tmp_path: Path, harm: str) -> None:
    copy = f32_copy(quantised, tmp_path / "cache")
    good = copy.read_bytes()
    if harm == "cut":
        copy.write_bytes(good[:-10])
    elif harm == "flip":
        copy.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
    else:
        copy.with_suffix(".sha256").unlink()
    assert f32_copy(quantised, tmp_path / "cache").read_bytes() == good


def test_a_model_in_f32_needs_no_copy(write_gguf: Callable[..., Path], tmp_path: Path) -> None:
    path = write_gguf()
    assert f32_copy(path, tmp_path / "cache") == path
    assert not (tmp_path / "cache").exists()


def test_a_full_disk_is_a_clear_error_and_leaves_nothing(
    quantised: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Any, *args: Any, **kwargs: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(gguf.GGUFWriter, "write_tensor_data", full)
    with pytest.raises(NongrataError, match="no space left") as caught:
        f32_copy(quantised, tmp_path / "cache")
    assert "weights: as_is" in str(caught.value)
    left = [p.name for p in (tmp_path / "cache" / "f32").iterdir() if not p.name.endswith(".lock")]
    assert left == []


def test_a_copy_that_reads_back_differently_is_refused(
    quantised: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = gguf.GGUFWriter.write_tensor_data

    def flawed(self: Any, tensor: Any, *args: Any, **kwargs: Any) -> None:
        real(self, tensor + 1, *args, **kwargs)

    monkeypatch.setattr(gguf.GGUFWriter, "write_tensor_data", flawed)
    with pytest.raises(NongrataError, match="differs in tensor 'q41'"):
        f32_copy(quantised, tmp_path / "cache")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(keep=st.integers(0, 2000), flip=st.integers(0, 2000))
def test_a_damaged_file_never_ends_in_a_traceback(quantised: Path, keep: int, flip: int) -> None:
    data = bytearray(quantised.read_bytes()[: keep + 1])
    data[flip % len(data)] ^= 0xFF
    broken = quantised.with_name("broken.gguf")
    broken.write_bytes(data)
    try:
        read_metadata(broken)
    except NongrataError as error:
        assert "broken.gguf" in str(error)  # noqa: PT017 (a flip may also do no harm)


def test_other_files_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "weights.safetensors").write_bytes(b"\x08" * 100)
    with pytest.raises(NongrataError, match="no GGUF file"):
        read_metadata(tmp_path / "weights.safetensors")
    (tmp_path / "empty.gguf").write_bytes(b"")
    with pytest.raises(NongrataError, match="no GGUF file"):
        read_metadata(tmp_path / "empty.gguf")


def test_a_model_in_parts_is_refused(
    write_gguf: Callable[..., Path], quantised: Path, tmp_path: Path
) -> None:
    writer = gguf.GGUFWriter(tmp_path / "part.gguf", "llama")
    writer.add_uint16("split.count", 2)
    values = np.ones((1, 32), dtype=np.float32)
    kind = gguf.GGMLQuantizationType.Q8_0
    writer.add_tensor("w", quantize(values, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(NongrataError, match="in one file"):
        f32_copy(tmp_path / "part.gguf", tmp_path / "cache")
