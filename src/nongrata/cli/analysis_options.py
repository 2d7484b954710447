"""Options of every command that rests on the whole analysis, and the results they ask for."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from nongrata.cli.progress import StepProgress
    from nongrata.study_results import StudyResults


class UnreadAs(StrEnum):
    """How answers that could not be read are taken."""

    WRONG = "wrong"
    RIGHT = "right"
    LEFT_OUT = "left_out"


class ValueOf(StrEnum):
    """What instability is computed from."""

    DRAWS = "draws"
    THETA = "theta"


UnreadOption = Annotated[
    UnreadAs, typer.Option("--unread", help="Take answers that could not be read as this.")
]
ValueOption = Annotated[
    ValueOf,
    typer.Option("--value", help="Instability of the answers drawn, or of exact probabilities."),
]
SmallestEffectOption = Annotated[
    float,
    typer.Option(
        "--smallest-effect",
        metavar="POINTS",
        help="The smallest difference of accuracy that matters.",
    ),
]
DrawsOption = Annotated[
    int, typer.Option("--draws", min=100, metavar="N", help="How many resamples of the questions.")
]
SplitsOption = Annotated[
    int,
    typer.Option("--splits", min=2, metavar="N", help="How many random halves of the questions."),
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Seed of all random numbers.")]
LanguageOption = Annotated[str, typer.Option("--lang", metavar="CODE", help="Language: en or es.")]


def results_of(
    run: Path,
    progress: StepProgress,
    *,
    unread: UnreadAs = UnreadAs.WRONG,
    value: ValueOf = ValueOf.DRAWS,
    smallest_effect: float = 1.0,
    draws: int = 2000,
    splits: int = 100,
    seed: int = 0,
) -> StudyResults:
    """Everything that is computed about a folder of answers, as the options want it.

    Parameters
    ----------
    run
        A run directory or an imported table.
    progress
        Where it is shown how far it is.
    unread, value, smallest_effect, draws, splits, seed
        The options.
    """
    from nongrata.analysis.model_data import Resampling
    from nongrata.study_results import study_results

    return study_results(
        run,
        value=value.value,
        unread=unread.value,
        smallest_effect=smallest_effect,
        resampling=Resampling(draws, splits, seed),
        progress=progress.step,
    )
