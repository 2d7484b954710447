"""Who answers: one module per engine, behind one protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from nongrata.engines.base import Batch, Capabilities, Engine, Generations, Likelihoods, Scores
from nongrata.model_specs import (
    LlamaCppSpec,
    ModelSpec,
    OpenAISpec,
    SimulatedSpec,
    TransformersSpec,
    VllmSpec,
)
from nongrata.plan import Plan
from nongrata.prompts import Messages

__all__ = [
    "Batch",
    "Capabilities",
    "Engine",
    "Generations",
    "Likelihoods",
    "Scores",
    "open_engine",
    "rendered_prompts",
]


def open_engine(
    spec: ModelSpec, plan: Plan, base: Path, notify: Callable[[str], None] | None = None
) -> Engine:
    """Make the engine that a model's description names.

    Parameters
    ----------
    spec
        The description.
    plan
        Whose requests it will answer.
    base
        Folder that relative paths in the description start from.
    notify
        Told what is being done while that takes long: downloads, conversions.
    """
    if isinstance(spec, SimulatedSpec):
        from nongrata.engines.simulated import SimulatedEngine

        return SimulatedEngine(spec, plan)
    if isinstance(spec, TransformersSpec):
        from nongrata.engines.transformers import TransformersEngine

        return TransformersEngine.open(spec, base, notify=notify)
    if isinstance(spec, VllmSpec):
        from nongrata.engines.vllm import VllmEngine

        return VllmEngine.open(spec, base, notify=notify)
    if isinstance(spec, OpenAISpec):
        from nongrata.engines.openai import OpenAIEngine

        return OpenAIEngine.open(spec, base, notify=notify)
    from nongrata.engines.llamacpp import LlamaCppEngine

    return LlamaCppEngine.open(spec, base, notify=notify)


def rendered_prompts(
    spec: ModelSpec, base: Path, messages: Sequence[Messages]
) -> list[list[tuple[str, bool]]] | None:
    """Prompts inside the model's chat template, if the model's file is on this machine.

    Nothing is fetched and no model is loaded.

    Returns
    -------
    list or None
        For each prompt its pieces: the text, and whether it is the template's own (then special
        tokens in it are control tokens) or the study's (then they are text).
    """
    if isinstance(spec, TransformersSpec | VllmSpec):
        from nongrata.engines.hf_template import rendered

        return rendered(spec, base, messages)
    if not isinstance(spec, LlamaCppSpec):
        return None
    from nongrata.engines.gguf_template import chat_template_of
    from nongrata.engines.model_files import model_at_hand

    path = model_at_hand(spec, base)
    if path is None:
        return None
    template = chat_template_of(path)
    return [
        [(segment.text, not segment.is_content) for segment in template.segments(prompt)]
        for prompt in messages
    ]
