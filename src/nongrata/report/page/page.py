"""A document -> one HTML file that needs nothing else: no network, no other file."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import jinja2
from markupsafe import Markup

from nongrata.report.document.blocks import Block, Document
from nongrata.report.document.plain import plain
from nongrata.report.languages.language import LANGUAGES, Language
from nongrata.report.page.markup import PieceMarkup
from nongrata.report.page.masthead import masthead
from nongrata.report.page.script_data import script_data, script_json
from nongrata.report.page.table_markup import facet_attributes, helped, table_markup
from nongrata.terminal import visible

SCRIPTS = (
    "page",
    "address",
    "theme",
    "tooltip",
    "charts",
    "saving",
    "filters",
    "sorting",
    "folding",
    "copying",
    "inspector",
    "contents",
    "printing",
    "start",
)
"""Parts of the page's script, in the order in which they build on each other."""


def render_page(document: Document, language: Language) -> str:
    """The whole page.

    Parameters
    ----------
    document
        What it says.
    language
        In which language.
    """
    piece = PieceMarkup(language)
    return _environment().get_template("page.html.j2").render(
        document=document,
        head=masthead(document),
        language=language,
        languages=LANGUAGES,
        piece=piece,
        say=piece,
        plain=lambda each: plain(each, language),
        kind=_kind,
        facets=facet_attributes,
        helped=helped,
        visible=visible,
        tables={table.id for table in document.tables},
        table_markup=lambda table: table_markup(table, piece),
        style=_asset("report.css"),
        vega=_vega(),
        script=_script(),
        data=Markup(script_json(script_data(document, language))),  # noqa: S704 - cannot end it
    )  # fmt: skip


def _kind(block: Block) -> str:
    return type(block).__name__.lower()


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: str(_asset(name))),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _asset(name: str) -> Markup:
    file = files("nongrata.report.page") / "assets" / name
    return Markup(file.read_text(encoding="utf-8"))  # noqa: S704 - our own


@cache
def _script() -> Markup:
    """The script: each part is one constant, named as its file, so that names cannot clash."""
    return Markup("\n").join(_asset(f"js/{name}.js") for name in SCRIPTS)


@cache
def _vega() -> Markup:
    """Vega, Vega-Lite and vega-embed as one script, which defines ``vegaEmbed``."""
    import vl_convert

    bundle = vl_convert.javascript_bundle()  # type: ignore[call-arg] # its stub asks for a snippet
    return Markup(bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--"))  # noqa: S704
