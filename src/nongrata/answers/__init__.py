"""A text -> a choice and an outcome, and by which rule.

`parse_answer` reads one text, `parse_many` many texts that answer one question. What each rule
reads, and what is deliberately left unparsed, is told with examples in ``docs/parsing.md``.
"""

from nongrata.answers.final_letter import final_letter
from nongrata.answers.outcome import Outcome, Parsed
from nongrata.answers.parser import RULES, parse_answer, parse_many

__all__ = ["RULES", "Outcome", "Parsed", "final_letter", "parse_answer", "parse_many"]
