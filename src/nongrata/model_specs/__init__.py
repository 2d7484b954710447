"""Which model a study asks, and through which engine: what the author may write about it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from nongrata.model_specs.base import EngineSpec, HubFile, HubRevision, ModelId
from nongrata.model_specs.llamacpp import LlamaCppSpec
from nongrata.model_specs.openai import OpenAISpec
from nongrata.model_specs.simulated import SimulatedSpec
from nongrata.model_specs.transformers import TransformersSpec
from nongrata.model_specs.vllm import VllmSpec

__all__ = [
    "EngineSpec",
    "HubFile",
    "HubRevision",
    "LlamaCppSpec",
    "ModelId",
    "ModelSpec",
    "OpenAISpec",
    "SimulatedSpec",
    "TransformersSpec",
    "VllmSpec",
]

ModelSpec = Annotated[
    LlamaCppSpec | TransformersSpec | VllmSpec | OpenAISpec | SimulatedSpec,
    Field(discriminator="engine"),
]
"""Any engine's description of a model."""
