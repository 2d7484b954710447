"""Which model a study asks, and through which engine: what the author may write about it."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from nongrata.yaml_files import StrictModel

ModelId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", max_length=80)]


class HubFile(StrictModel):
    """One file of a Hub repository at a pinned commit."""

    repo: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    revision: str | None = Field(
        default=None, description="The commit, 40 hexadecimal digits; a run refuses to go without."
    )
    file: str

    @field_validator("revision")
    @classmethod
    def _is_commit(cls, value: str | None) -> str | None:
        if value is not None and not (
            len(value) == 40 and all(c in "0123456789abcdef" for c in value)
        ):
            raise ValueError("a revision must be a commit of 40 hexadecimal digits, not a branch")
        return value


class LlamaCppSpec(StrictModel):
    """A GGUF model answered by llama.cpp, in this process."""

    id: ModelId
    engine: Literal["llamacpp"]
    builtin: Literal["smollm2-135m-instruct"] | None = Field(
        default=None, description="The demo model, fetched on first use."
    )
    path: str | None = Field(default=None, description="A GGUF file.")
    hub: HubFile | None = None
    weights: Literal["f32", "as_is"] = Field(
        default="f32",
        description="f32: answers from a full-precision copy of the file, exact to about 3e-6 "
        "whatever the batch; as_is: the file's own precision, faster, less exact.",
    )
    context: int | None = Field(
        default=None,
        ge=128,
        description="Context in tokens; by default what the model allows, at most 4,096.",
    )
    workers: int | None = Field(
        default=None, ge=1, description="Parallel servers; by default one per core."
    )
    label_variants: tuple[str, ...] = Field(
        default=("{label}", " {label}"),
        min_length=1,
        description="Spellings of a label that count as choosing it, for reading: first_token.",
    )
    n_probs: int = Field(
        default=200, ge=10, description="How many most probable tokens are read per pass."
    )

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if sum(place is not None for place in (self.builtin, self.path, self.hub)) != 1:
            raise ValueError("say where the model is: exactly one of builtin, path and hub")
        return self


class SimulatedSpec(StrictModel):
    """Not a model: answers drawn from a truth that is written down here.

    Scores are logits. The right option's score is ``ability`` plus the effects of the persona,
    of the levels and of their interactions, minus the question's difficulty; each wrong option's
    is 0; every option also gets the bias of the position at which it is shown. Effects that are
    not named are drawn, from the seed and the names, with the given standard deviations.
    """

    id: ModelId
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


ModelSpec = Annotated[LlamaCppSpec | SimulatedSpec, Field(discriminator="engine")]
"""Any engine's description of a model."""
