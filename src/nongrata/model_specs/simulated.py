"""Not a model: answers from a truth that is written down."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from nongrata.model_specs.base import EngineSpec


class SimulatedSpec(EngineSpec):
    """Not a model: answers drawn from a truth that is written down here.

    Scores are logits. The right option's score is ``ability`` plus the effects of the persona,
    of the levels and of their interactions, minus the question's difficulty; each wrong option's
    is 0; every option also gets the bias of the position at which it is shown. Effects that are
    not named are drawn, from the seed and the names, with the given standard deviations.
    """

    how_served: ClassVar[frozenset[str]] = frozenset({"delay", "block"})

    engine: Literal["simulated"]
    seed: int = Field(default=0, ge=0, lt=2**63)
    ability: float = 1.0
    question_sd: float = Field(default=1.0, ge=0)
    persona_sd: float = Field(default=0.0, ge=0)
    persona_effects: dict[str, float] = Field(default_factory=dict)
    factor_sd: dict[str, float] = Field(default_factory=dict)
    factor_effects: dict[str, dict[str, float]] = Field(default_factory=dict)
    persona_factor_sd: dict[str, float] = Field(default_factory=dict)
    question_configuration_sd: float = Field(default=0.0, ge=0)
    position_bias: tuple[float, ...] = ()
    unparsed: float = Field(default=0.0, ge=0, lt=1)
    refused: float = Field(default=0.0, ge=0, lt=1)
    truncated: float = Field(default=0.0, ge=0, lt=1)
    error: float = Field(default=0.0, ge=0, lt=1)
    delay: float = Field(
        default=0.0, ge=0, le=60, description="Seconds that a request pretends to take."
    )
    block: int = Field(
        default=65_536, ge=1, le=65_536, description="Requests per commit, at first."
    )

    @model_validator(mode="after")
    def _rates_add_up(self) -> Self:
        if self.unparsed + self.refused + self.truncated + self.error >= 1:
            raise ValueError("unparsed, refused, truncated and error must add up to less than 1")
        return self
