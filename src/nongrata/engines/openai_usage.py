"""What a server's answers said of themselves: tokens used, and who answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from nongrata.terminal import shorten


@dataclass
class Usage:
    """Tokens a server says it has used; every answer counts, also one that had to be asked again.

    Parameters
    ----------
    answers
        Answers received.
    prompt_tokens
        Tokens of all prompts, cached ones included.
    cached_tokens
        Those of them that the server had computed before.
    completion_tokens
        Tokens generated.
    unknown
        Answers that did not say what they used.
    """

    answers: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    unknown: int = 0

    def add(self, answer: Mapping[str, Any]) -> None:
        """Count one answer."""
        self.answers += 1
        prompt, cached, completion = tokens_of(answer)
        self.unknown += not prompt
        self.prompt_tokens += prompt
        self.cached_tokens += cached
        self.completion_tokens += completion

    def as_dict(self) -> dict[str, int]:
        """Plain values, for JSON."""
        return asdict(self)


def tokens_of(answer: Mapping[str, Any]) -> tuple[int, int, int]:
    """Prompt, cached and generated tokens of an answer; 0 where it does not say.

    Examples
    --------
    >>> tokens_of({"usage": {"prompt_tokens": 7, "completion_tokens": 2}})
    (7, 0, 2)
    """
    usage = answer.get("usage")
    if not isinstance(usage, Mapping):
        return 0, 0, 0
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else None
    prompt = _count(usage.get("prompt_tokens"))
    return prompt, min(_count(cached), prompt), _count(usage.get("completion_tokens"))


def _count(value: Any) -> int:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value < 2**31 else 0


@dataclass
class Observed:
    """What was seen of a server while it answered."""

    usage: Usage = field(default_factory=Usage)
    models: Counter[str] = field(default_factory=Counter)
    fingerprints: Counter[str] = field(default_factory=Counter)
    troubles: Counter[str] = field(default_factory=Counter)
    last_model: str | None = None

    def add(self, answer: Mapping[str, Any]) -> str | None:
        """Count an answer; return a sentence if it came from another model than those before."""
        self.usage.add(answer)
        fingerprint = answer.get("system_fingerprint")
        if isinstance(fingerprint, str):
            self.fingerprints[shorten(fingerprint, 80)] += 1
        model = answer.get("model")
        if not isinstance(model, str):
            return None
        before, self.last_model = self.last_model, shorten(model, 200)
        self.models[self.last_model] += 1
        if before is None or before == self.last_model:
            return None
        return f"the server now answers as {self.last_model!r}, before as {before!r}"

    def report(self) -> dict[str, Any]:
        """Plain values, for the manifest."""
        return {
            "usage": self.usage.as_dict(),
            "answered_as": dict(self.models),
            "system_fingerprints": dict(self.fingerprints),
            "troubles": dict(self.troubles),
        }
