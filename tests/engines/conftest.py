"""The demo model, fetched once, and an engine over it."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nongrata.engines.llamacpp import LlamaCppEngine
from nongrata.errors import NongrataError
from nongrata.model_specs import LlamaCppSpec


@pytest.fixture(scope="session")
def demo_engine() -> Iterator[LlamaCppEngine]:
    """SmolLM2 in F32, two workers."""
    spec = LlamaCppSpec(id="demo", engine="llamacpp", builtin="smollm2-135m-instruct", workers=2)
    try:
        opened = LlamaCppEngine.open(spec, Path())
    except NongrataError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"no demo model: {error}")
    with opened as engine:
        yield engine


@pytest.fixture
def write_gguf(tmp_path: Path) -> Callable[..., Path]:
    """Write a GGUF file without tensors, from plain values."""

    def string(text: str) -> bytes:
        data = text.encode()
        return struct.pack("<Q", len(data)) + data

    def value(item: Any) -> bytes:
        if isinstance(item, bool):
            return struct.pack("<I?", 7, item)
        if isinstance(item, int):
            return struct.pack("<II", 4, item)
        if isinstance(item, float):
            return struct.pack("<If", 6, item)
        if isinstance(item, str):
            return struct.pack("<I", 8) + string(item)
        if item and isinstance(item[0], str):
            body = b"".join(string(text) for text in item)
            return struct.pack("<IIQ", 9, 8, len(item)) + body
        return struct.pack("<IIQ", 9, 5, len(item)) + struct.pack(f"<{len(item)}i", *item)

    def write(name: str = "model.gguf", **changes: Any) -> Path:
        # Code points 0..127 as tokens at 1000.., as the imitation server counts them.
        plain = [f"\u2581{i}" if i < 33 else chr(i) for i in range(128)]
        special = ["<s>", "</s>", "<|user|>", "<|system|>", "<|bot|>"]
        tokens = special + ["unused"] * (1000 - len(special)) + plain
        fields: dict[str, Any] = {
            "general.architecture": "llama",
            "llama.context_length": 2048,
            "tokenizer.ggml.model": "gpt2",
            "tokenizer.ggml.tokens": tokens,
            "tokenizer.ggml.token_type": [3] * 5 + [1] * (len(tokens) - 5),
            "tokenizer.ggml.bos_token_id": 0,
            "tokenizer.ggml.eos_token_id": 1,
            "tokenizer.chat_template": (
                "{{ bos_token }}{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}"
                "{% if add_generation_prompt %}<|bot|>{% endif %}"
            ),
        }
        fields |= {key.replace("__", "."): item for key, item in changes.items()}
        fields = {key: item for key, item in fields.items() if item is not None}
        body = b"".join(string(key) + value(item) for key, item in fields.items())
        path = tmp_path / name
        path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, len(fields)) + body)
        return path

    return write
