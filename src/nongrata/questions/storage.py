"""Questions to and from ``questions.parquet``, byte for byte."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

from nongrata.errors import NongrataError
from nongrata.keys import name_hash
from nongrata.questions.model import Question, QuestionSet
from nongrata.run_files import open_file, write_atomically

if TYPE_CHECKING:
    import polars as pl

TEXT_COLUMNS = ("id", "source", "subject", "domain", "cluster", "context", "question")


def questions_to_frame(questions: QuestionSet) -> pl.DataFrame:
    """Return one row per question; further columns of the source as JSON text in ``fields``.

    Parameters
    ----------
    questions
        Any set of questions.

    Examples
    --------
    >>> one = QuestionSet((Question("a", "own", "1 + 1?", ("1", "2"), 1),))
    >>> questions_to_frame(one).columns[-3:]
    ['choices', 'answer', 'fields']
    """
    import polars as pl

    data: dict[str, list[object]] = {
        name: [getattr(q, name) for q in questions] for name in TEXT_COLUMNS
    }
    data["question_hash"] = [name_hash(q.id) for q in questions]
    data["choices"] = [list(q.choices) for q in questions]
    data["answer"] = [q.answer for q in questions]
    data["fields"] = [json.dumps(q.fields, ensure_ascii=False) for q in questions]
    schema: dict[str, pl.DataType] = {name: pl.String() for name in TEXT_COLUMNS}
    schema |= {
        "question_hash": pl.UInt64(),
        "choices": pl.List(pl.String),
        "answer": pl.Int16(),
        "fields": pl.String(),
    }
    return pl.DataFrame(data, schema=schema)


def questions_from_frame(frame: pl.DataFrame) -> QuestionSet:
    """Rebuild the questions of a frame made by `questions_to_frame`.

    Examples
    --------
    >>> one = QuestionSet((Question("a", "own", "1 + 1?", ("1", "2"), 1),))
    >>> questions_from_frame(questions_to_frame(one)) == one
    True
    """
    return QuestionSet(
        tuple(
            Question(
                id=row["id"],
                source=row["source"],
                question=row["question"],
                choices=tuple(row["choices"]),
                answer=row["answer"],
                context=row["context"],
                subject=row["subject"],
                domain=row["domain"],
                cluster=row["cluster"],
                fields=tuple((key, value) for key, value in json.loads(row["fields"])),
            )
            for row in frame.iter_rows(named=True)
        )
    )


def write_questions(questions: QuestionSet, path: Path) -> None:
    """Write ``questions.parquet``.

    Parameters
    ----------
    questions
        What to write.
    path
        The file; an existing one is replaced.

    Examples
    --------
    >>> import tempfile
    >>> one = QuestionSet((Question("a", "own", "1 + 1?", ("1", "2"), 1),))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_questions(one, Path(folder) / "questions.parquet")
    ...     read_questions(Path(folder) / "questions.parquet") == one
    True
    """
    buffer = io.BytesIO()
    questions_to_frame(questions).write_parquet(buffer, compression="zstd")
    write_atomically(path, buffer.getbuffer())


def read_questions(path: Path) -> QuestionSet:
    """Read what `write_questions` wrote.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    NongrataError
        If the file is missing, is no Parquet file, or lacks a column.
    """
    import polars as pl

    try:
        with open_file(path) as handle:
            frame = pl.read_parquet(handle)
    except FileNotFoundError:
        raise NongrataError("there is no such file", where=path) from None
    except (OSError, pl.exceptions.PolarsError) as error:
        raise NongrataError(
            f"this is not a readable Parquet file: {str(error).splitlines()[0]}", where=path
        ) from None
    missing = {*TEXT_COLUMNS, "choices", "answer", "fields"} - set(frame.columns)
    if missing:
        raise NongrataError(
            f"the column '{min(missing)}' is missing, so this is no questions.parquet",
            where=path,
            fix="point to the file that a run wrote",
        )
    return questions_from_frame(frame)
