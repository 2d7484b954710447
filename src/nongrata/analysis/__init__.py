"""Labelled analyses: a Dataset of responses in, a frozen result out."""

from nongrata.analysis.accuracy import AccuracyTable, accuracy_table
from nongrata.analysis.analyze import Analysis, Notice, analyze
from nongrata.analysis.chance import ChanceCheck, chance_check
from nongrata.analysis.extremes import BestAndWorst, best_and_worst
from nongrata.analysis.instability import Instability, instability
from nongrata.analysis.outcomes import OutcomeRates, outcome_rates
from nongrata.analysis.rerun import Rerun, rerun

__all__ = [
    "AccuracyTable",
    "Analysis",
    "BestAndWorst",
    "ChanceCheck",
    "Instability",
    "Notice",
    "OutcomeRates",
    "Rerun",
    "accuracy_table",
    "analyze",
    "best_and_worst",
    "chance_check",
    "instability",
    "outcome_rates",
    "rerun",
]
