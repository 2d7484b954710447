"""From segments to token ids: control tokens from the template only, everything else as text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from nongrata.engines.chat_template import Segment
from nongrata.engines.gguf_files import GgufMetadata

_UNKNOWN, _CONTROL, _USER_DEFINED, _BYTE = 2, 3, 4, 6


class Vocabulary:
    r"""The tokens of a model: which are control tokens, and which are a given text.

    Parameters
    ----------
    tokens
        Text of each token, in the tokenizer's own spelling.
    kinds
        Kind of each token, as GGUF numbers them; 3 is a control token.
    family
        ``"gpt2"`` for byte-level BPE; others write a space as U+2581.

    Examples
    --------
    >>> vocabulary = Vocabulary(["<s>", "A", "\u0120A"], [3, 1, 1], "gpt2")
    >>> vocabulary.control, vocabulary.id_of("A"), vocabulary.id_of(" A"), vocabulary.id_of("B")
    ({'<s>': 0}, 1, 2, None)
    """

    def __init__(self, tokens: Sequence[str], kinds: Sequence[int], family: str) -> None:
        self.control: dict[str, int] = {}
        self.user_defined: dict[str, int] = {}
        self._ids: dict[bytes, int] = {}
        spell = _byte_level if family == "gpt2" else _plain_spelling
        for token, (text, kind) in enumerate(zip(tokens, kinds, strict=True)):
            if kind in (_UNKNOWN, _CONTROL):
                self.control.setdefault(text, token)
                continue
            if kind == _USER_DEFINED:
                self.user_defined.setdefault(text, token)
            piece = (
                text.encode("utf-8", "surrogateescape") if kind == _USER_DEFINED else spell(text)
            )
            if kind != _BYTE:
                self._ids.setdefault(piece, token)

    @classmethod
    def of(cls, metadata: GgufMetadata) -> Vocabulary:
        """The vocabulary a model file holds."""
        tokens = metadata.fields.get("tokenizer.ggml.tokens", [])
        kinds = metadata.fields.get("tokenizer.ggml.token_type", [1] * len(tokens))
        return cls(tokens, kinds, str(metadata.fields.get("tokenizer.ggml.model", "")))

    def id_of(self, text: str) -> int | None:
        """The token that is exactly this text, if there is one."""
        return self._ids.get(text.encode("utf-8", "surrogateescape"))


class PromptTokenizer:
    """Turns segments into token ids.

    Runs of text, whether the template's or a content, are tokenised together, as they would be in
    one piece; only control tokens in the template's text divide them.

    Parameters
    ----------
    vocabulary
        The model's tokens.
    tokenize
        Tokenises text in which no control token is recognised.
    bos
        The token the tokenizer puts first, if it puts one; it is never put twice.

    Examples
    --------
    >>> vocabulary = Vocabulary(["<s>", "</s>"], [3, 3], "gpt2")
    >>> tokenizer = PromptTokenizer(vocabulary, lambda text: [ord(c) for c in text], bos=0)
    >>> tokenizer([Segment("<s>", False), Segment("a<s>", True), Segment("</s>", False)])
    (0, 97, 60, 115, 62, 1)
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        tokenize: Callable[[str], Sequence[int]],
        bos: int | None = None,
    ) -> None:
        self._control: Mapping[str, int] = vocabulary.control
        self._user_defined = vocabulary.user_defined
        self._bos = bos
        # The longest first, as llama.cpp does: "<|end|>" must not be found in "<|end|>x|>".
        names = sorted(filter(None, self._control), key=len, reverse=True)
        self._pattern = re.compile(f"({'|'.join(map(re.escape, names))})") if names else None
        self._tokenize = lru_cache(maxsize=1 << 16)(lambda text: tuple(tokenize(text)))

    def __call__(self, segments: Sequence[Segment]) -> tuple[int, ...]:
        """The token ids of a prompt."""
        ids: list[int] = []
        text = ""
        for segment in segments:
            parts = [segment.text]
            if not segment.is_content and self._pattern is not None:
                parts = self._pattern.split(segment.text)
            text += parts[0]
            for name, after in zip(parts[1::2], parts[2::2], strict=True):
                ids += self._tokenize(text) if text else ()
                ids.append(self._control[name])
                text = after
        ids += self._tokenize(text) if text else ()
        if self._bos is not None and ids[:1] != [self._bos]:
            ids.insert(0, self._bos)
        return tuple(ids)

    def unsayable(self, segments: Sequence[Segment]) -> str | None:
        """A marker of the template that a content holds, and that cannot be sent as mere text.

        Tokenizers read *user-defined* tokens even in plain text. Where the template uses one as a
        marker, a content that holds it would speak with the template's voice.
        """
        said = "".join(segment.text for segment in segments if segment.is_content)
        markers = (name for name in self._user_defined if name and not name.isspace())
        return next(
            (
                name
                for name in markers
                if name in said
                and any(name in segment.text for segment in segments if not segment.is_content)
            ),
            None,
        )


def check_text(text: str) -> None:
    r"""Refuse a text that no tokenizer can be given.

    Examples
    --------
    >>> check_text("\ud800")
    Traceback (most recent call last):
    ValueError: the prompt holds a lone surrogate, U+D800
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        code = ord(text[error.start])
        raise ValueError(f"the prompt holds a lone surrogate, U+{code:04X}") from None


def _byte_level(text: str) -> bytes:
    """Bytes of a token in byte-level BPE spelling, where each byte is a printable character."""
    table = _byte_level_table()
    return b"".join(table.get(c) or c.encode("utf-8", "surrogateescape") for c in text)


def _plain_spelling(text: str) -> bytes:
    return text.replace("\u2581", " ").encode("utf-8", "surrogateescape")


@lru_cache(maxsize=1)
def _byte_level_table() -> dict[str, bytes]:
    """Character -> byte: printable Latin-1 stands for itself, the others follow from U+0100 on."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    table = {chr(b): bytes([b]) for b in printable}
    others = [b for b in range(0x100) if b not in printable]
    return table | {chr(0x100 + i): bytes([b]) for i, b in enumerate(others)}
