"""Persona-conditioned multiple-choice evaluations, and what in them is stable."""

from nongrata._version import __version__

__all__ = ["__version__"]
