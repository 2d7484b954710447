"""The chat template of a model in the Hugging Face form; neither model nor library is loaded."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import TemplateError

from nongrata.engines.chat_template import ChatTemplate
from nongrata.engines.gguf_files import read_metadata
from nongrata.engines.hf_files import demo_gguf_at_hand, folder_at_hand
from nongrata.errors import NongrataError
from nongrata.model_specs.base import FilesSpec
from nongrata.prompts import Messages

_NAMED = ("bos_token", "eos_token", "unk_token", "pad_token")


class HfTemplate(ChatTemplate):
    r"""A chat template that also tells how an answer ends.

    Examples
    --------
    >>> source = "{% for m in messages %}<{{ m.role }}>{{ m.content }}<end>\n{% endfor %}"
    >>> HfTemplate(source).after_answer()
    '<end>\n'
    """

    def after_answer(self) -> str:
        """What the template writes after the assistant's text; empty if it cannot be told."""
        mark = f"nongrata{self.sha256[:24]}answer"
        turns = [{"role": "user", "content": "x"}, {"role": "assistant", "content": mark}]
        try:
            text = self._render(turns, generation_prompt=False)
        except TemplateError:
            return ""
        return text.rpartition(mark)[2] if mark in text else ""


def template_of(folder: Path) -> HfTemplate:
    """The pinned chat template of a model's folder.

    Raises
    ------
    NongrataError
        If the model has no template, or one that cannot be rendered.
    """
    config = _json(folder / "tokenizer_config.json")
    older = _json(folder / "special_tokens_map.json")
    source = _source(folder, config)
    if source is None:
        raise NongrataError(
            "the model has no chat template, so it cannot be asked in turns",
            where=folder,
            fix="use an instruction-tuned model",
        )
    texts = {name: _text(config.get(name)) or _text(older.get(name)) for name in _NAMED}
    return HfTemplate(source, {name: text for name, text in texts.items() if text})


def rendered(
    spec: FilesSpec, base: Path, messages: Sequence[Messages], *, cache: Path | None = None
) -> list[list[tuple[str, bool]]] | None:
    """Prompts inside the model's chat template, if the model's folder is on this machine.

    Nothing is fetched and no model is loaded.

    Returns
    -------
    list or None
        For each prompt its pieces: the text, and whether it is the template's own.
    """
    template: ChatTemplate
    folder = folder_at_hand(spec, base, cache=cache)
    if folder is not None:
        template = template_of(folder)
    else:
        # the demo model before its first run: the file it will be made from says the same
        gguf = None if spec.builtin is None else demo_gguf_at_hand(cache)
        source = None if gguf is None else read_metadata(gguf).chat_template
        if source is None:
            return None
        template = ChatTemplate(source)
    return [
        [(segment.text, not segment.is_content) for segment in template.segments(prompt)]
        for prompt in messages
    ]


def _source(folder: Path, config: Mapping[str, Any]) -> str | None:
    """The template's text: its own file goes before the tokenizer's config, as in transformers."""
    own = folder / "chat_template.jinja"
    if own.is_file():
        try:
            return own.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise NongrataError("the chat template cannot be read", where=own) from error
    said = config.get("chat_template") or _json(folder / "chat_template.json").get("chat_template")
    if isinstance(said, list):  # several, by name
        named = {entry.get("name"): entry.get("template") for entry in said if _is_map(entry)}
        said = named.get("default")
    return said if isinstance(said, str) else None


def _json(path: Path) -> Mapping[str, Any]:
    if not path.is_file():
        return {}
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise NongrataError("the file cannot be read", where=path, fix="fetch it again") from error
    return values if isinstance(values, dict) else {}


def _text(token: Any) -> str:
    """Text of a special token, which is written as such or with its properties."""
    said = token.get("content") if _is_map(token) else token
    return said if isinstance(said, str) else ""


def _is_map(value: Any) -> bool:
    return isinstance(value, dict)
