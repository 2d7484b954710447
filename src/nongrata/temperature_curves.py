"""Exact accuracy over a fine grid of temperatures. (Placeholder by the lead; being written.)"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nongrata.analysis.result import Result


@dataclass(frozen=True, slots=True)
class TemperatureCurves(Result):
    """Accuracy over temperature."""

    reason: str
    kind: Literal["temperature_curves"] = "temperature_curves"


def temperature_curves(
    folder: str | Path,  # noqa: ARG001
    *,
    progress: Callable[[int, int], None] | None = None,  # noqa: ARG001
) -> TemperatureCurves:
    """Accuracy over temperature."""
    return TemperatureCurves("being written")
