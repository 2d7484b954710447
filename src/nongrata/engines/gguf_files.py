"""GGUF model files: what they say of themselves, and an exact F32 copy of a quantised one."""

from __future__ import annotations

import errno
import hashlib
import mmap
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nongrata.engines.file_cache import exclusive, remembered_sha256, replacing
from nongrata.errors import MissingExtraError, NongrataError

_SCALARS = {
    0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q",
    12: "<d",
}  # fmt: skip
_STRING, _ARRAY = 8, 9
_MERGES = "tokenizer.ggml.merges"


@dataclass(frozen=True, slots=True)
class GgufMetadata:
    """What a GGUF file says of itself.

    Parameters
    ----------
    path
        The file.
    fields
        Every key and its value, but for the tokenizer's merges, which nobody here needs.
    tensor_types
        Names of the tensor types in the file, such as ``("F32", "Q4_1")``, sorted.
    """

    path: Path
    fields: Mapping[str, Any]
    tensor_types: tuple[str, ...]

    @property
    def architecture(self) -> str:
        """The model's architecture: ``"llama"``."""
        return str(self.fields.get("general.architecture", ""))

    @property
    def context_length(self) -> int:
        """The longest context the model was trained for; 0 if the file does not say."""
        return int(self.fields.get(f"{self.architecture}.context_length", 0))

    @property
    def chat_template(self) -> str | None:
        """The Jinja source of the chat template, if there is one."""
        source = self.fields.get("tokenizer.chat_template")
        return source if isinstance(source, str) else None

    @property
    def vocabulary_size(self) -> int:
        """Number of tokens."""
        return len(self.fields.get("tokenizer.ggml.tokens", ()))

    def special_token(self, role: str) -> tuple[int, str] | None:
        """Id and text of the token with a role (``"bos"``, ``"eos"`` ...), if the file has one."""
        token = self.fields.get(f"tokenizer.ggml.{role}_token_id")
        tokens = self.fields.get("tokenizer.ggml.tokens", ())
        if not isinstance(token, int) or not 0 <= token < len(tokens):
            return None
        return token, tokens[token]


def read_metadata(path: Path) -> GgufMetadata:
    """Read a GGUF file's metadata; its tensors are not touched.

    Raises
    ------
    NongrataError
        If it is no GGUF file, or one that is cut short.

    Examples
    --------
    >>> read_metadata(Path("no/such.gguf"))
    Traceback (most recent call last):
    nongrata.errors.NongrataError: no/such.gguf: cannot read the model (No such file or directory)
    """
    try:
        with path.open("rb") as file:
            if file.read(4) != b"GGUF":
                raise NongrataError(
                    "this is no GGUF file", where=path, fix="name the .gguf file of a model"
                )
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
                return _parse(path, _Cursor(view))
    except OSError as error:
        raise NongrataError(f"cannot read the model ({error.strerror})", where=path) from error
    except (struct.error, IndexError, KeyError, ValueError, UnicodeDecodeError) as error:
        raise NongrataError(
            "the GGUF file is cut short or damaged", where=path, fix="fetch it again"
        ) from error


class _Cursor:
    """Reads GGUF values one after another; a length beyond the file's end raises IndexError."""

    def __init__(self, view: mmap.mmap) -> None:
        self.view = view
        self.at = 4

    def number(self, form: str) -> Any:
        (value,) = struct.unpack_from(form, self.view, self.at)
        self.at += struct.calcsize(form)
        return value

    def string(self) -> bytes:
        length = self.number("<Q")
        if length > len(self.view) - self.at:
            raise IndexError
        text = self.view[self.at : self.at + length]
        self.at += length
        return text

    def value(self, kind: int) -> Any:
        if kind == _STRING:
            return self.string().decode("utf-8", errors="surrogateescape")
        if kind != _ARRAY:
            return self.number(_SCALARS[kind])
        element, count = self.number("<I"), self.number("<Q")
        if count > len(self.view) - self.at:
            raise IndexError
        if element in (_STRING, _ARRAY):
            return [self.value(element) for _ in range(count)]
        form = f"<{count}{_SCALARS[element][1]}"
        values = list(struct.unpack_from(form, self.view, self.at))
        self.at += struct.calcsize(form)
        return values


def _parse(path: Path, cursor: _Cursor) -> GgufMetadata:
    version = cursor.number("<I")
    if version not in (2, 3):
        raise NongrataError(
            f"GGUF version {version} is not supported", where=path, fix="use a version 2 or 3 file"
        )
    tensors, keys = cursor.number("<Q"), cursor.number("<Q")
    fields: dict[str, Any] = {}
    for _ in range(keys):
        key = cursor.string().decode("utf-8")
        value = cursor.value(cursor.number("<I"))
        if key != _MERGES:
            fields[key] = value
    kinds = set()
    for _ in range(tensors):
        cursor.string()
        for _ in range(cursor.number("<I")):
            cursor.number("<Q")
        kinds.add(cursor.number("<I"))
        cursor.number("<Q")
    return GgufMetadata(
        path, fields, tuple(sorted(_TENSOR_TYPES.get(k, f"type{k}") for k in kinds))
    )


# Numbers of ggml's tensor types, as the GGUF specification lists them.
_TENSOR_TYPES = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 6: "Q5_0", 7: "Q5_1", 8: "Q8_0", 9: "Q8_1",
    10: "Q2_K", 11: "Q3_K", 12: "Q4_K", 13: "Q5_K", 14: "Q6_K", 15: "Q8_K", 16: "IQ2_XXS",
    17: "IQ2_XS", 18: "IQ3_XXS", 19: "IQ1_S", 20: "IQ4_NL", 21: "IQ3_S", 22: "IQ2_S",
    23: "IQ4_XS", 24: "I8", 25: "I16", 26: "I32", 27: "I64", 28: "F64", 29: "IQ1_M", 30: "BF16",
    34: "TQ1_0", 35: "TQ2_0", 39: "MXFP4",
}  # fmt: skip


def f32_copy(source: Path, cache: Path, notify: Callable[[str], None] | None = None) -> Path:
    """A copy of a model with every weight as float32, made once and kept.

    The weights are exactly the ones the quantised file stands for; only their form changes. With
    them an answer no longer depends on how requests are batched.

    Parameters
    ----------
    source
        A GGUF file in one piece.
    cache
        Folder under which copies are kept, named after the source's SHA-256.
    notify
        Called with one sentence if the copy has to be made.

    Returns
    -------
    Path
        The copy, or `source` itself if all its tensors are F32.

    Examples
    --------
    >>> f32_copy(Path("model.Q4_1.gguf"), Path("cache"))  # doctest: +SKIP
    PosixPath('cache/f32/b179c9523d0e6a0f.gguf')
    """
    metadata = read_metadata(source)
    if set(metadata.tensor_types) <= {"F32"}:
        return source
    if int(metadata.fields.get("split.count", 1)) > 1:
        raise NongrataError(
            "an F32 copy can only be made of a model in one file",
            where=source,
            fix="merge its parts with llama-gguf-split, or set weights: as_is",
        )
    origin = remembered_sha256(source, cache)
    target = cache / "f32" / f"{origin[:16]}.gguf"
    note = target.with_suffix(".sha256")
    try:
        with exclusive(target):
            if _is_whole(target, note, origin, cache):
                return target
            if notify is not None:
                notify(f"making an F32 copy of {source.name}")
            target.unlink(missing_ok=True)
            target.parent.mkdir(parents=True, exist_ok=True)
            with replacing(target) as draft:
                _write_f32(metadata, draft)
            with replacing(note) as draft:
                draft.write_text(f"{origin} {remembered_sha256(target, cache)}\n")
    except (ValueError, IndexError) as error:
        raise NongrataError(
            "the model file's tensors cannot be read; it is probably cut short",
            where=source,
            fix="fetch it again, and compare its size with the one it should have",
        ) from error
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise NongrataError(
            "no space left for the F32 copy of the model" if full
            else f"cannot make the F32 copy of the model ({error.strerror})",
            where=target.parent,
            fix="free some space there (4 bytes a parameter), set XDG_CACHE_HOME to a larger disk, "
            "or set weights: as_is",
        ) from error  # fmt: skip
    return target


def _is_whole(target: Path, note: Path, origin: str, cache: Path) -> bool:
    """Whether the copy in the cache is the one that was made from this source."""
    if not target.is_file() or not note.is_file():
        return False
    return note.read_text().split() == [origin, remembered_sha256(target, cache)]


def _write_f32(metadata: GgufMetadata, draft: Path) -> None:
    """Write the copy, then read it back and compare every tensor."""
    try:
        import gguf
        from gguf.quants import dequantize
    except ImportError as error:
        raise MissingExtraError("llamacpp", "making an F32 copy of a model") from error
    import numpy as np

    reader = gguf.GGUFReader(metadata.path)
    writer = gguf.GGUFWriter(draft, metadata.architecture)
    dropped = {"general.architecture", "general.quantization_version", "general.file_type"}
    for key, field in reader.fields.items():
        if key.startswith("GGUF.") or key in dropped:
            continue
        kind = field.types[0]
        element = field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(key, field.contents(), kind, element)
    writer.add_file_type(int(gguf.LlamaFileType.ALL_F32))
    shapes = [tuple(int(n) for n in reversed(tensor.shape)) for tensor in reader.tensors]
    for tensor, shape in zip(reader.tensors, shapes, strict=True):
        size = int(tensor.n_elements) * 4
        writer.add_tensor_info(tensor.name, shape, np.dtype(np.float32), size)
    try:
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_ti_data_to_file()
        written = []
        for tensor, shape in zip(reader.tensors, shapes, strict=True):
            try:
                values = dequantize(tensor.data, tensor.tensor_type)
            except NotImplementedError as error:
                raise NongrataError(
                    f"the gguf package cannot convert tensors of type {tensor.tensor_type.name}",
                    where=metadata.path,
                    fix="set weights: as_is",
                ) from error
            values = np.ascontiguousarray(values, dtype=np.float32).reshape(shape)
            written.append(hashlib.blake2b(values.tobytes(), digest_size=16).digest())
            writer.write_tensor_data(values)
    finally:
        writer.close()
    copied = gguf.GGUFReader(draft).tensors
    for tensor, digest in zip(copied, written, strict=True):
        data = np.ascontiguousarray(tensor.data)
        if hashlib.blake2b(data.tobytes(), digest_size=16).digest() != digest:
            raise NongrataError(
                f"the F32 copy of the model differs in tensor {tensor.name!r}",
                where=metadata.path,
                fix="check the disk, and run again",
            )
