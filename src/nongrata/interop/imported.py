"""An imported table on disk: what it says, in codes, in a folder that needs nothing else.

``import.json`` says where it came from and what the columns meant, and names models, personas,
levels and cells; ``questions.parquet`` the questions; ``answers.parquet`` holds an answer a row,
with the line it came from; ``malformed.jsonl`` what could not be used.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nongrata.errors import NongrataError
from nongrata.run_files import file_hash, is_file, open_file, read_bytes, read_table
from nongrata.run_path import run_path

if TYPE_CHECKING:
    import xarray as xr

FILE, QUESTIONS, ANSWERS = "import.json", "questions.parquet", "answers.parquet"
REMARKS = "malformed.jsonl"
FORM = 1
MISSING = 255


def is_import(folder: Path) -> bool:
    """Whether a folder holds an imported table."""
    return is_file(folder / FILE)


def read_import(folder: str | Path) -> dict[str, Any]:
    """What ``import.json`` says.

    Parameters
    ----------
    folder
        The folder of an import.

    Raises
    ------
    NongrataError
        If there is none, or it is of another form.
    """
    folder = run_path(folder)
    try:
        found = json.loads(read_bytes(folder / FILE))
    except FileNotFoundError:
        raise NongrataError(
            "this is no imported table",
            where=folder,
            fix="make one: nongrata import table FILE -o FOLDER",
        ) from None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or found.get("kind") != "import":
        raise _damaged(folder / FILE)
    if found.get("form") != FORM:
        raise NongrataError(
            f"the import has form {found.get('form')!r:.20}, and this version reads {FORM}",
            where=folder / FILE,
            fix="import the table again",
        )
    return found


def _damaged(path: Path) -> NongrataError:
    return NongrataError("is not what was written", where=path, fix="import the table again")


def load_import(
    folder: str | Path, progress: Callable[[int, int], None] | None = None
) -> xr.Dataset:
    """Load an imported table as a Dataset of responses.

    Parameters
    ----------
    folder
        The folder of an import.
    progress
        Told how many of how many answers have been read.

    Returns
    -------
    xarray.Dataset
        As of `nongrata.responses.load_run`: dimensions ``model``, ``persona``, the factors,
        ``replicate``, ``question``. No probabilities are known, so ``theta`` is all ``nan``, and no
        cell is a structural duplicate. Where only right and wrong are known, option 0 is right and
        option 1 wrong. ``n_options`` 0: not known. ``attrs["options_are"]`` says what an option's
        number means: ``labels`` that all questions share, ``texts`` that each question numbers for
        itself, or ``correctness``.
    """
    folder = run_path(folder)
    about = read_import(folder)
    for name, digest in about["files"].items():
        try:
            whole = file_hash(folder / name, "sha256") == digest
        except (FileNotFoundError, OSError):
            whole = False
        if not whole:
            raise _damaged(folder / name)
    return _assemble(folder, about, progress)


def _assemble(
    folder: Path, about: dict[str, Any], progress: Callable[[int, int], None] | None
) -> xr.Dataset:
    import xarray as xr

    factors: dict[str, list[str]] = about["factors"]
    questions = read_table(folder / QUESTIONS)
    sizes = (len(about["models"]), len(about["personas"]), *map(len, factors.values()))
    Q, R = questions.num_rows, int(about["replicates"])
    cells = about["cells"]
    place = np.ravel_multi_index(
        tuple(np.array(cells[name], dtype=np.int64) for name in ("model", "persona", *factors)),
        sizes,
    )
    option = np.full((int(np.prod(sizes)), R, Q), -1, dtype=np.int8)
    outcome = np.full(option.shape, MISSING, dtype=np.uint8)
    _fill(folder / ANSWERS, place, option, outcome, progress)
    dims = ("model", "persona", *factors)
    heats = about["temperature"]
    further: dict[str, Any] = {}
    if heats is not None:
        shape = [len(levels) if name == heats else 1 for name, levels in factors.items()]
        values = np.array([float(level) for level in factors[heats]]).reshape(shape)
        whole = np.broadcast_to(values, sizes[2:]).copy()
        further["sampling_temperature"] = (tuple(factors), whole)

    def of_questions(name: str, kind: Any = None) -> tuple[str, Any]:
        column = questions[name]
        return "question", column.to_pylist() if kind is None else column.to_numpy().astype(kind)

    shared = about["options_are"] == "labels"
    return xr.Dataset(
        data_vars={
            "option": ((*dims, "replicate", "question"), option.reshape(*sizes, R, Q)),
            "outcome": ((*dims, "replicate", "question"), outcome.reshape(*sizes, R, Q)),
            "theta": ((*dims, "question"), np.full((*sizes, Q), np.nan, dtype=np.float32)),
            "duplicate": (dims[1:], np.zeros(sizes[1:], dtype=np.bool_)),
            **further,
        },
        coords={
            "model": about["models"],
            "persona": about["personas"],
            "is_control": ("persona", [name in about["controls"] for name in about["personas"]]),
            "persona_group": ("persona", [""] * len(about["personas"])),
            **factors,
            "replicate": np.arange(R),
            "question": of_questions("id")[1],
            "answer": of_questions("answer", np.int8),
            "n_options": of_questions("n_options", np.int8),
            "domain": of_questions("domain"),
            "cluster": of_questions("cluster"),
            "source": of_questions("source"),
        },
        attrs={
            "study": about["title"],
            "title": about["title"],
            "factors": list(factors),
            "limited": False,
            "limit": None,
            "simulated_models": [],
            "readings": [],
            "numerical_floor": [],
            "damage": [],
            "stored_twice": 0,
            "stored_rows": about["counts"]["answers"],
            "largest_theta_error": 0.0,
            "imported": True,
            "options_are": about["options_are"],
            # labels stand where they were shown; numbers given to texts say nothing about places
            "options_permuted": False if shared else None,
        },
    )


def _fill(
    path: Path,
    place: Any,
    option: Any,
    outcome: Any,
    progress: Callable[[int, int], None] | None,
) -> None:
    import pyarrow.parquet as pq

    done = 0
    with open_file(path) as handle:
        file = pq.ParquetFile(handle)
        total = file.metadata.num_rows
        for batch in file.iter_batches(2**18, columns=list(_KEPT)):
            cell, replicate, question, chosen, became = (
                batch.column(name).to_numpy() for name in _KEPT
            )
            at = (place[cell], replicate, question)
            option[at] = chosen
            outcome[at] = became
            done += len(chosen)
            if progress is not None:
                progress(done, total)


_KEPT = ("cell", "replicate", "question", "option", "outcome")
