"""The same work by lm-evaluation-harness and by `nongrata run`, side by side.

The work is the answer-only half of the demo study: labels x four persona formats x two task
formats x three temperatures, answered by SmolLM2-135M-Instruct in float32 on the CPU. The harness
(hf backend, the same safetensors, the same token ids) is run once for each label, format and
temperature; `nongrata run` is run once. Printed are answers per second of both, their ratio and
what it is made of, and whether the answers are the same.

lm-evaluation-harness is no dependency of this package. Give it an environment of its own, with the
versions of PyTorch and transformers that are installed here:

    python -m venv lm-eval-env
    lm-eval-env/bin/pip install 'lm-eval[hf]' torch==... transformers==...

Run on a quiet machine, with the engine transformers installed here:

    python benchmarks/lm_eval_side_by_side.py --lm-eval-python lm-eval-env/bin/python

Ends with 1 if the answers differ, or if the ratio is below `--least`.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nongrata import __version__
from nongrata.engines.hf_files import locate_folder
from nongrata.engines.hf_tokens import HfTokens
from nongrata.engines.label_tokens import prompt_digest
from nongrata.loading import LoadedStudy, load_study
from nongrata.manifest import Manifest, ModelRecord
from nongrata.model_specs import TransformersSpec
from nongrata.plan import Plan, build_plan
from nongrata.presets import preset_document
from nongrata.responses import load_run
from nongrata.run_files import read_table
from nongrata.store import Store
from nongrata.yaml_files import dump_yaml

DRIVER = Path(__file__).with_name("lm_eval_driver.py")
# no control among them: it sends the same prompts in several cells, of which only one is computed
LABELS = "an-expert-in-math,a-7-year-old"
BATCH_SIZES = (1, 4, 8, 16)
MODEL = {
    "id": "smollm2-135m-instruct",
    "engine": "transformers",
    "builtin": "smollm2-135m-instruct",
    "dtype": "float32",
    "device": "cpu",
    # the one spelling that the harness scores
    "label_variants": ["{label}"],
}


@dataclass(frozen=True)
class Work:
    """What both are to do: a study; for the harness, one task for each label and format."""

    plan: Plan
    study_file: Path
    model_folder: Path
    skeletons: Mapping[str, int]
    tasks: Mapping[str, Sequence[Mapping[str, Any]]]

    @property
    def temperatures(self) -> int:
        """How many temperatures each of them is asked at."""
        return int(self.plan.skeleton_of.size) // len(self.tasks)

    @property
    def prompts(self) -> int:
        """Prompts of the design, temperatures left out."""
        return len(self.tasks) * len(self.plan.prompts.questions)

    @property
    def answers(self) -> int:
        """Answers of the whole design."""
        return self.prompts * self.temperatures


def write_study(path: Path, labels: Sequence[str], formats: int, questions: int) -> LoadedStudy:
    """The answer-only half of the demo study, for the engine transformers."""
    document: dict[str, Any] = json.loads(json.dumps(preset_document("demo").data))
    document["name"] = "side-by-side"
    document["models"] = [MODEL]
    document["personas"]["only"] = list(labels)
    document["questions"]["sources"] = [{"id": "starter", "format": "starter", "take": questions}]
    factors = {factor["name"]: factor for factor in document["factors"]}
    factors["persona_format"]["levels"] = factors["persona_format"]["levels"][:formats]
    levels = factors["task_format"]["levels"]
    factors["task_format"]["levels"] = [x for x in levels if x["set"]["reading"] == "first_token"]
    path.write_text(dump_yaml(document), "utf-8")
    return load_study(str(path))


def prepare(study_file: Path, loaded: LoadedStudy) -> Work:
    """The study's prompts as the harness is to be given them: the chat template's text, whole."""
    study = loaded.study
    plan = build_plan(study, loaded.personas(), loaded.questions())
    spec = study.models[0]
    assert isinstance(spec, TransformersSpec)
    folder = locate_folder(spec, loaded.base, notify=print).path
    template = HfTokens(folder, spec.label_variants).template
    heat = [factor.name for factor in study.factors].index("temperature")
    skeletons: dict[str, int] = {}
    for p, persona in enumerate(plan.personas):
        for c, levels in enumerate(study.configurations()):
            ids = [level.id for f, level in enumerate(levels) if f != heat]
            skeletons["|".join([persona.id, *ids])] = int(plan.skeleton_of[p, c])
    tasks = {
        name: [
            {
                "context": "".join(
                    s.text for s in template.segments(plan.prompts.messages(row, q))
                ),
                "choices": list(plan.prompts.block(row, q).labels),
                "target": plan.prompts.block(row, q).order.index(question.answer),
            }
            for q, question in enumerate(plan.prompts.questions)
        ]
        for name, row in skeletons.items()
    }
    return Work(plan, study_file, folder, skeletons, tasks)


def run(command: Sequence[object], environment: Mapping[str, str]) -> tuple[str, dict[str, float]]:
    """What a command prints, and what it took from start to end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    done = subprocess.run(
        [str(part) for part in command],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr[-4000:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.stdout, {"seconds": seconds, "cpu_seconds": cpu}


def ask_nongrata(work: Work, out: Path, environment: Mapping[str, str]) -> dict[str, Any]:
    command = (sys.executable, "-m", "nongrata", "run", work.study_file, "--out", out, "--json")
    printed, whole = run(command, environment)
    said = json.loads(printed)
    if said["errors"] or said["requests_before"] or said["answers"] != work.answers:
        sys.exit(f"the run is not what was asked for: {said}")
    return {"passes": said["requests"], "seconds": said["seconds"], "whole_command": whole}


def ask_harness(
    work: Work, python: str, folder: Path, environment: Mapping[str, str], *, own_command: bool
) -> dict[str, Any]:
    result = folder / "result.json"
    told = {
        "folder": str(folder),
        "result": str(result),
        "model": str(work.model_folder),
        "dtype": MODEL["dtype"],
        # the first size that holds a whole run is the last that can matter
        "batch_sizes": [n for n in BATCH_SIZES if n < 2 * len(work.plan.prompts.questions)],
        "repeats": work.temperatures,
        "tasks": work.tasks,
    }
    (folder / "work.json").write_text(json.dumps(told), "utf-8")
    _, whole = run((python, DRIVER, folder / "work.json"), environment)
    found: dict[str, Any] = json.loads(result.read_text("utf-8"))
    found["whole_command"] = whole
    found["own_command"] = None
    if own_command:
        command = (
            *(python, "-m", "lm_eval", "run", "--model", "hf", "--device", "cpu"),
            *("--model_args", f"pretrained={work.model_folder},dtype={MODEL['dtype']}"),
            *("--include_path", folder / "tasks", "--tasks", "one_of_them"),
            *("--batch_size", found["batch_size"]),
        )
        found["own_command"] = run(command, environment)[1]
    return found


@dataclass(frozen=True)
class Pass:
    """What nongrata stored of one prompt."""

    digest: int
    logprobs: np.ndarray
    label_is_first: bool


def stored(work: Work, out: Path) -> dict[tuple[int, int], Pass]:
    """Each pass of a run, by skeleton and question; labels in the order shown."""
    prompts = work.plan.prompts
    skeletons = {int(d): i for i, d in enumerate(prompts.skeleton_digests[:, 0])}
    questions = {int(h): i for i, h in enumerate(prompts.question_hashes)}
    found = {}
    for path in Store(out).paths():
        for row in read_table(path).to_pylist():
            place = skeletons[row["skeleton"]], questions[row["question"]]
            shown = np.array(row["label_logprobs"])[list(prompts.block(*place).order)]
            first = bool(shown.max() >= max(row["other_logprobs"]))
            found[place] = Pass(row["prompt_digest"], shown, first)
    return found


def compare(work: Work, found: Mapping[str, Any], out: Path, record: ModelRecord) -> dict[str, Any]:
    """Whether both read the same tokens and chose the same labels, cell by cell."""
    passes = stored(work, out)
    tokens = record.identity["label_tokens"]
    # what the harness found: by round of runs, then by task
    rounds = [{k: v for one in runs for k, v in one["tasks"].items()} for runs in found["runs"]]
    other_tokens = other_answers = other_accuracies = 0
    apart, margin = 0.0, np.inf
    for name, docs in work.tasks.items():
        mine = [passes[work.skeletons[name], q] for q in range(len(docs))]
        chosen = [int(one.logprobs.argmax()) for one in mine]
        right = sum(a == doc["target"] for a, doc in zip(chosen, docs, strict=True))
        for one, doc in zip(mine, docs, strict=True):
            ids, scored = found["sent"][doc["context"]]
            asked = {label: tokens[label][0] for label in doc["choices"]}
            other_tokens += prompt_digest(ids) != one.digest or scored != asked
            second, top = np.sort(one.logprobs)[-2:]
            margin = min(margin, float(top - second))
        for round_ in rounds:
            said = round_[name]
            other_accuracies += round(said["acc"] * len(docs), 6) != right
            for one, a, logprobs in zip(mine, chosen, said["logprobs"], strict=True):
                theirs = np.array(logprobs)
                other_answers += int(theirs.argmax()) != a
                # the harness adds the log-probability of what it moved from the end of the prompt
                # into the continuation; it is the same for all labels
                gap = (theirs - theirs[0]) - (one.logprobs - one.logprobs[0])
                apart = max(apart, float(np.abs(gap).max()))
    theta = load_run(out).theta
    return {
        "cells": len(work.tasks) * work.temperatures,
        "cells_with_another_accuracy": other_accuracies,
        "answers_that_differ": other_answers,
        "prompts_with_other_tokens": other_tokens,
        "largest_difference_of_a_log_odds": apart,
        "smallest_log_odds_of_a_choice": margin,
        "harness_rounds_equal_to_the_first": sum(round_ == rounds[0] for round_ in rounds),
        "harness_mean_accuracy_by_temperature": [
            float(np.mean([one["acc"] for one in round_.values()])) for round_ in rounds
        ],
        "nongrata_mean_accuracy_by_temperature": {
            str(level): float(theta.sel(temperature=level).mean())
            for level in theta.temperature.values
        },
        "passes_whose_most_probable_token_is_no_label": sum(
            not one.label_is_first for one in passes.values()
        ),
    }


def speeds(work: Work, ours: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """Seconds, answers per second, and how many times faster nongrata is."""
    rounds = [sum(one["seconds"] for one in runs) for runs in found["runs"]]
    ways = {
        "a run for each label, format and temperature": sum(rounds),
        "the same with its request cache on": sum(x["seconds"] for y in found["cached"] for x in y),
        "a run for each label and format only": min(rounds),
        "one run of all of these": found["at_once"]["seconds"],
    }
    mine, passes, prompts = ours["seconds"], ours["passes"], work.prompts * work.temperatures
    return {
        "nongrata": {"seconds": mine, "answers_per_second": work.answers / mine},
        "harness": {
            way: {
                "seconds": seconds,
                "answers_per_second": work.answers / seconds,
                "ratio": seconds / mine,
            }
            for way, seconds in ways.items()
        },
        "ratio": sum(rounds) / mine,
        # holds on a busy machine too, and is too low: it counts nongrata's start and loading
        "least_ratio_of_cpu_time": sum(one["cpu_seconds"] for runs in found["runs"] for one in runs)
        / ours["whole_command"]["cpu_seconds"],
        "ratio_is_the_product_of": {
            "temperatures served by one pass": work.temperatures,
            "cells per distinct prompt": work.prompts / passes,
            "prompts per second": (passes / mine) / (prompts / sum(rounds)),
        },
        "prompts_per_second": {"nongrata": passes / mine, "harness": prompts / sum(rounds)},
    }


def side_by_side(given: argparse.Namespace, folder: Path) -> dict[str, Any]:
    labels, study_file = given.labels.split(","), folder / "study.yaml"
    work = prepare(study_file, write_study(study_file, labels, given.formats, given.questions))
    threads = {} if given.threads is None else {"OMP_NUM_THREADS": str(given.threads)}
    calm = {
        **threads,
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
        "HF_HOME": str(folder / "hf"),
        "TQDM_DISABLE": "1",
    }
    # before and after the harness, in case the machine changes its pace; the slower one counts
    first = ask_nongrata(work, folder / "run-1", threads)
    own_command = not given.no_own_command
    found = ask_harness(work, given.lm_eval_python, folder, calm, own_command=own_command)
    second = ask_nongrata(work, folder / "run-2", threads)
    ours = max(first, second, key=lambda one: one["seconds"])
    record = next(iter(Manifest.read(folder / "run-1").models.values()))
    lengths = [len(ids) for ids, _ in found["sent"].values()]
    big = ("sent", "runs", "at_once", "cached")
    return {
        "work": {
            "labels": len(labels),
            "formats": len(work.tasks) // len(labels),
            "temperatures": work.temperatures,
            "questions": given.questions,
            "answers": work.answers,
            "prompt_tokens": [min(lengths), max(lengths)],
        },
        "speeds": speeds(work, ours, found),
        "same": compare(work, found, folder / "run-1", record),
        "nongrata": {
            **ours,
            "seconds_of_both_runs": [first["seconds"], second["seconds"]],
            "version": __version__,
            "backend": record.identity["backend"],
            "attention": record.identity["attention"],
            "threads": record.provenance["threads"],
        },
        "harness": {key: value for key, value in found.items() if key not in big},
    }


def show(report: Mapping[str, Any]) -> None:
    speed, same, work = report["speeds"], report["same"], report["work"]
    print(f"\n{'':<52}{'seconds':>9}{'answers/s':>11}{'ratio':>7}")
    name = f"nongrata run: {report['nongrata']['passes']} passes, {work['answers']} answers"
    for way, one in {name: {**speed["nongrata"], "ratio": 1.0}, **speed["harness"]}.items():
        rate = one["answers_per_second"]
        print(f"{way:<52}{one['seconds']:>9.1f}{rate:>11.2f}{one['ratio']:>7.2f}")
    parts = speed["ratio_is_the_product_of"].items()
    print(f"ratio {speed['ratio']:.2f} = {' x '.join(f'{v:.2f} ({what})' for what, v in parts)}")
    print(f"whole command: nongrata {report['nongrata']['whole_command']['seconds']:.1f} s")
    if report["harness"]["own_command"]:
        one = report["harness"]["own_command"]["seconds"]
        print(f"the harness's own command, for one of {same['cells']} runs: {one:.1f} s")
    print(
        f"{same['cells']} cells: {same['cells_with_another_accuracy']} accuracies differ, "
        f"{same['answers_that_differ']} answers differ; prompts with other tokens: "
        f"{same['prompts_with_other_tokens']}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--lm-eval-python", required=True, metavar="PATH", help="an interpreter that has it")
    add("--labels", default=LABELS, help="ids, with commas between them")
    add("--formats", type=int, default=4, help="persona formats, 1 to 4")
    add("--questions", type=int, default=10)
    add("--threads", type=int, help="of both; by default PyTorch's own choice")
    add("--no-own-command", action="store_true", help="leave out the harness's own command")
    add("--least", type=float, default=5.0, help="ratio that is to be reached")
    given = parser.parse_args()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        report = side_by_side(given, Path(name))
    report["benchmark_seconds"] = time.perf_counter() - began
    print(json.dumps(report, indent=2))
    show(report)
    same = report["same"]
    if any(same[key] for key in ("cells_with_another_accuracy", "answers_that_differ",
                                 "prompts_with_other_tokens")):  # fmt: skip
        sys.exit("the two do not agree")
    if report["speeds"]["ratio"] < given.least:
        sys.exit(f"the ratio is below {given.least}")


if __name__ == "__main__":
    main()
