"""A model answered by the transformers library, in this process."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from nongrata.model_specs.base import FilesSpec

Dtype = Literal["float32", "bfloat16", "float16"]


class TransformersSpec(FilesSpec):
    """A model in the Hugging Face form, answered by PyTorch in this process."""

    how_served: ClassVar[frozenset[str]] = frozenset({"path", "context", "batch_tokens"})

    engine: Literal["transformers"]
    path: str | None = Field(
        default=None, description="A folder with config.json, tokenizer.json and safetensors."
    )
    dtype: Dtype = Field(
        default="float32",
        description="Arithmetic of the model: float32 is exact to about 2e-6 whatever the batch; "
        "bfloat16 and float16 are faster and move with it.",
    )
    device: str = Field(
        default="auto",
        pattern=r"^(auto|cpu|cuda|cuda:[0-9]+)$",
        description="auto: a GPU if there is one; cpu, cuda or cuda:N.",
    )
    context: int | None = Field(
        default=None, ge=128, description="Context in tokens; by default what the model allows."
    )
    batch_tokens: int | None = Field(
        default=None, ge=64, description="Tokens computed at once; by default sized to memory."
    )
