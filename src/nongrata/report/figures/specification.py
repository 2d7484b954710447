"""A chart as one complete Vega-Lite specification: data, theme, language and size filled in."""

from __future__ import annotations

from typing import Any

from nongrata.report.charts.long_names import renamed, short_names
from nongrata.report.charts.theme import Theme, config
from nongrata.report.charts.translated import translated, written
from nongrata.report.document.blocks import Chart
from nongrata.report.languages.language import Language

WIDTH = 700
"""Pixels of a chart that is as wide as what it stands in."""
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
"""Fonts of the same widths, so that a drawing fits wherever it is opened."""
BACKGROUNDS = {"light": "white", "dark": "#14171b"}


def full_specification(chart: Chart, language: Language, theme: Theme = "light") -> dict[str, Any]:
    """A specification that can be drawn as it stands.

    Parameters
    ----------
    chart
        The chart.
    language
        In which language its titles are.
    theme
        Light, for print, or dark.
    """
    columns = {
        dataset.name: {name: written(field, language) for name, field in dataset.fields.items()}
        for dataset in chart.data
    }
    short = short_names(v for each in columns.values() for values in each.values() for v in values)
    datasets = {name: _rows(each) for name, each in renamed(columns, short).items()}
    spec: dict[str, Any] = _sized(renamed(translated(chart.spec, language), short))
    return spec | {
        "datasets": datasets,
        "config": _in_font(config(theme)) | {"background": BACKGROUNDS[theme]},
    }


def _rows(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    rows = zip(*columns.values(), strict=True)
    return [dict(zip(columns, values, strict=True)) for values in rows]


def _in_font(part: dict[str, Any]) -> dict[str, Any]:
    """A configuration in a font whose widths are known."""
    return {
        key: FONT
        if key.lower().endswith("font")
        else _in_font(value)
        if isinstance(value, dict)
        else value
        for key, value in part.items()
    }


def _sized(spec: Any) -> Any:
    """The specification with a width in pixels wherever it asks for its container's."""
    if isinstance(spec, dict):
        return {
            key: WIDTH if key == "width" and value == "container" else _sized(value)
            for key, value in spec.items()
        }
    if isinstance(spec, list):
        return [_sized(each) for each in spec]
    return spec
