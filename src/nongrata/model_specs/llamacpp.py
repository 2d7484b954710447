"""A GGUF model answered by llama.cpp."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from nongrata.model_specs.base import FilesSpec, HubFile


class LlamaCppSpec(FilesSpec):
    """A GGUF model answered by llama.cpp, in this process."""

    how_served: ClassVar[frozenset[str]] = frozenset({"path", "workers", "context"})

    engine: Literal["llamacpp"]
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
    n_probs: int = Field(
        default=1000, ge=10, description="How many most probable tokens are read per pass."
    )
