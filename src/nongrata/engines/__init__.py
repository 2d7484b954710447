"""Who answers: one module per engine, behind one protocol."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from nongrata.engines.base import Batch, Capabilities, Engine, Generations, Scores
from nongrata.model_specs import LlamaCppSpec, ModelSpec, SimulatedSpec
from nongrata.plan import Plan

__all__ = ["Batch", "Capabilities", "Engine", "Generations", "Scores", "open_engine"]


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
    assert isinstance(spec, LlamaCppSpec)
    from nongrata.engines.llamacpp import LlamaCppEngine

    return LlamaCppEngine.open(spec, base, notify=notify)
