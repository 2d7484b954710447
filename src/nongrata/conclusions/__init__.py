"""Conclusions: which of them survive a change of configuration, and which do not."""

from nongrata.conclusions.findings import findings
from nongrata.conclusions.model import Claimed, Conclusion, Findings, ModelFindings, Tally

__all__ = ["Claimed", "Conclusion", "Findings", "ModelFindings", "Tally", "findings"]
