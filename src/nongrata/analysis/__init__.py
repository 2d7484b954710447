"""Labelled analyses: a Dataset of responses in, a frozen result out."""

from nongrata.analysis.accuracy import AccuracyTable, accuracy_table
from nongrata.analysis.accuracy_intervals import AccuracyIntervals, accuracy_intervals
from nongrata.analysis.agreement import Agreement, agreement
from nongrata.analysis.analyze import Analysis, analyze
from nongrata.analysis.chance import ChanceCheck, chance_check
from nongrata.analysis.comparisons import Comparisons, comparisons
from nongrata.analysis.components import VarianceComponents, variance_components
from nongrata.analysis.contrasts import Contrasts, contrasts
from nongrata.analysis.extremes import BestAndWorst, best_and_worst
from nongrata.analysis.held_out import HeldOut, held_out
from nongrata.analysis.instability import Instability, instability
from nongrata.analysis.model_data import Resampling
from nongrata.analysis.noise import noise
from nongrata.analysis.noise_rows import Noise
from nongrata.analysis.notices import Notice
from nongrata.analysis.outcomes import OutcomeRates, outcome_rates
from nongrata.analysis.ranking import Ranking, ranking
from nongrata.analysis.rerun import Rerun, rerun
from nongrata.analysis.task_format import TaskFormat, task_format
from nongrata.analysis.unread import UnreadBounds, take_unread, unread_bounds

__all__ = [
    "AccuracyIntervals",
    "AccuracyTable",
    "Agreement",
    "Analysis",
    "BestAndWorst",
    "ChanceCheck",
    "Comparisons",
    "Contrasts",
    "HeldOut",
    "Instability",
    "Noise",
    "Notice",
    "OutcomeRates",
    "Ranking",
    "Rerun",
    "Resampling",
    "TaskFormat",
    "UnreadBounds",
    "VarianceComponents",
    "accuracy_intervals",
    "accuracy_table",
    "agreement",
    "analyze",
    "best_and_worst",
    "chance_check",
    "comparisons",
    "contrasts",
    "held_out",
    "instability",
    "noise",
    "outcome_rates",
    "ranking",
    "rerun",
    "take_unread",
    "task_format",
    "unread_bounds",
    "variance_components",
]
