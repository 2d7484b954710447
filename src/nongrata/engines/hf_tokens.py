"""From messages to token ids and back, with the tokenizer of a model in the Hugging Face form."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

from nongrata.engines.chat_template import Segment
from nongrata.engines.hf_conversion import quiet_transformers
from nongrata.engines.hf_template import template_of
from nongrata.engines.label_tokens import LISTED_LABELS, LabelTokens
from nongrata.engines.prompt_tokens import PromptTokenizer, Vocabulary, check_text
from nongrata.errors import MissingExtraError, NongrataError
from nongrata.prompts import Decoding, Messages

_NORMAL, _CONTROL, _USER_DEFINED, _BYTE = 1, 3, 4, 6
_BYTE_TOKEN = re.compile(r"<0x[0-9A-F]{2}>")


@dataclass(frozen=True, slots=True)
class Continued:
    """A prompt, and the same with each of several continuations.

    Parameters
    ----------
    prompt
        Tokens of the prompt alone.
    start
        How many first tokens the prompt and all the continued texts share: what is scored begins
        there. It is ``len(prompt)``, unless a tokenizer joins the prompt's last characters with
        the continuation's first ones in one token.
    texts
        Tokens of the prompt with each continuation.
    """

    prompt: tuple[int, ...]
    start: int
    texts: tuple[tuple[int, ...], ...]


class HfTokens:
    """A model's tokenizer and chat template, as this package uses them.

    Parameters
    ----------
    folder
        The model's folder.
    label_variants
        Spellings of a label that count as choosing it.

    Attributes
    ----------
    template
        The chat template, pinned.
    vocabulary
        The tokens: added special ones are control tokens.
    labels
        Which tokens choose a label.
    ends
        Tokens that end an answer: those of the generation config, of the tokenizer and of the
        chat template.

    Examples
    --------
    >>> tokens = HfTokens(folder, ("{label}", " {label}"))  # doctest: +SKIP
    >>> tokens.prompt_tokens(messages)  # doctest: +SKIP
    (1, 9690, 198, 2, 198, 1, 4093, 198)
    """

    def __init__(self, folder: Path, label_variants: Sequence[str]) -> None:
        self.template = template_of(folder)
        self._tokenizer = _load(folder)
        self._backend = self._tokenizer.backend_tokenizer
        form = json.loads(self._backend.to_str())
        added = {int(i): token for i, token in self._backend.get_added_tokens_decoder().items()}
        self.vocabulary = _vocabulary(self._backend.get_vocab(with_added_tokens=True), added, form)
        self.labels = LabelTokens(self.vocabulary, label_variants)
        self._absorbs = {
            token.content: (bool(token.lstrip), bool(token.rstrip))
            for token in added.values()
            if token.special and (token.lstrip or token.rstrip)
        }
        self._bos = self._added_bos()
        self._spaced, form = _without_first_space(form)
        text_only = type(self._backend).from_str(json.dumps(form))
        text_only.encode_special_tokens = True  # "<|im_end|>" in a text is ten characters
        self._prompt_tokenizer = PromptTokenizer(
            self.vocabulary,
            lambda text: text_only.encode(text, add_special_tokens=False).ids,
            self._bos,
        )
        self._anchor = self.vocabulary.id_of("a")
        self.ends = self._find_ends(folder)

    def prompt_tokens(self, messages: Messages) -> tuple[int, ...]:
        """The token ids sent for a prompt.

        Raises
        ------
        NongrataError
            If there is a system text, and the model's template has no place for one.
        ValueError
            If the prompt cannot be sent as the text it is.
        """
        return self._tokens(self.template.segments(messages))

    def continued(self, messages: Messages, continuations: Sequence[str]) -> Continued:
        """The token ids of a prompt, and of the same prompt with each continuation after it.

        A continuation is tokenised as a part of the whole text, as the model has met it in
        training. Where a tokenizer joins the last characters of the prompt with its first ones,
        all options are scored from the last place on that they and the prompt share: they stay
        comparable, and no text is split where the tokenizer would not split it.

        Raises
        ------
        NongrataError, ValueError
            As `prompt_tokens`; also if a continuation has no token of its own.
        """
        segments = self.template.segments(messages)
        prompt = self._tokens(segments)
        texts = tuple(self._tokens(_with(segments, text)) for text in continuations)
        start = len(prompt)
        for tokens in texts:
            shared = zip(prompt[:start], tokens, strict=False)
            start = next((i for i, (a, b) in enumerate(shared) if a != b), min(start, len(tokens)))
        for text, tokens in zip(continuations, texts, strict=True):
            if not text or len(tokens) <= start:
                raise ValueError("an option has no text of its own to take the likelihood of")
        if start == 0 and texts:
            raise ValueError("an option's text is joined with all of the prompt in one token")
        return Continued(prompt, start, texts)

    def text(self, tokens: Sequence[int]) -> str:
        """The text of generated tokens; special ones have none, a cut character is U+FFFD."""
        if not tokens:
            return ""
        # behind another token, so that a first space is not taken for the start of a text
        before = [] if self._anchor is None else [self._anchor]
        whole = self._backend.decode([*before, *tokens], skip_special_tokens=True)
        alone = self._backend.decode(before, skip_special_tokens=True) if before else ""
        return str(whole.removeprefix(alone))

    def identity(self) -> dict[str, Any]:
        """What of this can change an answer, as JSON values."""
        return {
            "template_sha256": self.template.sha256,
            "system_role": self.template.system_role,
            "template_pinned": {**self.template.pinned, "date": self.template.report()["date"]},
            "label_variants": list(self.labels.variants),
            "label_tokens": self.labels.listed(LISTED_LABELS),
            "end_tokens": list(self.ends),
        }

    def self_check(self) -> dict[str, Any]:
        """Whether the tokenizer, given a whole prompt in one piece, makes the same tokens."""
        decoding = Decoding(max_tokens=1, top_k=0, top_p=1.0, min_p=0.0, stop=())
        system = "Be brief." if self.template.has_system_role else ""
        messages = Messages(system, "What is 2 + 2?\nA. 3\nB. 4", "", decoding)
        tokens = list(self.prompt_tokens(messages))
        text = "".join(segment.text for segment in self.template.segments(messages))
        whole = list(self._backend.encode(text, add_special_tokens=False).ids)
        if self._bos is not None and whole[:1] != [self._bos]:
            whole.insert(0, self._bos)
        bos = self._tokenizer.bos_token_id
        begins = bos is not None and tokens[:1] == [bos]
        return {
            "same_tokens_as_whole_prompt": tokens == whole,
            "begins_with_bos": begins,
            "begins_with_bos_twice": begins and tokens[1:2] == [bos],
        }

    def _tokens(self, segments: Sequence[Segment]) -> tuple[int, ...]:
        for segment in segments:
            check_text(segment.text)
        marker = self._prompt_tokenizer.unsayable(segments)
        if marker is not None:
            raise ValueError(
                f"the prompt holds {marker!r}, which this model can only read as control"
            )
        tokens = self._prompt_tokenizer(self._as_trained(segments))
        if not tokens:
            raise ValueError("the prompt is empty")
        return tokens

    def _as_trained(self, segments: Sequence[Segment]) -> list[Segment]:
        """The template's text without the spaces that its control tokens swallow."""
        changed = list(segments)
        for i, segment in enumerate(segments):
            if segment.is_content or not self._absorbs:
                continue
            text = segment.text
            for name, (before, after) in self._absorbs.items():
                if after:
                    text = re.sub(re.escape(name) + r"\s+", _as_it_is(name), text)
                if before:
                    text = re.sub(r"\s+" + re.escape(name), _as_it_is(name), text)
            changed[i] = Segment(text, False)
        first = changed[0].text if changed else ""
        begins_as_text = not any(name and first.startswith(name) for name in self._control)
        if self._spaced and first and begins_as_text and not first.startswith(" "):
            changed[0] = Segment(" " + first, changed[0].is_content)
        return changed

    @property
    def _control(self) -> Mapping[str, int]:
        return self.vocabulary.control

    def _added_bos(self) -> int | None:
        """The token the tokenizer puts before a whole text, if it puts one."""
        bare = list(self._backend.encode("a", add_special_tokens=False).ids)
        whole = list(self._backend.encode("a", add_special_tokens=True).ids)
        added = len(whole) > len(bare) and whole[: len(bare)] != bare
        return int(whole[0]) if added else None

    def _find_ends(self, folder: Path) -> tuple[int, ...]:
        ends: set[int] = set()
        for name in ("generation_config.json", "config.json"):
            path = folder / name
            said = json.loads(path.read_text("utf-8")) if path.is_file() else {}
            tokens = said.get("eos_token_id") if isinstance(said, dict) else None
            ends.update(t for t in (tokens if isinstance(tokens, list) else [tokens]) if _is_id(t))
        if self._tokenizer.eos_token_id is not None:
            ends.add(int(self._tokenizer.eos_token_id))
        after = self.template.after_answer().lstrip()
        closing = [name for name in self._control if name and after.startswith(name)]
        if closing:
            ends.add(self._control[max(closing, key=len)])
        return tuple(sorted(ends))


def _as_it_is(text: str) -> Callable[[re.Match[str]], str]:
    """A replacement in which no backslash means anything."""
    return lambda _: text


def _load(folder: Path) -> Any:
    try:
        import transformers
    except ImportError as error:
        raise MissingExtraError("transformers", "reading a model's tokenizer") from error
    try:
        with quiet_transformers():
            tokenizer: Any = transformers.AutoTokenizer.from_pretrained(
                str(folder), local_files_only=True, trust_remote_code=False
            )
    except Exception as error:  # whatever a strange file makes of the library
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise NongrataError(
            f"the model's tokenizer cannot be read: {first[:200]!r}",
            where=folder,
            fix="use a model with a tokenizer.json",
        ) from error
    if not tokenizer.is_fast:
        raise NongrataError(
            "the model's tokenizer has no tokenizer.json, so its control tokens cannot be told "
            "from text",
            where=folder,
            fix="use a copy of the model that has one",
        )
    return tokenizer


def _vocabulary(
    ids: Mapping[str, int], added: Mapping[int, Any], form: Mapping[str, Any]
) -> Vocabulary:
    size = max(ids.values(), default=-1) + 1
    tokens, kinds = [""] * size, [_BYTE] * size  # numbers without a token are no text
    fallback = bool(form["model"].get("byte_fallback"))
    for text, i in ids.items():
        tokens[i] = text
        is_byte = fallback and _BYTE_TOKEN.fullmatch(text) is not None
        kinds[i] = _BYTE if is_byte else _NORMAL
    for i, token in added.items():
        kinds[i] = _CONTROL if token.special else _USER_DEFINED
    parts = json.dumps([form.get("pre_tokenizer"), form.get("decoder")])
    return Vocabulary(tokens, kinds, "gpt2" if '"ByteLevel"' in parts else "")


def _without_first_space(form: dict[str, Any]) -> tuple[bool, dict[str, Any]]:
    """Whether the tokenizer puts a space before a whole text, and its form without that.

    A prompt is tokenised piece by piece, and a piece behind a control token begins no text.
    """
    changed = json.loads(json.dumps(form.get("pre_tokenizer")))
    found = False
    for part in _parts(changed):
        if part.get("type") == "Metaspace" and part.get("prepend_scheme") == "first":
            part["prepend_scheme"] = "never"
            found = True
    return found, {**form, "pre_tokenizer": changed}


def _parts(tokenizer: Any) -> list[dict[str, Any]]:
    if not isinstance(tokenizer, dict):
        return []
    inner = [part for one in tokenizer.get("pretokenizers", []) for part in _parts(one)]
    return [tokenizer, *inner]


def _with(segments: Sequence[Segment], text: str) -> list[Segment]:
    return [*segments, Segment(text, True)]


def _is_id(token: Any) -> TypeGuard[int]:
    return isinstance(token, int) and not isinstance(token, bool) and token >= 0
