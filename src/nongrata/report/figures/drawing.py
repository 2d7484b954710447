"""A chart drawn as SVG, and an SVG as PNG and PDF."""

from __future__ import annotations

import re
from typing import Literal
from xml.sax.saxutils import escape, quoteattr

from nongrata.report.charts.library import drawing_library
from nongrata.report.charts.theme import Theme
from nongrata.report.document.blocks import Chart
from nongrata.report.document.plain import plain
from nongrata.report.figures.specification import full_specification
from nongrata.report.languages.language import Language
from nongrata.terminal import visible

FigureFormat = Literal["svg", "png", "pdf"]
FIGURE_FORMATS: tuple[FigureFormat, ...] = ("svg", "png", "pdf")
_SCALE = 3
"""Pixels of a PNG for each of the chart's: 300 to the inch at a width of 7 inches."""


def draw(chart: Chart, language: Language, theme: Theme = "light") -> str:
    """A chart as SVG, with its title and alternative text.

    Parameters
    ----------
    chart
        The chart.
    language
        In which language.
    theme
        Light, for print, or dark.

    Raises
    ------
    MissingExtraError
        If what draws is not installed.
    """
    spec = full_specification(chart, language, theme)
    locale = {
        "decimal": ".",
        "thousands": language.thousands,
        "grouping": [3],
        "currency": ["", ""],
    }
    # no address is allowed: a chart has all its data
    svg: str = drawing_library().vegalite_to_svg(spec, allowed_base_urls=[], format_locale=locale)
    title, words = plain(chart.title, language), plain(chart.description, language)
    return described(visible(svg), chart.id, title, words, language.code)


def described(svg: str, name: str, title: str, description: str, language: str) -> str:
    r"""An SVG that says what it shows.

    Parameters
    ----------
    svg
        The drawing.
    name
        Of the chart, for ids that are unique on a page.
    title, description
        What it says.
    language
        Its code.

    Examples
    --------
    >>> print(described("<svg><g/></svg>", "ia", "IA", "a < b", "en").replace("><", ">\n<"))
    <svg role="img" lang="en" aria-labelledby="ia-title ia-words">
    <title id="ia-title">IA</title>
    <desc id="ia-words">a &lt; b</desc>
    <g/>
    </svg>
    """
    ids = (f"{name}-title", f"{name}-words")
    attributes = f' role="img" lang={quoteattr(language)} aria-labelledby="{ids[0]} {ids[1]}"'
    words = f'<title id="{ids[0]}">{escape(title)}</title>'
    words += f'<desc id="{ids[1]}">{escape(description)}</desc>'
    head = re.match(r"<svg([^>]*)>", svg)
    assert head is not None
    return f"<svg{attributes}{head[1]}>{words}{svg[head.end() :]}"


def converted(svg: str, into: FigureFormat) -> bytes:
    """An SVG in a format.

    Parameters
    ----------
    svg
        The drawing.
    into
        ``"svg"``, ``"png"`` or ``"pdf"``.
    """
    if into == "svg":
        return svg.encode()
    library = drawing_library()
    data: bytes
    data = library.svg_to_png(svg, scale=_SCALE) if into == "png" else library.svg_to_pdf(svg)
    return data
