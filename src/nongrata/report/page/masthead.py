"""What stands above a report: what was asked, and what a reader must know first."""

from __future__ import annotations

from dataclasses import dataclass

from nongrata.report.document.blocks import Document
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Name, Number, Text
from nongrata.report.document.said import text_of

LOUD = {"simulated", "limited"}
"""Notices that say that the answers are no result."""


@dataclass(frozen=True, slots=True)
class Masthead:
    """The head of the page.

    Parameters
    ----------
    subtitle
        Size of the study.
    banner
        Notices that say that the answers are no result.
    notices
        Other notices.
    """

    subtitle: Text | None
    banner: tuple[Text, ...]
    notices: tuple[Text, ...]


def masthead(document: Document) -> Masthead:
    """The head of a document's page.

    Parameters
    ----------
    document
        The document.
    """
    top = Cursor(document.results)
    notices = list(top["notices"])
    return Masthead(
        subtitle=_subtitle(top) if top["models"] else None,
        banner=tuple(_text(n) for n in notices if n["about"].text in LOUD),
        notices=tuple(_text(n) for n in notices if n["about"].text not in LOUD),
    )


def _subtitle(top: Cursor) -> Text:
    models = top["models"]
    sizes = {
        "labels": Number.count(top["findings"]["models"][0]["labels"]),
        "configurations": Number.count(top["configurations"]),
        "questions": Number.count(top["questions"]),
    }
    parts = {
        name: Text.of(f"{{n}} {name[:-1]}" if n.value == 1 else f"{{n}} {name}", n=n)
        for name, n in sizes.items()
    }
    if len(models) == 1:
        return Text.of(
            "{model}: {labels} × {configurations} × {questions}",
            model=Name(models[0].text),
            **parts,
        )
    return Text.of(
        "{models} models: {labels} × {configurations} × {questions}",
        models=Number.count(models),
        **parts,
    )


def _text(notice: Cursor) -> Text:
    return text_of(notice["text"].value)
