"""Tables with typed columns, from Parquet files and data frames, as blocks of text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from nongrata.errors import NongrataError
from nongrata.interop.malformed import Remarks
from nongrata.interop.table_files import check_is_file
from nongrata.interop.table_reading import Block, Table, check_header, rows_at_a_time


@contextmanager
def parquet_table(path: Path) -> Iterator[Table]:
    """Open a Parquet file; its rows are counted from 1."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    check_is_file(path)
    wrong = (pa.ArrowException, OSError, UnicodeDecodeError)
    try:
        file = pq.ParquetFile(path, memory_map=False)
        _ = file.schema_arrow.names  # which may be no text
    except wrong as error:
        raise _unreadable(error, path) from None

    def batches(columns: list[str]) -> Iterator[Any]:
        try:
            for batch in file.iter_batches(rows_at_a_time(len(columns)), columns=columns):
                batch.validate(full=True)  # that text is UTF-8, too
                yield batch
        except wrong as error:
            raise _unreadable(error, path) from None

    with file:
        yield ArrowTable(str(path), file.schema_arrow, file.metadata.num_rows, batches)


def _unreadable(error: Exception, path: Path) -> NongrataError:
    said = (str(error).splitlines() or ["unknown"])[0]
    return NongrataError(
        f"this is not a readable Parquet file: {said:.200}", where=path, fix="get it again"
    )


def frame_table(frame: Any) -> Table:
    """A polars or pandas data frame, or an Arrow table, as a table.

    Examples
    --------
    >>> import polars as pl
    >>> frame_table(pl.DataFrame({"id": ["q1"], "ok": [1]})).header
    ['id', 'ok']
    """
    import pyarrow as pa

    if isinstance(frame, pa.Table):
        table = frame
    elif hasattr(frame, "to_arrow"):
        table = frame.to_arrow()
    else:
        try:
            table = pa.Table.from_pandas(frame, preserve_index=False)
        except (pa.ArrowException, AttributeError, TypeError, ValueError) as error:
            said = (str(error).splitlines() or ["unknown"])[0]
            raise NongrataError(
                f"this is not a data frame of text, numbers and booleans: {said:.200}",
                where="frame",
                fix="give a polars or pandas DataFrame with one kind of value in a column",
            ) from None

    def batches(columns: list[str]) -> Iterable[Any]:
        return table.select(columns).to_batches(max_chunksize=rows_at_a_time(len(columns)))  # type: ignore[no-any-return]

    return ArrowTable("frame", table.schema, table.num_rows, batches)


class ArrowTable:
    """A table of typed columns.

    Parameters
    ----------
    name
        What to call it.
    schema
        Its Arrow schema.
    rows
        How many there are.
    batches
        Gives some columns, some rows at a time.
    """

    unit = "row"

    def __init__(
        self, name: str, schema: Any, rows: int, batches: Callable[[list[str]], Iterable[Any]]
    ) -> None:
        self.name = name
        self.header: list[str] = list(schema.names)
        self._schema, self._rows, self._batches = schema, rows, batches
        self._done = 0
        check_header(self.header, name)
        if not rows:
            raise NongrataError("the table has no rows", where=name)

    @property
    def read(self) -> tuple[int, int]:
        """How many of how many rows were read."""
        return self._done, self._rows

    def blocks(
        self,
        wanted: Mapping[str, int],
        remarks: Remarks,  # noqa: ARG002
        *,
        sparse: bool = False,  # noqa: ARG002
    ) -> Iterator[Block]:
        """Yield the wanted columns as text."""
        for name in wanted:
            self._check_type(name)
        for batch in self._batches(list(wanted)):
            n = batch.num_rows
            columns = {name: as_text(batch.column(j)) for j, name in enumerate(wanted)}
            lines = np.arange(self._done + 1, self._done + n + 1)
            self._done += n
            yield Block(lines, columns)

    def _check_type(self, name: str) -> None:
        import pyarrow.types as kinds

        kind = self._schema.field(name).type
        if kinds.is_dictionary(kind):
            kind = kind.value_type
        if kinds.is_list(kind) or kinds.is_large_list(kind):
            kind = kind.value_type
        text = kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_string_view(kind)
        if not (text or kinds.is_primitive(kind) or kinds.is_null(kind) or kinds.is_decimal(kind)):
            raise NongrataError(
                f"the column '{name:.200}' holds {kind!s:.100}, which is no text",
                where=self.name,
                fix="turn it into text, numbers or booleans",
            )


def as_text(column: Any) -> Any:
    """A column as text, or lists of text; null is the empty text.

    Examples
    --------
    >>> import pyarrow as pa
    >>> as_text(pa.array([True, None])).to_pylist(), as_text(pa.array([1.5, 2.0])).to_pylist()
    (['true', ''], ['1.5', '2'])
    """
    import pyarrow as pa
    import pyarrow.types as kinds

    if kinds.is_dictionary(column.type):
        column = column.dictionary_decode()
    if kinds.is_list(column.type) or kinds.is_large_list(column.type):
        lengths = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), as_text(column.flatten()))
    if kinds.is_floating(column.type):
        column = _floats(column)
    return column.cast(pa.string()).fill_null("")


def _floats(column: Any) -> Any:
    """Floats as text, NaN (how pandas writes nothing) as null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    nothing = pc.is_nan(column.cast(pa.float64()))
    return pc.if_else(nothing, pa.scalar(None, pa.string()), column.cast(pa.string()))
