"""What the page's script says; a script asks for a sentence by its English."""

from __future__ import annotations

WORDS = (
    "all",
    "nothing",
    "{hidden} of {all} blocks are hidden by the filter",
    "all {all} blocks are shown",
    "Shown here: {choice}.",
    "model {name}",
    "domain {name}",
    "factor {name}",
    "label {name} is highlighted",
    "Show all {count} rows",
    "Show {count} rows only",
    "copied",
    "could not be copied",
    "{part} in nongrata analyze --json",
    "length of {part}",
    "not defined: {reason}",
    "This chart could not be drawn.",
    "sorted by {column}, ascending",
    "sorted by {column}, descending",
    "original order",
)
"""English sentences with ``{name}`` fields that the script fills in."""
