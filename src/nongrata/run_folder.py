"""A run directory's side files: the study as resolved, the questions, the design, the prompts."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nongrata.errors import NongrataError
from nongrata.personas import Persona
from nongrata.plan import Plan, build_plan
from nongrata.prompts import PromptTable
from nongrata.questions.model import QuestionSet
from nongrata.run_files import is_file, whole_file
from nongrata.run_path import store_errors
from nongrata.study import Personas, Study
from nongrata.yaml_files import dump_yaml, read_yaml, validate

STUDY = "study.yaml"
QUESTIONS = "questions.parquet"
DESIGN = "design.parquet"
PROMPTS = "prompts.parquet"
_PROMPT_ROWS = 65_536


@dataclass(frozen=True, slots=True)
class RunContent:
    """What a run asks: its study with everything resolved.

    Parameters
    ----------
    study
        The study.
    personas
        Its personas, in order.
    questions
        Its questions, in order.
    """

    study: Study
    personas: tuple[Persona, ...]
    questions: QuestionSet

    def plan(self) -> Plan:
        """The passes it needs."""
        return build_plan(self.study, self.personas, self.questions)


def study_text(study: Study, personas: tuple[Persona, ...]) -> str:
    """The resolved study as YAML: personas in full, every default written out."""
    full = study.model_copy(update={"personas": Personas(list=personas)})
    body = dump_yaml(full.model_dump(mode="json"))
    return f"# The study as it was run: everything resolved, nothing left to a default.\n{body}"


def read_content(folder: Path) -> RunContent:
    """Read what a run asks from its own files."""
    from nongrata.questions.storage import read_questions

    with store_errors(folder):
        study = validate(Study, read_yaml(folder / STUDY))
    questions_path = folder / QUESTIONS
    if not is_file(questions_path):
        raise NongrataError(
            "the run's questions are missing",
            where=questions_path,
            fix="run the same study again to rewrite them",
        )
    return RunContent(study, study.personas.list, read_questions(questions_path))


def design_table(plan: Plan) -> Any:
    """Which skeleton each persona sends in each configuration, as a ``pyarrow.Table``."""
    import pyarrow as pa

    configurations = list(plan.study.configurations())
    personas = [persona.id for persona in plan.personas]
    n = len(configurations)
    columns: dict[str, Any] = {
        "persona": pa.array(np.repeat(personas, n)),
        "is_control": pa.array(np.repeat([persona.control for persona in plan.personas], n)),
    }
    for position, factor in enumerate(plan.study.factors):
        levels = [levels[position] for levels in configurations]
        columns[factor.name] = pa.array([level.id for level in levels] * len(personas))
        for sub in factor.sub_factors:
            columns[sub] = pa.array([level.sub[sub] for level in levels] * len(personas))
    digests = plan.prompts.skeleton_digests[plan.skeleton_of.ravel(), 0]
    columns["skeleton"] = pa.array(digests)
    readings = np.array([skeleton.reading for skeleton in plan.prompts.skeletons])
    columns["reading"] = pa.array(readings[plan.skeleton_of.ravel()])
    columns["sampling_temperature"] = pa.array(np.tile(plan.temperature, len(personas)))
    columns["duplicate"] = pa.array(duplicates(plan).ravel())
    return pa.table(columns)


def sampling_of(plan: Plan) -> dict[str, Any]:
    """Seed, replicates and every distinct set of sampling parameters of a plan, resolved."""
    sets: list[dict[str, Any]] = []
    for column, sampling in zip(plan.skeleton_of.T, plan.sampling, strict=True):
        for row in np.unique(column):
            frame = plan.prompts.skeletons[int(row)]
            one = {"reading": frame.reading, **asdict(sampling)}
            if frame.reading == "free":
                one |= {"max_tokens": frame.decoding.max_tokens, "stop": list(frame.decoding.stop)}
            if one not in sets:
                sets.append(one)
    return {
        "seed": plan.study.seed,
        "replicates": plan.replicates,
        "repeat_at_zero": plan.study.repeat_at_zero,
        "parameters": sets,
        "seed_of_a_request": "(key_high xor key_low), its lowest 31 bits",
    }


def duplicates(plan: Plan) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Whether a cell sends exactly what an earlier cell of the persona sends.

    bool, shape (personas, configurations). Such a cell is a structural duplicate: its answers are
    the earlier cell's, so it is stable by construction.
    """
    result = np.ones(plan.cells.shape, dtype=np.bool_)
    for row, cells in enumerate(plan.cells):
        result[row, np.unique(cells, return_index=True)[1]] = False
    return result


def prompts_digest(prompts: PromptTable) -> str:
    """Hash of every prompt of a study, without rendering them."""
    digest = hashlib.blake2b(digest_size=16)
    for words in (prompts.skeleton_digests, prompts.block_digests, prompts.question_hashes):
        digest.update(np.ascontiguousarray(words).tobytes())
    return digest.hexdigest()


def write_prompts(path: Path, prompts: PromptTable) -> None:
    """Write every distinct prompt, exactly as it is sent, question by question.

    Streams: memory does not grow with the number of prompts. In question order the texts of one
    question stand side by side and compress to about a fifth of what skeleton order needs.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    n = len(prompts.skeletons)
    frames = prompts.skeletons
    skeleton = pa.array(prompts.skeleton_digests[:, 0])
    before = pa.array([frame.before for frame in frames], type=pa.string())
    after = pa.array([frame.after for frame in frames], type=pa.string())
    system = pa.array([frame.system for frame in frames]).dictionary_encode()
    prefill = pa.array([frame.prefill for frame in frames]).dictionary_encode()
    blocks = [pa.array([block.text for block in row], type=pa.string()) for row in prompts.blocks]
    schema = pa.schema(
        [
            ("skeleton", pa.uint64()),
            ("question", pa.uint64()),
            ("system", pa.dictionary(pa.int32(), pa.string())),
            ("user", pa.string()),
            ("prefill", pa.dictionary(pa.int32(), pa.string())),
        ]
    )
    at_once = max(1, _PROMPT_ROWS // n)
    with (
        whole_file(path) as handle,
        pq.ParquetWriter(
            handle,
            schema,
            compression="zstd",
            compression_level=3,
            use_dictionary=["skeleton", "question", "system", "prefill"],
            write_statistics=["question"],
        ) as writer,
    ):
        for start in range(0, len(prompts.questions), at_once):
            stop = min(start + at_once, len(prompts.questions))
            count = stop - start
            row = np.tile(np.arange(n, dtype=np.int32), count)
            which = np.repeat(np.arange(start, stop, dtype=np.int32), n)
            texts = _shown_texts(blocks, prompts, row, which)
            user = pc.binary_join_element_wise(
                before.take(pa.array(row)), texts, after.take(pa.array(row)), ""
            )
            writer.write_table(
                pa.table(
                    {
                        "skeleton": skeleton.take(pa.array(row)),
                        "question": pa.array(prompts.question_hashes[which]),
                        "system": system.take(pa.array(row)),
                        "user": user,
                        "prefill": prefill.take(pa.array(row)),
                    },
                    schema=schema,
                )
            )


def _shown_texts(blocks: list[Any], prompts: PromptTable, row: Any, which: Any) -> Any:
    import pyarrow as pa

    if len(blocks) == 1:
        return blocks[0].take(pa.array(which))
    every = pa.concat_arrays(blocks)
    place = prompts.presentation_of[row].astype(np.int64) * len(prompts.questions) + which
    return every.take(pa.array(place))
