"""How fast a model answers, by reading: measured by a calibration, or assumed in a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, PositiveFloat

from nongrata.errors import NongrataError
from nongrata.factors import Reading
from nongrata.model_specs import ModelId
from nongrata.yaml_files import StrictModel, read_yaml, validate


class ReadingSpeed(StrictModel):
    """How fast the requests of one reading are answered.

    Examples
    --------
    >>> tokens = {"prompt_tokens": 100, "cached_tokens": 25}
    >>> speed = ReadingSpeed(passes_per_second=8, halves=(7, 9), **tokens)
    >>> f"{speed.spread:.1%}", speed.cached_share, speed.per_second("prompt_tokens")
    ('12.5%', 0.25, 800.0)
    """

    passes_per_second: float = Field(gt=0)
    halves: tuple[PositiveFloat, PositiveFloat] | None = Field(
        default=None, description="Passes a second in each half of the measurement."
    )
    prompt_tokens: float | None = Field(default=None, ge=0, description="A pass, on average.")
    cached_tokens: float | None = Field(default=None, ge=0, description="A pass, on average.")
    generated_tokens: float | None = Field(default=None, ge=0, description="A pass, on average.")
    passes: int | None = Field(default=None, ge=1, description="How many were measured.")
    seconds: float | None = Field(default=None, gt=0, description="How long they took.")
    errors: int = Field(default=0, ge=0, description="Requests that failed beside them.")

    @property
    def spread(self) -> float | None:
        """Half the difference between the two halves, as a share of their mean."""
        if self.halves is None:
            return None
        first, second = self.halves
        return abs(first - second) / (first + second)

    @property
    def cached_share(self) -> float | None:
        """Share of prompt tokens that had been computed before."""
        if not self.prompt_tokens or self.cached_tokens is None:
            return None
        return self.cached_tokens / self.prompt_tokens

    def per_second(
        self, what: Literal["prompt_tokens", "cached_tokens", "generated_tokens"]
    ) -> float | None:
        """Tokens a second."""
        tokens: float | None = getattr(self, what)
        return None if tokens is None else tokens * self.passes_per_second

    def as_dict(self) -> dict[str, Any]:
        """Plain values with the derived ones, for display."""
        return {
            **self.model_dump(mode="json"),
            "spread": self.spread,
            "cached_share": self.cached_share,
            "prompt_tokens_per_second": self.per_second("prompt_tokens"),
            "generated_tokens_per_second": self.per_second("generated_tokens"),
        }


class ModelSpeed(StrictModel):
    """How fast one model answers."""

    engine: str = ""
    identity: str = Field(default="", description="Hash of all that can change its answers.")
    seconds_to_open: float | None = Field(default=None, ge=0)
    readings: dict[Reading, ReadingSpeed] = Field(min_length=1)

    def as_dict(self) -> dict[str, Any]:
        """Plain values with the derived ones, for display."""
        readings = {reading: speed.as_dict() for reading, speed in self.readings.items()}
        return {**self.model_dump(mode="json"), "readings": readings}


class Speeds(StrictModel):
    """A file of speeds, by model."""

    kind: Literal["speeds"]
    basis: Literal["measured", "assumed"]
    note: str = ""
    study: str = ""
    nongrata: str = ""
    created: str = ""
    hardware: dict[str, str | int | None] = Field(default_factory=dict)
    models: dict[ModelId, ModelSpeed] = Field(default_factory=dict)
    failed: dict[ModelId, str] = Field(
        default_factory=dict, description="Why a model could not be measured."
    )


def read_speeds(path: Path) -> Speeds:
    """Read a file of speeds: what a calibration wrote, or one written by hand (YAML or JSON)."""
    return validate(Speeds, read_yaml(path))


def write_speeds(path: Path, speeds: Speeds) -> None:
    """Write a file of speeds."""
    text = json.dumps(speeds.model_dump(mode="json", exclude_none=True), indent=2) + "\n"
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise NongrataError(f"cannot be written: {error.strerror}", where=path) from None
