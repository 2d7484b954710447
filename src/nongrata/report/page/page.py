"""A document -> one HTML file that needs nothing else: no network, no other file."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup

from nongrata.report.charts.theme import config
from nongrata.report.document.blocks import Chart, Document
from nongrata.report.document.plain import plain
from nongrata.report.languages.language import Language
from nongrata.report.page.markup import PieceMarkup

_HIDDEN = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def render_page(document: Document, language: Language) -> str:
    """The whole page.

    Parameters
    ----------
    document
        What it says.
    language
        In which language.
    """
    assets = files("nongrata.report.page") / "assets"
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: (assets / name).read_text(encoding="utf-8")),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    data = {d.name: d for chart in document.charts for d in chart.data}
    charts = {chart.id: _spec(chart, language) for chart in document.charts}
    return environment.get_template("page.html.j2").render(
        document=document,
        language=language,
        piece=PieceMarkup(language),
        plain=lambda piece: plain(piece, language),
        kind=lambda block: type(block).__name__.lower(),
        style=Markup((assets / "report.css").read_text(encoding="utf-8")),  # noqa: S704
        script=Markup((assets / "report.js").read_text(encoding="utf-8")),  # noqa: S704
        vega=Markup(_vega()),  # noqa: S704
        charts=Markup(  # noqa: S704
            script_json(
                {
                    "charts": charts,
                    "data": {name: _columns(d.fields) for name, d in data.items()},
                    "themes": {"light": config("light"), "dark": config("dark")},
                }
            )
        ),
    )


def script_json(value: Any) -> str:
    r"""JSON that can stand in a script element: nothing in it can end the element.

    Examples
    --------
    >>> script_json("</script>")
    '"\\u003c/script\\u003e"'
    """
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character, escaped in _HIDDEN.items():
        text = text.replace(character, escaped)
    return text


def _spec(chart: Chart, language: Language) -> dict[str, Any]:
    return {"spec": dict(chart.spec), "title": plain(chart.title, language)}


def _columns(fields: Any) -> dict[str, Any]:
    return {
        name: {"values": field.values}
        | ({"path": field.path, "places": field.places} if field.path else {})
        for name, field in fields.items()
    }


def _vega() -> str:
    """Vega, Vega-Lite and vega-embed as one script, which defines ``vegaEmbed``."""
    import vl_convert

    bundle = vl_convert.javascript_bundle()  # type: ignore[call-arg] # its stub asks for a snippet
    return bundle.replace("</script", "<\\/script")
