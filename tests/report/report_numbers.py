"""Walk a report and the JSON form of its results, and say where they differ."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from html.parser import HTMLParser
from typing import Any

from nongrata.report.document.blocks import Chart, Document
from nongrata.report.page.script_data import unpacked

SILENT = {"script", "style", "head", "noscript", "option"}
VOID = {"meta", "link", "br", "hr", "img", "input", "wbr", "col", "source"}
TOKEN = re.compile(r"(?<![\w.])[+−-]?\d+(?:[,\u202f]\d{3})*(?:\.\d+)?%?|(?<![\w.])\.\d+")
CONSTANTS = {"95%", "90%", "5%", ".05", ".375", ".062"}
"""What intervals, verdicts and tests mean, whatever the study: numbers that sentences may hold."""
CITED = re.compile(r"(?<=[a-z] )\(?(?:19|20)\d\d\)?|\b\d{4}\.\d{5}\b")
"""Years after a name, and numbers of preprints."""
COMMAND = re.compile(r"nongrata analyze RUN --json --.*")


def at(results: Any, pointer: str) -> Any:
    """What stands at a JSON pointer; ``#`` as its last part is the length of the list there."""
    found = results
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(found, list):
            found = len(found) if key == "#" else found[int(key)]
        else:
            found = found[key]
    return found


class Page(HTMLParser):
    """Numbers of a page, and texts outside of them.

    ``numbers`` holds the value, path and text of every ``data`` element; ``texts`` every other
    text that a reader sees; ``embedded`` what the page's script reads.
    """

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.numbers: list[tuple[str, str, str]] = []
        self.texts: list[str] = []
        self.embedded: Any = None
        self._stack: list[str] = []
        self._data: list[str] | None = None
        self._json: list[str] | None = None
        self._block = ""
        self._patterns: list[list[str]] = []
        self._row, self._column, self._place = "", -1, 0
        self.feed(html)
        self.close()
        self._flush()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "data":
            self._data = [given["value"], self._path(given), ""]
            self._block += "\x00"
        elif tag not in {"span", "bdi", "strong", "em", "sup", "b", "i", "code", "abbr"}:
            self._flush()
        if tag == "table":
            self._patterns = []
        elif tag == "tr":
            self._row, self._column = given.get("data-at", ""), -1
        elif tag in {"td", "th"}:
            self._column, self._place = self._column + 1, 0
            if "thead" in self._stack:
                self._patterns.append(given.get("data-paths", "").split())
        if tag == "script" and given.get("type") == "application/json":
            self._json = []
        if tag not in VOID:
            self._stack.append(tag)

    def _path(self, given: dict[str, str]) -> str:
        """Where a number stands: as it says itself, or as its column and row say."""
        self._place += 1
        if "data-path" in given:
            return given["data-path"]
        places = given.get("data-at", self._row).split(".")
        return filled(self._patterns[self._column][self._place - 1], map(int, filter(None, places)))

    def handle_endtag(self, tag: str) -> None:
        if tag == "data" and self._data is not None:
            self.numbers.append((self._data[0], self._data[1], self._data[2]))
            self._data = None
        if tag == "script" and self._json is not None:
            self.embedded = json.loads("".join(self._json))
            self._json = None
        while self._stack and self._stack.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self._json is not None:
            self._json.append(data)
        elif self._data is not None:
            self._data[2] += data
        elif not SILENT & set(self._stack):
            self._block += data

    def _flush(self) -> None:
        if self._block.strip("\x00 \n"):
            self.texts.append(self._block)
        self._block = ""


def page_faults(html: str, results: Any, told: Told | None = None) -> Iterator[str]:
    """Numbers of a page that are not those of the results, or not shown as them."""
    page = Page(html)
    for value, path, shown in page.numbers:
        try:
            there = at(results, path)
        except (KeyError, IndexError, ValueError, TypeError):
            yield f"{path}: is not in the results"
            continue
        if isinstance(there, bool) or repr(there) != value:
            yield f"{path}: the page has {value}, the results {there!r}"
        elif not shows(shown, there):
            yield f"{path}: {there!r} is shown as {shown!r}"
    told = told or Told(results)
    for text in page.texts:
        for command in COMMAND.findall(text):
            yield from command_faults(command, results)
        for token in told.others(CITED.sub("", COMMAND.sub("", text))):
            if token not in CONSTANTS:
                yield f"{token!r} stands without a place in: {text!r}"


def command_faults(command: str, results: Any) -> Iterator[str]:
    """Options of the command that prints the results, if they are not those of the results."""
    given = dict(re.findall(r"--([a-z-]+) (\S+)", command))
    wanted = {name: results[name] for name in ("unread", "draws", "splits", "seed")}
    wanted["smallest-effect"] = results["contrasts"]["smallest_effect"]
    wanted["value"] = results["noise"]["value"]
    for name, value in wanted.items():
        if given.get(name, str(value)) != str(value):
            yield f"{command!r} is not how the results were made: {name} is {value!r}"


def shows(shown: str, number: float) -> bool:
    """Whether a text is a number rounded to the digits it has."""
    text = shown.strip().replace("−", "-").replace(",", "").replace("\u202f", "")
    if text.startswith("<"):
        return 0 <= number < float(text[1:])
    if not re.fullmatch(r"[+-]?(\d+(\.\d*)?|\.\d+)", text):
        return False
    digits = len(text.partition(".")[2])
    return math.isclose(float(text), number, rel_tol=1e-9, abs_tol=0.5000001 * 10**-digits)


def chart_faults(document: Document, html: str, results: Any) -> Iterator[str]:
    """Numbers of charts, in the page's script, that are not those of the results."""
    told = Told(results)
    embedded = unpacked(Page(html).embedded["packed"])["data"]
    for chart in document.charts:
        for dataset in chart.data:
            for name, field in dataset.fields.items():
                there = embedded[dataset.name][name]
                values = values_of(there)
                if not field.path:
                    yield from _names_faults(f"{chart.id}.{name}", field.values, told)
                    continue
                for drawn, value, place in zip(values, field.values, field.places, strict=True):
                    pointer = filled(field.path, place)
                    there_now = at(results, pointer)
                    if there_now != value or isinstance(value, bool) or not drawn_as(drawn, value):
                        yield f"{chart.id}.{name}: {pointer} is {there_now!r}, drawn {drawn!r}"
        yield from spec_faults(chart)


def _names_faults(where: str, values: tuple[Any, ...], told: Told) -> Iterator[str]:
    """What only orders or groups is whole numbers, or levels' names."""
    for value in values:
        if isinstance(value, float) and not value.is_integer() and told.others(repr(value)):
            yield f"{where}: {value!r} has no place in the results"


def spec_faults(chart: Chart) -> Iterator[str]:
    """Measured numbers that a specification holds itself."""
    todo: list[Any] = [chart.spec]
    while todo:
        each = todo.pop()
        if isinstance(each, Mapping):
            if isinstance(each.get("datum"), float) and not each["datum"].is_integer():
                yield f"{chart.id}: draws {each['datum']!r}, which has no place in the results"
            if "values" in each and "url" not in each and isinstance(each["values"], list):
                rows = [row for row in each["values"] if isinstance(row, Mapping)]
                if any(rows):
                    yield f"{chart.id}: has data of its own: {rows[0]!r}"
            todo += each.values()
        elif isinstance(each, (list, tuple)):
            todo += each


def drawn_as(drawn: Any, value: float | None) -> bool:
    """Whether a number is another one to the seven digits that charts are drawn with."""
    if drawn is None or value is None:
        return drawn is value
    return math.isclose(drawn, value, rel_tol=1e-6)


def filled(path: str, place: Iterable[int]) -> str:
    """A path whose stars are numbers."""
    numbers = iter(place)
    return "/".join(str(next(numbers)) if part == "*" else part for part in path.split("/"))


def values_of(column: Mapping[str, Any]) -> list[Any]:
    """A column of the page's script."""
    if "names" in column:
        return [column["names"][place] for place in column["at"]]
    return list(column["values"])


def strings_of(value: Any) -> Iterator[str]:
    """All texts of a JSON document, keys among them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield str(key)
            yield from strings_of(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from strings_of(each)


class Told:
    """Numbers that names and sentences of the results hold.

    Parameters
    ----------
    results
        The results.
    """

    def __init__(self, results: Any) -> None:
        texts = list(strings_of(results))
        self._all = "\n".join(texts)
        self._numbers = {token for text in texts for token in TOKEN.findall(text)}

    def others(self, text: str) -> list[str]:
        """Numbers of a text that the results do not hold as text; a date there is one word."""
        text = re.sub(r"(\d)\s%", r"\1%", text)
        words = (word.rstrip(".,;:)]}'\"").lstrip("([{'\"") for word in text.split())
        unknown = (word for word in words if len(word) < 8 or word not in self._all)
        return [t for word in unknown for t in TOKEN.findall(word) if t not in self._numbers]
