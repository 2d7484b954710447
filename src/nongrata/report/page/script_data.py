"""What the page's script reads: charts and their data, once each, as compact JSON."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

from nongrata.report.charts.theme import config
from nongrata.report.charts.translated import translated, written
from nongrata.report.document.blocks import Chart, Dataset, Document
from nongrata.report.document.plain import plain
from nongrata.report.languages.language import Language
from nongrata.report.page.words import WORDS
from nongrata.terminal import visible

_ESCAPED = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def script_data(document: Document, language: Language) -> dict[str, Any]:
    """Themes, filters and words of a document, and its charts and their data, packed.

    Parameters
    ----------
    document
        The document.
    language
        In which language.
    """
    data = {dataset.name: dataset for chart in document.charts for dataset in chart.data}
    return {
        "language": language.code,
        "words": {english: language.sentence(english) for english in WORDS},
        "locale": {
            "decimal": ".",
            "thousands": language.thousands,
            "grouping": [3],
            "currency": ["", ""],
        },
        "facets": {
            facet: [visible(value, one_line=True) for value in values]
            for facet, values in document.facets.items()
        },
        "themes": {"light": config("light"), "dark": config("dark")},
        "packed": packed(
            {
                "charts": {chart.id: _chart(chart, language) for chart in document.charts},
                "data": {name: _columns(dataset, language) for name, dataset in data.items()},
            }
        ),
    }


def script_json(value: Any) -> str:
    r"""JSON that can stand in a script element: nothing in it can end the element.

    Parameters
    ----------
    value
        Anything JSON can hold; no number in it may be infinite or not a number.

    Examples
    --------
    >>> script_json("</script>")
    '"\\u003c/script\\u003e"'
    """
    # ASCII: line separators and lone surrogates come out as escapes too
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character, escaped in _ESCAPED.items():
        text = text.replace(character, escaped)
    return text


def packed(value: Any) -> str:
    """JSON, compressed: the data of five models' charts are several megabytes.

    Parameters
    ----------
    value
        Anything JSON can hold.

    Returns
    -------
    str
        Base64 of gzip, always the same for the same value.

    Examples
    --------
    >>> unpacked(packed({"a": [1.5]}))
    {'a': [1.5]}
    """
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


def unpacked(text: str) -> Any:
    """What `packed` was given.

    Parameters
    ----------
    text
        From `packed`.
    """
    return json.loads(gzip.decompress(base64.b64decode(text)))


def compact(values: list[Any]) -> dict[str, Any]:
    """A column as it is drawn: numbers to seven digits, texts that repeat once with their places.

    Parameters
    ----------
    values
        The column.

    Examples
    --------
    >>> compact(["a", "b", "a", "b", "a"])
    {'names': ['a', 'b'], 'at': [0, 1, 0, 1, 0]}
    >>> compact([1 / 3, None])
    {'values': [0.3333333, None]}
    """
    if all(isinstance(value, str) for value in values):
        places = {name: place for place, name in enumerate(dict.fromkeys(values))}
        if 2 * len(places) < len(values):
            return {"names": list(places), "at": [places[value] for value in values]}
    # what no eye can see on a screen would be half of the file
    return {"values": [float(f"{v:.7g}") if isinstance(v, float) else v for v in values]}


def _chart(chart: Chart, language: Language) -> dict[str, Any]:
    return {
        "spec": translated(chart.spec, language),
        "title": plain(chart.title, language),
        "data": [dataset.name for dataset in chart.data],
    }


def _columns(dataset: Dataset, language: Language) -> dict[str, Any]:
    """Its columns, each with the place of its numbers in the results."""
    return {
        name: compact(written(field, language)) | ({"path": field.path} if field.path else {})
        for name, field in dataset.fields.items()
    }
