"""What every description of a model has, and where a model's files may be."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

from nongrata.yaml_files import StrictModel

ModelId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", max_length=80)]
LABEL_VARIANTS = ("{label}", " {label}")


class EngineSpec(StrictModel):
    """A model and the engine that answers for it.

    Attributes
    ----------
    how_served
        Fields that say how a model is served, not which model it is: a run may go on with others.
    """

    id: ModelId
    how_served: ClassVar[frozenset[str]] = frozenset()

    def unpinned(self) -> tuple[str, ...] | None:
        """Where in the description a revision is missing; None if all is pinned."""
        return None


class HubRevision(StrictModel):
    """A repository of the Hub at a pinned commit."""

    repo: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    revision: str | None = Field(
        default=None, description="The commit, 40 hexadecimal digits; a run refuses to go without."
    )

    @field_validator("revision")
    @classmethod
    def _is_commit(cls, value: str | None) -> str | None:
        if value is not None and not (
            len(value) == 40 and all(c in "0123456789abcdef" for c in value)
        ):
            raise ValueError("a revision must be a commit of 40 hexadecimal digits, not a branch")
        return value


class HubFile(HubRevision):
    """One file of a Hub repository at a pinned commit."""

    file: str


class FilesSpec(EngineSpec):
    """A model whose files are on this machine, or are fetched to it."""

    builtin: Literal["smollm2-135m-instruct"] | None = Field(
        default=None, description="The demo model, fetched on first use."
    )
    path: str | None = Field(default=None, description="The model's file or folder.")
    hub: HubRevision | None = None
    label_variants: tuple[str, ...] = Field(
        default=LABEL_VARIANTS,
        min_length=1,
        description="Spellings of a label that count as choosing it, for reading: first_token.",
    )

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if sum(place is not None for place in (self.builtin, self.path, self.hub)) != 1:
            raise ValueError("say where the model is: exactly one of builtin, path and hub")
        return self

    def unpinned(self) -> tuple[str, ...] | None:
        """Where a revision is missing."""
        missing = self.hub is not None and self.hub.revision is None
        return ("hub", "revision") if missing else None
