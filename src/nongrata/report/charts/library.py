"""What charts are made and drawn with, which is an optional part of the installation."""

from __future__ import annotations

from typing import Any

from nongrata.errors import MissingExtraError


def drawing_library(needed_for: str = "drawing charts") -> Any:
    """What draws charts, if it is installed.

    Parameters
    ----------
    needed_for
        What the user asked for.

    Raises
    ------
    MissingExtraError
        If it is not.
    """
    try:
        import altair as alt  # noqa: F401 - charts are written with it
        import vl_convert
    except ImportError:
        raise MissingExtraError("report", needed_for) from None
    return vl_convert
