"""From speeds and passes to hours, tokens and money."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nongrata.model_specs import ModelSpec, OpenAISpec
from nongrata.run_costs import price_of
from nongrata.speeds import ModelSpeed, Speeds


@dataclass(frozen=True, slots=True)
class ModelEstimate:
    """What a study takes of one model, from its speed in each reading.

    Parameters
    ----------
    basis
        ``"measured"`` or ``"assumed"``.
    hours
        Passes of each reading by their speed, added up.
    hours_between
        The same with the faster and with the slower half of each measurement, if known.
    hours_by_reading
        The parts of `hours`.
    prompt_tokens, cached_tokens, generated_tokens
        Measured tokens of a pass times passes; None if unknown for some reading.
    speed
        The speeds themselves, by reading.
    """

    basis: str
    hours: float
    hours_between: tuple[float, float] | None
    hours_by_reading: Mapping[str, float]
    prompt_tokens: int | None
    cached_tokens: int | None
    generated_tokens: int | None
    speed: Mapping[str, Mapping[str, Any]]


def why_not_timed(model: str, asked: Mapping[str, int], speeds: Speeds) -> str | None:
    """Why no time can be told for a model; None if it can.

    Parameters
    ----------
    model
        Its id.
    asked
        Passes by reading.
    speeds
        What is known.

    Examples
    --------
    >>> speeds = Speeds(kind="speeds", basis="assumed")
    >>> why_not_timed("m", {"free": 3}, speeds)
    'its speed is not known'
    """
    if model in speeds.failed:
        return speeds.failed[model]
    if model not in speeds.models:
        return "its speed is not known"
    missing = [reading for reading in asked if reading not in speeds.models[model].readings]
    return f"its speed with reading: {missing[0]} is not known" if missing else None


def estimate(
    asked: Mapping[str, int], speed: ModelSpeed, basis: str, engines: int
) -> ModelEstimate:
    """Time and tokens of one model's passes, all readings together.

    Parameters
    ----------
    asked
        Passes by reading.
    speed
        Of each of those readings, at least.
    basis
        Whether it was measured or is assumed.
    engines
        How many engines work side by side, each at that speed.

    Examples
    --------
    >>> speed = ModelSpeed(readings={"free": {"passes_per_second": 2, "generated_tokens": 50}})
    >>> found = estimate({"free": 14_400}, speed, "assumed", engines=2)
    >>> found.hours, found.generated_tokens, found.prompt_tokens
    (1.0, 720000, None)
    """
    by_name = {str(reading): found for reading, found in speed.readings.items()}
    hours, slow, fast, halved = {}, 0.0, 0.0, True
    tokens: dict[str, float | None] = {"prompt": 0.0, "cached": 0.0, "generated": 0.0}
    for reading, count in asked.items():
        one = by_name[reading]
        hours[reading] = count / (one.passes_per_second * engines) / 3600
        if one.halves is None:
            halved = False
        else:
            slow += count / (min(one.halves) * engines) / 3600
            fast += count / (max(one.halves) * engines) / 3600
        # a single pass and a likelihood generate nothing
        generated = one.generated_tokens if reading == "free" else 0.0
        for name, each in (
            ("prompt", one.prompt_tokens),
            ("cached", one.cached_tokens),
            ("generated", generated),
        ):
            so_far = tokens[name]
            tokens[name] = None if so_far is None or each is None else so_far + each * count

    def whole(name: str) -> int | None:
        value = tokens[name]
        return None if value is None else round(value)

    return ModelEstimate(
        basis=basis,
        hours=sum(hours.values()),
        hours_between=(fast, slow) if halved else None,
        hours_by_reading=hours,
        prompt_tokens=whole("prompt"),
        cached_tokens=whole("cached"),
        generated_tokens=whole("generated"),
        speed={reading: by_name[reading].as_dict() for reading in asked},
    )


def price(
    spec: ModelSpec,
    asked: Mapping[str, int],
    estimated: tuple[float, float],
    found: ModelEstimate | None,
) -> float | None:
    """What the tokens cost at the prices in the model's description, if it names them.

    A server is asked for one token even where only its probabilities are read, and bills it.

    Parameters
    ----------
    spec
        The model.
    asked
        Passes by reading.
    estimated
        Prompt tokens and generated tokens, where nothing was measured.
    found
        What was measured.

    Examples
    --------
    >>> spec = OpenAISpec(id="m", engine="openai", model="m", price_in=1.0, price_out=4.0)
    >>> price(spec, {"first_token": 1_000_000}, (2_000_000.0, 0.0), None)
    6.0
    """
    if not isinstance(spec, OpenAISpec):
        return None
    prompt, generated, cached = *estimated, 0.0
    if found is not None and found.prompt_tokens is not None:
        prompt, cached = float(found.prompt_tokens), float(found.cached_tokens or 0)
    if found is not None and found.generated_tokens is not None:
        generated = float(found.generated_tokens)
    return price_of(spec, prompt, cached, generated + asked.get("first_token", 0))
