"""What a server's answer holds, and whether it can be what was asked for.

Nothing is read from an answer that contradicts itself: it is asked for again, and in the end the
request is an error with the reason.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nongrata.engines.openai_troubles import MalformedError, WithheldError
from nongrata.terminal import shorten

# llama.cpp's probabilities add up to 1.0001 or so, and one of them may be a hair above 1
_ABOVE_ONE = 1e-3
_MOST_MASS = 1.01
_SAME = 1e-4


@dataclass(frozen=True, slots=True)
class Text:
    """A generated text, and whether the token limit ended it."""

    said: str
    truncated: bool


@dataclass(frozen=True, slots=True)
class TopTokens:
    """The most probable next tokens.

    Parameters
    ----------
    entries
        Bytes and log-probability of each, in falling order.
    beyond
        The token that was drawn, if it is none of these: its probability is known, its rank is not.
    """

    entries: tuple[tuple[bytes, float], ...]
    beyond: tuple[bytes, float] | None = None


def read_text(answer: Mapping[str, Any], most: int, begun: str = "") -> Text:
    """The text of an answer.

    Parameters
    ----------
    answer
        The answer's JSON.
    most
        Tokens it may have.
    begun
        What the answer was begun with, which some servers repeat; it is taken off.

    Examples
    --------
    >>> choice = {"message": {"content": "B."}, "finish_reason": "stop"}
    >>> read_text({"choices": [choice]}, 8)
    Text(said='B.', truncated=False)
    """
    choice = _choice(answer)
    usage = answer.get("usage")
    used = usage.get("completion_tokens") if isinstance(usage, Mapping) else None
    if isinstance(used, int) and used > most:
        raise WithheldError(
            f"the server generated {used} tokens, {most} were allowed (see token_limit)"
        )
    said = _said(choice).removeprefix(begun)
    reason = choice.get("finish_reason")
    if reason in ("stop", "eos", "eos_token", "stop_sequence"):
        return Text(said, truncated=False)
    if reason == "length":
        return Text(said, truncated=True)
    if reason == "content_filter":
        raise WithheldError("content_filter: the server's filter withheld the answer or its end")
    if reason in ("tool_calls", "function_call"):
        raise WithheldError("the model called a tool, and none was offered")
    if reason is None:
        raise MalformedError("the answer does not say why it ended")
    raise MalformedError(f"the answer ended for the reason {shorten(str(reason), 40)!r}")


def read_top(
    answer: Mapping[str, Any], asked: int, vocabulary: int | None = None, begun: str = ""
) -> TopTokens:
    """The most probable next tokens that an answer of one token tells.

    Parameters
    ----------
    answer
        The answer's JSON.
    asked
        How many were asked for.
    vocabulary
        How many tokens the model has, if that is known.
    begun
        What the answer was begun with, which some servers repeat.
    """
    choice = _choice(answer)
    drawn, listed = _first_position(choice)
    _check_drawn(choice, drawn, begun)
    values = [value for _, value in listed]
    if any(not math.isfinite(value) or value > _ABOVE_ONE for value in [*values, drawn[1]]):
        raise MalformedError("the log-probabilities hold one that is none")
    # vLLM puts the drawn token first, whatever its rank
    others = [value for entry, value in zip(listed, values, strict=True) if entry != drawn]
    if not _falls(values) and not _falls(others):
        raise MalformedError("the log-probabilities are not in falling order")
    entries = sorted(listed, key=lambda entry: -entry[1])
    wanted = min(asked, vocabulary or asked)
    beyond = None
    if len(entries) == wanted + 1:
        if entries.count(drawn) > 1:  # listed as drawn, and once more by its rank
            entries.remove(drawn)
        elif entries[-1] == drawn:
            beyond = entries.pop()
    if len(entries) != wanted:
        raise MalformedError(
            f"{len(entries)} log-probabilities came, {wanted} were asked for (see top_logprobs)"
        )
    known = {value for text, value in entries if text == drawn[0]}
    if known and beyond is None and not any(abs(value - drawn[1]) < _SAME for value in known):
        raise MalformedError("the log-probabilities are those of another position")
    if not known and beyond is None:
        if entries and drawn[1] > entries[-1][1] + _SAME:
            raise MalformedError("the log-probabilities are those of another position")
        beyond = drawn
    mass = math.fsum(math.exp(value) for _, value in entries)
    if mass > _MOST_MASS:
        raise MalformedError(f"the probabilities add up to {mass:.3f}")
    return TopTokens(tuple(entries), beyond)


def read_echo(answer: Mapping[str, Any], continuation: str) -> tuple[float, int]:
    """Log-probability and number of tokens of a continuation, from an answer with `echo`.

    Parameters
    ----------
    answer
        The answer's JSON.
    continuation
        The end of the text that was sent.
    """
    choice = _choice(answer)
    try:
        told = choice["logprobs"]
        tokens = [str(token) for token in told["tokens"]]
        values = list(told["token_logprobs"])
        offsets = [int(offset) for offset in told["text_offset"]]
        generated = int(answer["usage"]["completion_tokens"])
    except (KeyError, TypeError, ValueError):
        raise MalformedError("the answer has no log-probabilities of the prompt") from None
    end = len(tokens) - generated
    if not (len(tokens) == len(values) == len(offsets)) or end <= 0:
        raise MalformedError("the log-probabilities of the prompt do not match its tokens")
    # from the end: a server may count the text of a BOS token that was not sent
    stop = offsets[end] if generated else offsets[-1] + len(tokens[-1])
    start = stop - len(continuation)
    if start not in offsets[:end]:
        raise WithheldError(
            "the model's tokenizer joins the prompt's end and the answer's beginning, so the "
            "answer has no likelihood of its own"
        )
    place = offsets.index(start)
    if "".join(tokens[place:end]) != continuation or place == 0:
        raise MalformedError("the log-probabilities of the prompt are those of another text")
    parts = values[place:end]
    if not all(isinstance(v, int | float) and math.isfinite(v) and v <= _ABOVE_ONE for v in parts):
        raise MalformedError("the log-probabilities hold one that is none")
    return math.fsum(parts), len(parts)


def _choice(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = answer.get("choices")
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], Mapping):
        raise MalformedError("the answer does not hold exactly one choice")
    choice: Mapping[str, Any] = choices[0]
    return choice


def _said(choice: Mapping[str, Any]) -> str:
    """The text of a choice; a refusal is what the model said."""
    message = choice.get("message", choice)
    if not isinstance(message, Mapping):
        raise MalformedError("the answer holds no message")
    if message.get("tool_calls") or message.get("function_call"):
        raise WithheldError("the model called a tool, and none was offered")
    content = message.get("content") if "message" in choice else message.get("text")
    if isinstance(content, list):  # in parts, of which thinking is not the answer
        parts = [part for part in content if isinstance(part, Mapping)]
        content = "".join(str(p.get("text", "")) for p in parts if p.get("type") == "text")
    if content is None and "message" in choice:
        content = ""  # said nothing, or nothing but thinking and refusing
    if not isinstance(content, str):
        raise MalformedError("the answer holds no text")
    refusal = message.get("refusal")
    said = content + refusal if isinstance(refusal, str) else content
    return said.encode("utf-8", "replace").decode()  # half a surrogate pair cannot be stored


def _first_position(
    choice: Mapping[str, Any],
) -> tuple[tuple[bytes, float], list[tuple[bytes, float]]]:
    """The token that was drawn and the list of most probable ones, in either API's form."""
    told = choice.get("logprobs")
    if not isinstance(told, Mapping):
        raise MalformedError("the answer has no log-probabilities")
    try:
        if isinstance(told.get("content"), list):
            (place,) = told["content"]
            top = place["top_logprobs"]
            # where tokens have numbers, each is counted once
            numbered = {e["id"]: e for e in top if isinstance(e.get("id"), int)}
            distinct = numbered.values() if len(numbered) > 1 else top
            return _entry(place), [_entry(entry) for entry in distinct]
        (token,), (value,), (top,) = (
            told["tokens"], told["token_logprobs"], told["top_logprobs"]
        )  # fmt: skip
        drawn = (_spelling(token), float(value))
        return drawn, [(_spelling(text), float(number)) for text, number in top.items()]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise MalformedError(
            "the answer does not have the log-probabilities of exactly one token"
        ) from None


def _entry(entry: Mapping[str, Any]) -> tuple[bytes, float]:
    # Different tokens can have one text, where a server does not tell a word's space: both count.
    given = entry.get("bytes")
    text = bytes(given) if isinstance(given, list) and given else _spelling(entry["token"])
    value = entry["logprob"]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    return text, float(value)


def _spelling(token: Any) -> bytes:
    """Bytes of a token's text; the marks with which tokenizers write a space are spaces."""
    if not isinstance(token, str):
        raise TypeError
    if token[:1] in ("\u2581", "\u0120") and len(token) > 1:
        token = f" {token[1:]}"
    return str(token).encode("utf-8", "replace")


def _check_drawn(choice: Mapping[str, Any], drawn: tuple[bytes, float], begun: str) -> None:
    """The text of an answer of one token is that token, if both can be read."""
    try:
        said = _said(choice).removeprefix(begun)
    except WithheldError:
        return
    token = drawn[0].decode("utf-8", "replace")
    if not said or not token or "\ufffd" in said + token:
        return  # control tokens have no text, and some tokens are a part of a character
    said, token = said.strip(), token.strip()  # some servers take spaces off
    if bool(said) != bool(token) or not (said.startswith(token) or token.startswith(said)):
        raise MalformedError("the log-probabilities are those of another position")


def _falls(values: Sequence[float]) -> bool:
    return all(a >= b for a, b in itertools.pairwise(values))
