"""From somebody's table to a Dataset of responses: in memory, or kept in a folder."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nongrata.errors import NongrataError
from nongrata.interop.arrow_tables import frame_table, parquet_table
from nongrata.interop.gathering import Gathered
from nongrata.interop.imported import (
    ANSWERS,
    FILE,
    REMARKS,
    is_import,
    load_import,
    read_import,
)
from nongrata.interop.malformed import Remarks
from nongrata.interop.record import write_record
from nongrata.interop.settling import Settled, settle
from nongrata.interop.table_files import check_is_file, kind_of, sync
from nongrata.interop.table_mapping import TableMapping, mapping_from
from nongrata.interop.table_reading import Table, delimited_table, json_table
from nongrata.interop.table_shapes import Shape
from nongrata.run_files import disk_error, file_hash
from nongrata.run_path import is_remote

if TYPE_CHECKING:
    import xarray as xr

Step = Callable[[str, int, int], None]
"""Told what is done, and how many of how many bytes, rows or answers are."""


def _nobody(name: str, done: int, total: int) -> None:
    pass


def import_to_folder(
    path: str | Path,
    folder: str | Path,
    mapping: TableMapping,
    *,
    strict: bool = False,
    step: Step = _nobody,
) -> dict[str, Any]:
    """Import a table into a folder that the analyses read.

    Parameters
    ----------
    path
        A .csv, .tsv, .jsonl (each also .gz) or .parquet file.
    folder
        Where to put it: a new or empty folder. It is there once all of it is.
    mapping
        What the columns mean.
    strict
        Whether anything malformed, or there twice, is the end.
    step
        Told how far it is.

    Returns
    -------
    dict
        What ``import.json`` says: names, counts, what was malformed, what each analysis can use.

    Raises
    ------
    NongrataError
        If the table cannot be read, a column is missing, or the folder holds something else.
    """
    path, folder = Path(path), Path(folder)
    if is_remote(folder):
        raise NongrataError(
            "a table is imported into a folder of this machine",
            where=folder,
            fix="import it here and copy the folder",
        )
    with opened(path, mapping) as table:
        source = {"name": path.name, "size": path.stat().st_size}
        source["sha256"] = file_hash(path, "sha256")
        known = _same(folder, source, mapping)
        if known is not None:
            if strict and known["malformed"]["total"]:
                first = known["malformed"]["first"][0]
                raise NongrataError(first["what"], where=first["place"], fix="mend the table")
            return known
        return _into_new(folder, table, source, mapping, strict=strict, step=step)


def import_table(path: str | Path, *, strict: bool = False, **mapping: Any) -> xr.Dataset:
    r"""Read somebody's table of answers as a Dataset of responses, without a folder.

    Parameters
    ----------
    path
        A .csv, .tsv, .jsonl (each also .gz) or .parquet file.
    strict
        Whether anything malformed, or there twice, is an error.
    **mapping
        What the columns mean, by the keys of `TableMapping`: ``item="id"``, ``answer="said"``,
        ``gold="key"``, ``persona="label"``, ``factors=["prompt"]`` and so on.

    Returns
    -------
    xarray.Dataset
        As of `nongrata.load_run`. ``attrs["import"]`` says what was found and what was malformed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "answers.csv"
    ...     _ = file.write_text("id,who,said,key\nq1,nurse,A,A\nq1,pilot,B,A\n")
    ...     found = import_table(file, item="id", persona="who", answer="said", gold="key")
    >>> found.sizes["persona"], found.attrs["import"]["counts"]["right"]
    (2, 1)
    """
    path, meant = Path(path), mapping_from(mapping)
    with opened(path, meant) as table:
        return _in_memory(table, {"name": path.name}, meant, strict)


def from_table(
    frame: Any,
    *,
    items: Sequence[str] | None = None,
    configurations: Sequence[str] | None = None,
    strict: bool = False,
    **mapping: Any,
) -> xr.Dataset:
    """Read a data frame, or a matrix of right and wrong answers, as a Dataset of responses.

    Parameters
    ----------
    frame
        A polars or pandas DataFrame, an Arrow table, or a numpy matrix of 0, 1 and ``nan``
        (missing), items by configurations.
    items, configurations
        Names of the matrix's rows and columns.
    strict, **mapping
        As in `import_table`; of a matrix, ``header`` may split the configurations' names.

    Examples
    --------
    >>> import numpy as np
    >>> right = np.array([[1, 0], [1, np.nan], [0, 0]])
    >>> found = from_table(right, configurations=["a/0", "b/0"], header="{persona}/{prompt}")
    >>> found.sizes["persona"], found.sizes["prompt"], found.sizes["question"]
    (2, 1, 3)
    """
    if hasattr(frame, "shape") and not hasattr(frame, "columns"):
        frame = _matrix_frame(frame, items, configurations)
        mapping = {"wide": "items", "item": "item", **mapping}
    meant = mapping_from(mapping)
    return _in_memory(frame_table(frame), {"name": "frame"}, meant, strict)


def _matrix_frame(
    matrix: Any, items: Sequence[str] | None, configurations: Sequence[str] | None
) -> Any:
    import numpy as np
    import pyarrow as pa

    matrix = np.asarray(matrix)
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        raise NongrataError(
            f"the matrix has {matrix.ndim} dimensions of {matrix.dtype}",
            where="frame",
            fix="give items by configurations, holding 0, 1 and nan",
        )
    rows = [f"item-{i}" for i in range(len(matrix))] if items is None else [*map(str, items)]
    columns = (
        [f"configuration-{j}" for j in range(matrix.shape[1])]
        if configurations is None
        else [*map(str, configurations)]
    )
    if (len(rows), len(columns)) != matrix.shape:
        raise NongrataError(
            f"the matrix is {matrix.shape[0]:,} x {matrix.shape[1]:,}, with {len(rows):,} names of "
            f"items and {len(columns):,} of configurations",
            where="frame",
            fix="give as many names as rows and columns",
        )
    arrays = [pa.array(column, from_pandas=True) for column in np.ascontiguousarray(matrix.T)]
    return pa.Table.from_arrays([pa.array(rows, pa.string()), *arrays], names=["item", *columns])


@contextmanager
def opened(path: Path, mapping: TableMapping) -> Iterator[Table]:
    """Open a table as its name says."""
    check_is_file(path)
    kind = kind_of(path)
    if kind == "parquet":
        with parquet_table(path) as table:
            yield table
    elif kind == "jsonl":
        with json_table(path) as table:
            yield table
    else:
        delimiter = mapping.delimiter or ("\t" if kind == "tsv" else ",")
        with delimited_table(path, delimiter) as table:
            yield table


def _same(folder: Path, source: dict[str, Any], mapping: TableMapping) -> dict[str, Any] | None:
    """What a folder's import says if it is this one; None if there is nothing yet."""
    if is_import(folder):
        about = read_import(folder)
        if about["source"] == source and about["mapping"] == mapping.as_dict():
            return about
        what = "the folder holds another import"
    elif folder.is_dir() and not any(folder.iterdir()):
        return None
    elif folder.exists() or folder.is_symlink():
        what = "this is there already and is no import"
    else:
        return None
    raise NongrataError(what, where=folder, fix="name a new folder, or remove this one first")


def _into_new(
    folder: Path,
    table: Table,
    source: dict[str, Any],
    mapping: TableMapping,
    *,
    strict: bool,
    step: Step,
) -> dict[str, Any]:
    temporary = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary.mkdir()
        about = _build(table, source, mapping, temporary, strict=strict, step=step)
        sync(temporary)
        temporary.rename(folder)
    except OSError as error:
        raise disk_error(error, folder) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return about


def _in_memory(
    table: Table, source: dict[str, Any], mapping: TableMapping, strict: bool
) -> xr.Dataset:
    with tempfile.TemporaryDirectory(prefix="nongrata-") as folder:
        about = _build(table, source, mapping, Path(folder), strict=strict, step=_nobody)
        dataset = load_import(folder)
    dataset.attrs["import"] = about
    return dataset


def _build(
    table: Table,
    source: dict[str, Any],
    mapping: TableMapping,
    folder: Path,
    *,
    strict: bool,
    step: Step,
) -> dict[str, Any]:
    """Write an import's files into a folder that is there."""
    shape = Shape(table, mapping)
    with (folder / REMARKS).open("w", encoding="utf-8") as into:
        remarks = Remarks(table.name, table.unit, None if strict else into)
        passed = folder / "answers.tmp"
        with Gathered(mapping, shape.factors, remarks, passed) as gathered:
            for found in shape.answered(remarks):
                gathered.add(found)
                step("reading" if table.unit == "line" else "reading rows", *table.read)
        _refuse_nothing(gathered)
        settled: Settled = settle(
            gathered, numbered=shape.numbers_repeats, into=folder / ANSWERS, step=step
        )
        passed.unlink()
    about = write_record(folder, source, gathered, settled, numbered=shape.numbers_repeats)
    content = json.dumps(about, indent=1, ensure_ascii=True, allow_nan=False)
    (folder / FILE).write_text(content + "\n", encoding="utf-8")
    return about


def _refuse_nothing(gathered: Gathered) -> None:
    if gathered.counts["answers"]:
        return
    remarks = gathered.remarks
    if remarks.first:
        first = remarks.first[0]
        raise NongrataError(
            f"no row can be used; the first: {first.what}",
            where=remarks.place(first),
            fix="mend the table, or name other columns",
        )
    empty = gathered.counts["rows"] == 0
    raise NongrataError(
        "the table has a header and no rows" if empty else "every answer is missing",
        where=remarks.file,
        fix="is this the file that was meant?",
    )
