"""How all charts look: fonts, colours that differ in grey too, light and dark."""

from __future__ import annotations

from typing import Any, Literal

Theme = Literal["light", "dark"]

SEQUENTIAL = "cividis"
"""Colours of a scale without a middle: even in lightness, so that it can be read in grey."""

DIVERGING = "blueorange"
"""Colours of a scale around 0."""

CATEGORIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#767676")
"""Colours of categories (Okabe and Ito 2008); always with a second mark, a shape or a dash."""

MUTED = "#8a8f98"
"""What is in the background: floors, other labels."""

_INK = {"light": "#1b1f24", "dark": "#e6e8eb"}
_LINES = {"light": "#d8dce1", "dark": "#3a4048"}


def config(theme: Theme) -> dict[str, Any]:
    """The Vega-Lite configuration of a theme.

    Parameters
    ----------
    theme
        Light, also for print, or dark.

    Examples
    --------
    >>> config("light")["background"]
    'transparent'
    """
    ink, lines = _INK[theme], _LINES[theme]
    font = "system-ui, 'Segoe UI', Roboto, 'Liberation Sans', 'DejaVu Sans', sans-serif"
    text = {"labelFont": font, "titleFont": font, "labelColor": ink, "titleColor": ink}
    return {
        "background": "transparent",
        "font": font,
        "axis": {
            **text,
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "gridColor": lines,
            "domainColor": lines,
            "tickColor": lines,
            "labelLimit": 220,
        },
        "legend": {**text, "labelFontSize": 12, "titleFontWeight": "normal", "labelLimit": 220},
        "header": {**text, "labelFontSize": 12},
        "title": {"color": ink, "font": font, "fontSize": 14, "anchor": "start"},
        "text": {"color": ink, "font": font},
        "rule": {"color": ink},
        "view": {"stroke": None},
        "range": {"category": list(CATEGORIES)},
    }
