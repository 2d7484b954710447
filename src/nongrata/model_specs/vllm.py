"""A model answered by vLLM, in this process."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, JsonValue, field_validator

from nongrata.model_specs.base import FilesSpec
from nongrata.model_specs.transformers import Dtype

_OURS = {
    "model": "path or hub",
    "tokenizer": "path or hub",
    "revision": "hub.revision",
    "tokenizer_revision": "hub.revision",
    "dtype": "dtype",
    "max_model_len": "context",
    "tensor_parallel_size": "tensor_parallel_size",
    "gpu_memory_utilization": "gpu_memory_utilization",
    "max_num_seqs": "max_num_seqs",
    "max_logprobs": "n_logprobs",
}
# With these, prompts, probabilities or texts would not be what the rest of a run takes them for.
_NOT_HERE = (
    "generation_config",
    "override_generation_config",
    "logprobs_mode",
    "skip_tokenizer_init",
    "runner",
    "convert",
    "logits_processors",
    "return_sampling_mask",
    "data_parallel_size",
)


class VllmSpec(FilesSpec):
    """A model in the Hugging Face form, answered by vLLM's offline engine."""

    how_served: ClassVar[frozenset[str]] = frozenset(
        {"path", "context", "gpu_memory_utilization", "max_num_seqs"}
    )

    engine: Literal["vllm"]
    path: str | None = Field(default=None, description="A folder with safetensors weights.")
    dtype: Dtype = Field(default="bfloat16", description="Arithmetic of the model.")
    context: int | None = Field(
        default=None,
        ge=128,
        description="Context in tokens; by default what the model allows, at most 4,096.",
    )
    tensor_parallel_size: int = Field(default=1, ge=1, description="GPUs that share the model.")
    gpu_memory_utilization: float | None = Field(
        default=None, gt=0, le=1, description="Share of a GPU's memory that vLLM may use."
    )
    max_num_seqs: int | None = Field(
        default=None, ge=1, description="Most requests computed at once; by default vLLM's choice."
    )
    options: dict[str, JsonValue] = Field(
        default_factory=dict,
        description="Further arguments of vllm.LLM, passed through as they are, such as "
        "quantization or enforce_eager. Part of the model's identity.",
    )
    n_logprobs: int = Field(
        default=200,
        ge=-1,
        description="How many most probable tokens are read per pass, at least 10; -1: all.",
    )

    @field_validator("n_logprobs")
    @classmethod
    def _enough(cls, value: int) -> int:
        if -1 < value < 10:
            raise ValueError("read at least 10 tokens, or -1 for all")
        return value

    @field_validator("options")
    @classmethod
    def _only_what_is_not_ours(cls, value: dict[str, JsonValue]) -> dict[str, JsonValue]:
        for name in value:
            if name in _OURS:
                raise ValueError(f"'{name}' is not an option here: use {_OURS[name]}")
            if name in _NOT_HERE:
                raise ValueError(f"'{name}' cannot be set: a run would not mean what it says")
        return value
