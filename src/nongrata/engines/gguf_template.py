"""The chat template in a GGUF file."""

from __future__ import annotations

from pathlib import Path

from nongrata.engines.chat_template import ChatTemplate
from nongrata.engines.gguf_files import GgufMetadata, read_metadata
from nongrata.errors import NongrataError


def gguf_chat_template(metadata: GgufMetadata) -> ChatTemplate:
    """The pinned chat template that a GGUF file's metadata holds."""
    if metadata.chat_template is None:
        raise NongrataError(
            "the model has no chat template, so it cannot be asked in turns",
            where=metadata.path,
            fix="use an instruction-tuned model's file",
        )
    roles = {"bos": "bos_token", "eos": "eos_token", "unknown": "unk_token", "padding": "pad_token"}
    found = {name: metadata.special_token(role) for role, name in roles.items()}
    return ChatTemplate(
        metadata.chat_template, {name: token[1] for name, token in found.items() if token}
    )


def chat_template_of(path: Path) -> ChatTemplate:
    """The pinned chat template of a GGUF file; the model is not loaded."""
    return gguf_chat_template(read_metadata(path))
