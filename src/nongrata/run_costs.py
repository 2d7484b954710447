"""What tokens cost at servers that charge by the token."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nongrata.model_specs import OpenAISpec

_UNIT = 1e6


@dataclass(frozen=True, slots=True)
class Cost:
    """Tokens of one model, and their price.

    Parameters
    ----------
    model
        Id of the model.
    prompt_tokens
        Tokens of all prompts, cached ones included.
    cached_tokens
        Those of them that the server had computed before.
    completion_tokens
        Tokens generated.
    price
        What they cost, in the currency of the study's prices; None where a price is missing.
    """

    model: str
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    price: float | None

    def __str__(self) -> str:
        cached = f" ({self.cached_tokens:,} cached)" if self.cached_tokens else ""
        tokens = (
            f"{self.model}: {self.prompt_tokens:,} prompt tokens{cached} and "
            f"{self.completion_tokens:,} generated ones"
        )
        return tokens if self.price is None else f"{tokens}: {self.price:,.2f}"


def price_of(
    spec: OpenAISpec, prompt_tokens: float, cached_tokens: float, completion_tokens: float
) -> float | None:
    """Price of some tokens; None if the model's description lacks a price.

    Examples
    --------
    >>> spec = OpenAISpec(id="m", engine="openai", model="m", price_in=2, price_out=10)
    >>> price_of(spec, 1_000_000, 0, 100_000)
    3.0
    """
    if spec.price_in is None or spec.price_out is None:
        return None
    cached_price = spec.price_in if spec.price_cached is None else spec.price_cached
    fresh = prompt_tokens - cached_tokens
    total = (
        fresh * spec.price_in + cached_tokens * cached_price + completion_tokens * spec.price_out
    )
    return total / _UNIT


def cost_so_far(spec: OpenAISpec, usages: Iterable[Mapping[str, int]]) -> Cost:
    """What a model has used in all sessions of a run.

    Parameters
    ----------
    spec
        The model's description, with its prices.
    usages
        The engine's usage (`Usage.as_dict`) of each session.

    Examples
    --------
    >>> spec = OpenAISpec(id="m", engine="openai", model="m", price_in=2, price_out=10)
    >>> used = {"prompt_tokens": 900, "cached_tokens": 100, "completion_tokens": 20}
    >>> print(cost_so_far(spec, [used, used]))
    m: 1,800 prompt tokens (200 cached) and 40 generated ones: 0.00
    """
    prompt = cached = completion = 0
    for usage in usages:
        prompt += usage.get("prompt_tokens", 0)
        cached += usage.get("cached_tokens", 0)
        completion += usage.get("completion_tokens", 0)
    price = price_of(spec, prompt, cached, completion)
    return Cost(spec.id, prompt, cached, completion, price)
