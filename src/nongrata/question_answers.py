"""All answers to one question, from the rows of its run's shards that belong to it.

A question's rows are a few in every shard. So the columns that find them are read from all shards,
and the wide ones (distributions) only from the shards that hold some of this question's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nongrata.plan import Plan
from nongrata.prompts import PromptTable
from nongrata.questions.model import Question
from nongrata.response_tensors import COLUMNS, Filler
from nongrata.run_files import read_table
from nongrata.run_path import is_remote

if TYPE_CHECKING:
    import polars as pl

FINDING = ("skeleton", "question", "temperature", "replicate", "outcome", "option")
"""Columns that say which answer a row is, and what became of it."""

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class QuestionAnswers:
    """What became of every cell of the design for one question and one model.

    Parameters
    ----------
    outcome, option
        As in `nongrata.responses.load_run`, shape (personas, configurations, replicates).
    shards
        Files that hold rows of the question, in order.
    """

    outcome: NDArray[np.uint8]
    option: NDArray[np.int8]
    shards: tuple[Path, ...]


def plan_of(plan: Plan, questions: Iterable[Question]) -> Plan:
    """The same plan for some of its questions: nothing of the others is rendered."""
    prompts = PromptTable(plan.prompts.skeletons, tuple(questions), plan.prompts.seed)
    return replace(plan, prompts=prompts)


def read_answers(paths: Sequence[Path], plan: Plan, vocabulary: int | None) -> QuestionAnswers:
    """Every answer to the one question of a plan.

    Parameters
    ----------
    paths
        The model's shards.
    plan
        A plan of one question, as `plan_of` makes it.
    vocabulary
        Number of the model's tokens, if known.
    """
    filler, cell_of = Filler.of(plan, vocabulary)
    filler.into.final = filler.into.final_mass = None  # nothing here depends on them
    found = rows_of(paths, plan, FINDING)
    exact = ~filler.is_free[filler.skeletons.find(found["skeleton"].to_numpy())]
    wide = set(found["shard"].filter(exact).to_list())
    narrow = found.filter(~found["shard"].is_in(list(wide)))
    if len(narrow):
        filler.add_rows(narrow.to_arrow())
    if wide:
        filler.add_rows(rows_of([p for p in paths if str(p) in wide], plan, COLUMNS).to_arrow())
    there = set(found["shard"].unique().to_list())
    return QuestionAnswers(
        outcome=filler.into.outcome[cell_of][..., 0],
        option=filler.into.option[cell_of][..., 0],
        shards=tuple(path for path in paths if str(path) in there),
    )


def rows_of(
    paths: Sequence[Path], plan: Plan, columns: Iterable[str] | None = None
) -> pl.DataFrame:
    """Rows of the one question of a plan, with the shard each is from.

    Parameters
    ----------
    paths
        Shards.
    plan
        A plan of one question.
    columns
        Left out: all of them.
    """
    import polars as pl

    wanted = None if columns is None else [*columns]
    asked = pl.col("question") == pl.lit(int(plan.prompts.question_hashes[0]), dtype=pl.UInt64)
    if not paths:
        return pl.DataFrame(schema={"shard": pl.String, **dict.fromkeys(wanted or (), pl.Null)})
    if is_remote(paths[0]):
        parts = [
            pl.DataFrame(read_table(path, wanted))
            .filter(asked)
            .with_columns(shard=pl.lit(str(path)))
            for path in paths
        ]
        return pl.concat(parts, how="vertical_relaxed")
    found = pl.scan_parquet(list(paths), include_file_paths="shard", glob=False).filter(asked)
    return (found if wanted is None else found.select(*wanted, "shard")).collect()


def row_of_cell(rows: pl.DataFrame, plan: Plan, p: int, c: int, replicate: int) -> Row | None:
    """The row that answers one cell; None if there is none yet.

    Parameters
    ----------
    rows
        Rows of the plan's one question, with every column.
    plan
        A plan of one question.
    p, c, replicate
        The cell.
    """
    import polars as pl

    skeleton = int(plan.skeleton_of[p, c])
    heat = float(plan.temperature[c])
    digest = int(plan.prompts.skeleton_digests[skeleton, 0])
    sent = pl.col("skeleton") == pl.lit(digest, dtype=pl.UInt64)
    if plan.prompts.skeletons[skeleton].reading == "free":
        repeat = replicate if replicate < plan.answers_at(heat) else 0
        sent &= (pl.col("temperature") == heat) & (pl.col("replicate") == repeat)
    # where a shard was copied by hand, the last one stands
    found = rows.filter(sent).tail(1)
    return found.row(0, named=True) if len(found) else None
