"""What an import says about itself: its names, its counts, and what it can be used for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from nongrata._version import __version__
from nongrata.errors import NongrataError
from nongrata.interop.coded import Names
from nongrata.interop.gathering import EMPTY_NAME, Gathered
from nongrata.interop.imported import ANSWERS, FORM, QUESTIONS, REMARKS
from nongrata.interop.settling import Settled, cells_of, numeric_order
from nongrata.interop.usable import Extent, uses
from nongrata.run_files import file_hash
from nongrata.yaml_files import did_you_mean

NO_DOMAIN, NO_SOURCE = "other", "table"
STRAYS_NAMED = 20


def write_record(
    folder: Path,
    source: dict[str, Any],
    gathered: Gathered,
    settled: Settled,
    *,
    numbered: bool,
) -> dict[str, Any]:
    """Write the questions, and return what the import says about itself.

    Parameters
    ----------
    folder
        Where the answers lie already.
    source
        Name, size and hash of the table.
    gathered, settled
        The two passes.
    numbered
        Whether repeated rows were numbered as they came.
    """
    mapping, counts = gathered.mapping, gathered.counts
    table = _questions(gathered, settled)
    _write_parquet(folder / QUESTIONS, table)
    levels = {
        name: [names.all[i] for i in numeric_order(names.all)]
        for name, names in gathered.levels.items()
    }
    personas = gathered.personas.all
    controls = _controls(mapping.controls, personas, gathered.remarks.file)
    heats = mapping.temperature_factor or ("temperature" if _is_heat(mapping, levels) else None)
    _check_heats(heats, levels, gathered.remarks.file)
    designs = len(gathered.models) * len(personas) * int(np.prod([len(v) for v in levels.values()]))
    wanted = designs * len(gathered.items)
    extent = Extent(
        labels=len(personas) - len(controls),
        controls=len(controls),
        configurations=int(np.prod([len(found) for found in levels.values()])),
        items=len(gathered.items),
        clusters=len(set(table["cluster"])),
        domains=len(set(table["domain"])),
        requests=settled.requests,
        wanted=wanted,
        most_repeats=settled.most_repeats,
        fewest_repeats=settled.fewest_repeats,
        options_are=settled.options.kind,
        options_known=bool(len(table["n_options"]) and min(table["n_options"]) > 0),
        knows_temperature=heats is not None,
    )
    names = gathered.repeats.all
    return {
        "kind": "import",
        "form": FORM,
        "nongrata": __version__,
        "title": source["name"],
        "source": source,
        "mapping": mapping.as_dict(),
        "models": gathered.models.all,
        "personas": personas,
        "controls": controls,
        "factors": levels,
        "temperature": heats,
        "cells": cells_of(gathered),
        "replicates": settled.repeats,
        "replicate_names": [names[i] for i in numeric_order(names)] or None,
        "options_are": settled.options.kind,
        "counts": {
            "rows": counts["rows"] + gathered.remarks.rows,
            "answers": settled.read + settled.unread,
            "read": settled.read,
            "right": settled.right,
            "unread": settled.unread,
            "strays": sum(settled.strays.values()),
            "not_obtained": counts["not_obtained"],
            "same_twice": settled.same,
            "conflicting": settled.conflicting,
            "items": len(gathered.items),
            "combinations": wanted,
            "combinations_answered": settled.requests,
            "fewest_repeats": settled.fewest_repeats,
            "most_repeats": settled.most_repeats,
        },
        "strays": dict(list(settled.strays.items())[:STRAYS_NAMED]),
        "malformed": gathered.remarks.as_dict(),
        "notes": list(_notes(gathered, settled, levels, numbered)),
        "usable": [{"analysis": u.analysis, "can": u.can, "why": u.why} for u in uses(extent)],
        "files": {
            name: file_hash(folder / name, "sha256") for name in (QUESTIONS, ANSWERS, REMARKS)
        },
    }


def _questions(gathered: Gathered, settled: Settled) -> dict[str, list[Any]]:
    items, options = gathered.items.all, settled.options

    def about(role: str, otherwise: list[str]) -> list[str]:
        names = gathered.about[role].all
        codes = gathered.said[role].of(len(items)).tolist()
        found = [names[code] if code >= 0 else "" for code in codes]
        return [text or other for text, other in zip(found, otherwise, strict=True)]

    shared = len(options.texts) == 1 and options.kind == "labels"
    texts = options.texts * len(items) if shared else options.texts or [[]] * len(items)
    return {
        "id": items,
        "answer": options.gold.tolist(),
        "n_options": options.number.tolist(),
        "domain": about("domain", [NO_DOMAIN] * len(items)),
        "cluster": about("cluster", items),
        "source": about("source", [NO_SOURCE] * len(items)),
        "options": texts,
    }


def _write_parquet(path: Path, columns: dict[str, list[Any]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    text = pa.string()
    schema = pa.schema(
        {
            "id": text,
            "answer": pa.int8(),
            "n_options": pa.int8(),
            "domain": text,
            "cluster": text,
            "source": text,
            "options": pa.list_(text),
        }
    )
    pq.write_table(pa.table(columns, schema=schema), path, compression="zstd")


def _controls(wanted: tuple[str, ...], personas: list[str], file: str) -> list[str]:
    found = []
    for name in wanted:
        called = name or EMPTY_NAME
        if called not in personas:
            guess = did_you_mean(called, personas)
            known = ", ".join(repr(persona) for persona in personas[:8])
            raise NongrataError(
                f"no row has the control '{name}'",
                where=file,
                fix=f"did you mean '{guess}'?" if guess else f"the personas are {known}",
            )
        found.append(called)
    return list(dict.fromkeys(found))


def _is_heat(mapping: Any, levels: dict[str, list[str]]) -> bool:
    """Whether a pattern names the temperature, which then says what the levels are."""
    return (
        mapping.header is not None and "{temperature}" in mapping.header and "temperature" in levels
    )


def _check_heats(factor: str | None, levels: dict[str, list[str]], file: str) -> None:
    for level in levels.get(factor or "", []):
        try:
            good = 0 <= float(level) < float("inf")
        except ValueError:
            good = False
        if not good:
            raise NongrataError(
                f"'{level:.60}' is no sampling temperature",
                where=f"{file}, {factor}",
                fix="map the column as a factor instead: --factor",
            )


def _notes(
    gathered: Gathered, settled: Settled, levels: dict[str, list[str]], numbered: bool
) -> list[str]:
    notes = []
    if numbered and settled.most_repeats > 1:
        notes.append(
            "rows with the same item, persona and configuration are repeats, numbered in the order "
            "in which they stand; a row that is there twice by mistake counts as one of them"
        )
    found: dict[str, Names] = {"persona": gathered.personas, "model": gathered.models}
    for role, names in {**found, **gathered.levels}.items():
        if names.find(EMPTY_NAME) >= 0:
            notes.append(f"an empty cell of '{role}' is the level '{EMPTY_NAME}'")
    if settled.options.kind == "texts":
        notes.append(
            "answers are texts that each question numbers for itself; an answer counts as right if "
            "it is the right answer's text"
        )
    if settled.options.merged:
        notes.append(
            f"{settled.options.merged:,} questions have more than 128 different answers; beyond "
            "these, wrong answers are not told apart"
        )
    if settled.options.kind == "labels" and not gathered.labels:
        labels = ", ".join(settled.options.texts[0])
        notes.append(
            f"the options are taken to be the answers that occur, right or given ({labels:.200}); "
            "declare them, so that others count as unread: --options A,B,C,D"
        )
    if any(len(found) == 1 for found in levels.values()) and len(levels) > 1:
        single = ", ".join(name for name, found in levels.items() if len(found) == 1)
        notes.append(f"one level only, so nothing depends on it: {single}")
    return notes
