"""Personas from files: the published selection, and users' own as YAML or CSV."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from nongrata.errors import NongrataError
from nongrata.personas import NO_PERSONA_HINT, Persona
from nongrata.yaml_files import (
    Document,
    Key,
    did_you_mean,
    explain,
    parse_yaml,
    read_text,
    read_yaml,
)

_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False, "": False}
_KEYS = tuple(Persona.model_fields)


def published_personas() -> tuple[Persona, ...]:
    """Return the 39 attributed labels and then the two controls.

    Their sources and the choice are told in ``docs/personas.md``.

    Examples
    --------
    >>> personas = published_personas()
    >>> len(personas), [p.id for p in personas if p.control]
    (41, ['a-human', 'no-persona'])
    """
    text = files("nongrata.presets").joinpath("personas.yaml").read_text(encoding="utf-8")
    found = _validated(_yaml_entries(parse_yaml(text, "presets/personas.yaml")))
    return tuple(sorted(found, key=lambda persona: persona.control))


def load_personas(path: Path) -> tuple[Persona, ...]:
    r"""Read personas from a YAML or CSV file; texts are kept byte for byte.

    YAML holds a list, or a mapping with the key ``personas``, of mappings with the fields of
    `Persona` or of plain texts. CSV has a header with those fields. Where there is no id it is
    derived from the text; where there is nothing but an id, the published persona is meant.

    Parameters
    ----------
    path
        A file that ends in ``.yaml``, ``.yml`` or ``.csv``.

    Raises
    ------
    NongrataError
        If the file cannot be read, or an entry is wrong: the file, line and field are named.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "own.csv"
    ...     _ = path.write_text("text,group\na chef,occupation\na first-time voter,\n")
    ...     [p.id for p in load_personas(path)]
    ['a-chef', 'a-first-time-voter']
    """
    suffix = path.suffix.lower()
    if suffix == ".csv":
        entries = list(_csv_entries(read_text(path), str(path)))
    elif suffix in {".yaml", ".yml"}:
        entries = list(_yaml_entries(read_yaml(path)))
    else:
        raise NongrataError(
            f"personas cannot be read from a '{suffix}' file",
            where=path,
            fix="give a .yaml or .csv file",
        )
    if not entries:
        raise NongrataError("the file holds no persona", where=path, fix="add at least one")
    return _validated(entries)


def select(personas: Sequence[Persona], ids: Iterable[str]) -> tuple[Persona, ...]:
    """Return the personas with these ids, in the order of the ids.

    Examples
    --------
    >>> [p.text for p in select(published_personas(), ["a-human", "a-farmer"])]
    ['a human', 'a farmer']
    """
    by_id = {persona.id: persona for persona in personas}
    chosen: dict[str, Persona] = {}
    for wanted in ids:
        if wanted not in by_id:
            raise NongrataError(f"there is no persona {wanted!r}", fix=_suggestion(wanted, by_id))
        if wanted in chosen:
            raise NongrataError(f"the persona '{wanted}' is chosen twice", fix="name it once")
        chosen[wanted] = by_id[wanted]
    return tuple(chosen.values())


def _slugify(text: str) -> str:
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", ascii_text).strip("-")[:80].rstrip("-")


def _suggestion(word: str, known: Iterable[str]) -> str:
    known = list(known)
    guess = did_you_mean(word, known)
    if guess:
        return f"did you mean '{guess}'?"
    few = ", ".join(sorted(known)[:12])
    return f"known: {few}" + (", ..." if len(known) > 12 else "")


# An entry is a small document of its own: its fields, and the line of each.


def _yaml_entries(document: Document) -> Iterator[Document]:
    data, start = document.data, tuple[Key, ...]()
    if isinstance(data, Mapping):
        for key in data:
            if key != "personas":
                raise NongrataError(
                    f"unknown key {str(key)!r}",
                    where=document.where([key]),
                    fix="a persona file has the one key 'personas', or is a list",
                )
        data, start = data.get("personas"), ("personas",)
    if not isinstance(data, list):
        raise NongrataError(
            "there is no list of personas",
            where=document.where(start),
            fix="write '- {id: a-chef, text: a chef}', one a line",
        )
    for index, entry in enumerate(data):
        place = (*start, index)
        values = {"text": entry} if isinstance(entry, str) else entry
        if not isinstance(values, dict):
            raise NongrataError(
                "an entry is neither a mapping nor a text",
                where=document.where(place),
                fix="write '{id: a-chef, text: a chef}', or put a text in quotes",
            )
        lines: dict[tuple[Key, ...], int] = {(): document.lines.get(place, 1)}
        lines |= {(key,): document.lines.get((*place, key), lines[()]) for key in values}
        yield Document(document.name, values, lines)


def _csv_entries(text: str, name: str) -> Iterator[Document]:
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] = []
    line = 1
    try:
        for row in rows:
            if header and row:
                yield _csv_entry(header, row, name, line)
            elif row:
                header = [cell.strip() for cell in row]
                _check_header(header, f"{name}:{line}")
            line = rows.line_num + 1
    except csv.Error as error:
        raise NongrataError(
            f"this is not CSV: {error}", where=f"{name}:{line}", fix="check the quotes"
        ) from None


def _check_header(header: Sequence[str], where: str) -> None:
    for column in header:
        if column not in _KEYS:
            fix = _suggestion(column, _KEYS)
            if ";" in column or "\t" in column:
                fix = "separate the columns with commas"
            raise NongrataError(f"unknown column {column!r}", where=where, fix=fix)
        if header.count(column) > 1:
            raise NongrataError(f"two columns are called '{column}'", where=where, fix="drop one")
    if not {"id", "text"} & set(header):
        raise NongrataError("no column 'text'", where=where, fix="add one, with the labels")


def _csv_entry(header: Sequence[str], row: Sequence[str], name: str, line: int) -> Document:
    if len(row) != len(header):
        raise NongrataError(
            f"the row has {len(row)} cells and the header {len(header)}",
            where=f"{name}:{line}",
            fix="put a text that holds commas in double quotes",
        )
    values: dict[str, Any] = dict(zip(header, row, strict=True))
    lines: dict[tuple[Key, ...], int] = {(): line}
    lines |= {(column,): line for column in header}
    entry = Document(name, values, lines)
    if "control" in values:
        word = values["control"].strip().lower()
        if word not in _TRUTH:
            raise NongrataError(
                f"{values['control']!r} is neither true nor false",
                where=entry.where(["control"]),
                fix="write true or false",
            )
        values["control"] = _TRUTH[word]
    if values.get("text") == "" and values.get("control"):
        values["text"] = None
    for column in ("id", "pair", "published"):
        if values.get(column) == "":
            del values[column]
    return entry


def _validated(entries: Iterable[Document]) -> tuple[Persona, ...]:
    entries = list(entries)
    named = any(_only_names(entry) for entry in entries)
    published = {persona.id: persona for persona in published_personas()} if named else {}
    found = [(_persona(entry, published), entry) for entry in entries]
    _refuse_repeats(found)
    _check_pairs(found)
    return tuple(persona for persona, _ in found)


def _only_names(entry: Document) -> bool:
    return set(entry.data) == {"id"} and isinstance(entry.data["id"], str)


def _persona(entry: Document, published: Mapping[str, Persona]) -> Persona:
    values = entry.data
    if _only_names(entry):
        if values["id"] in published:
            return published[values["id"]]
        raise NongrataError(
            f"{values['id']!r} has no text and is no published persona",
            where=entry.where(["id"]),
            fix=f"add a text, or name a published one ({_suggestion(values['id'], published)})",
        )
    text = values.get("text")
    if isinstance(text, str) and not text.strip():
        raise NongrataError("the text is empty", where=entry.where(["text"]), fix=NO_PERSONA_HINT)
    if isinstance(text, str) and "id" not in values:
        if not (derived := _slugify(text)):
            raise NongrataError(
                f"no id can be derived from the text {text!r}",
                where=entry.where(["text"]),
                fix="write an id of lower-case letters, digits and '-'",
            )
        values = {**values, "id": derived}
    for key, value in values.items():
        if key in _KEYS and key != "control" and isinstance(value, int | float):
            raise NongrataError(
                f"{value!r} is not a text", where=entry.where([key]), fix="put it in quotes"
            )
    try:
        return Persona.model_validate(values)
    except ValidationError as error:
        raise explain(error, entry) from None


def _refuse_repeats(found: Sequence[tuple[Persona, Document]]) -> None:
    ids: dict[str, str] = {}
    texts: dict[str | None, str] = {}
    for persona, entry in found:
        if persona.id in ids:
            raise NongrataError(
                f"the id '{persona.id}' is given twice (first at {ids[persona.id]})",
                where=entry.where(["id"]),
                fix="give each persona an id of its own",
            )
        if persona.text in texts:
            raise NongrataError(
                f"the text {persona.text!r} is given twice (first at {texts[persona.text]}); "
                "its prompts would be the same",
                where=entry.where(["text"]),
                fix="keep one of the two",
            )
        ids[persona.id] = texts[persona.text] = entry.where([])


def _check_pairs(found: Sequence[tuple[Persona, Document]]) -> None:
    by_id = {persona.id: persona for persona, _ in found}
    for persona, entry in found:
        if persona.pair is None or _only_names(entry):
            continue
        where = entry.where(["pair"])
        if persona.pair not in by_id:
            raise NongrataError(
                f"the opposite {persona.pair!r} of '{persona.id}' is no persona of this file",
                where=where,
                fix=_suggestion(persona.pair, by_id),
            )
        if by_id[persona.pair].pair != persona.id:
            raise NongrataError(
                f"'{persona.id}' names '{persona.pair}' as its opposite, but not the reverse",
                where=where,
                fix=f"write 'pair: {persona.id}' with '{persona.pair}' too",
            )
