"""The part of `lm_eval_side_by_side.py` that runs where lm-evaluation-harness is installed.

It imports nothing of this package. Its argument is a JSON file that says what to do; what it
measured goes into another one.

lm-evaluation-harness is given its best here: one process, the model loaded once, tasks built
before the clock starts and kept from run to run, its batch size chosen by trying, no bootstrap of
standard errors, no progress bars, no report about the environment, no network.
"""

# mypy: disable-error-code="import-not-found"

from __future__ import annotations

import importlib.metadata
import json
import platform
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

Docs = Sequence[Mapping[str, Any]]
Sent = dict[str, tuple[list[int], dict[str, int]]]
"""By context: the token ids the model reads, and the token that is scored, by continuation."""


def recording(pretrained: str, dtype: str) -> Any:
    """The hf backend on this machine's CPU; it also keeps the token ids of what it scores."""
    from lm_eval.models.huggingface import HFLM

    class Recording(HFLM):  # type: ignore[misc]
        def __init__(self, **given: Any) -> None:
            self.sent: Sent = {}
            super().__init__(**given)

        def _loglikelihood_tokens(self, requests: Any, *args: Any, **further: Any) -> Any:
            for (context, choice), before, scored in requests:
                ids = [*before, *scored]
                self.sent.setdefault(context, (ids[:-1], {}))[1][choice.strip()] = ids[-1]
            return super()._loglikelihood_tokens(requests, *args, **further)

    return Recording(pretrained=pretrained, dtype=dtype, device="cpu", batch_size=1)


def task_config(name: str) -> dict[str, Any]:
    """A multiple-choice task over documents with context, choices and target."""
    return {
        "task": name,
        "test_split": "test",
        "output_type": "multiple_choice",
        "doc_to_text": "context",
        "doc_to_choice": "choices",
        "doc_to_target": "target",
        "target_delimiter": "",
        "num_fewshot": 0,
        "metric_list": [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}],
    }


def built_task(name: str, docs: Docs) -> Any:
    """A task over documents in memory."""
    import datasets
    from lm_eval.api.task import ConfigurableTask

    rows = datasets.Dataset.from_list([dict(doc) for doc in docs])
    config = {**task_config(name), "custom_dataset": lambda **_: {"test": rows}}
    return ConfigurableTask(config=config)


def write_task(folder: Path, name: str, docs: Docs) -> None:
    """The same as files, for the harness's own command."""
    folder.mkdir()
    rows = folder / f"{name}.jsonl"
    rows.write_text("".join(json.dumps(doc) + "\n" for doc in docs), "utf-8")
    from_file = {"dataset_path": "json", "dataset_kwargs": {"data_files": {"test": str(rows)}}}
    # JSON is YAML
    (folder / f"{name}.yaml").write_text(json.dumps({**task_config(name), **from_file}), "utf-8")


class Harness:
    """lm-evaluation-harness with its model and tasks ready."""

    def __init__(self, lm: Any, tasks: Mapping[str, Any]) -> None:
        self.lm, self.tasks = lm, tasks

    def run(self, names: Sequence[str], lm: Any = None) -> dict[str, Any]:
        """One call of `evaluate`: its seconds, and of each task accuracy and log-likelihoods."""
        from lm_eval import evaluate

        began, began_cpu = time.perf_counter(), time.process_time()
        found: Any = evaluate(
            lm=self.lm if lm is None else lm,
            task_dict={"tasks": {name: self.tasks[name] for name in names}},
            bootstrap_iters=0,
        )
        seconds, cpu = time.perf_counter() - began, time.process_time() - began_cpu
        said = {
            name: {
                "acc": found["results"][name]["acc,none"],
                "logprobs": [
                    [float(one[0]) for one in doc["filtered_resps"]]
                    for doc in sorted(found["samples"][name], key=lambda doc: doc["doc_id"])
                ],
            }
            for name in names
        }
        return {"seconds": seconds, "cpu_seconds": cpu, "tasks": said}

    def choose_batch(self, sizes: Sequence[int]) -> dict[int, float]:
        """Try batch sizes on the first task, keep the fastest; seconds of each."""
        names = list(self.tasks)[:1]
        self.run(names)  # whatever happens once only
        tried = {}
        for size in sizes:
            self.lm.batch_size_per_gpu = size
            tried[size] = self.run(names)["seconds"]
        self.lm.batch_size_per_gpu = min(tried, key=lambda size: tried[size])
        return tried


def timed(what: Callable[[], Any]) -> tuple[Any, float]:
    began = time.perf_counter()
    return what(), time.perf_counter() - began


def main() -> None:
    work = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    folder = Path(work["folder"])
    began = time.perf_counter()
    import torch
    import transformers
    from lm_eval.api.model import CachingLM
    from lm_eval.utils import setup_logging

    setup_logging("ERROR")
    importing = time.perf_counter() - began
    lm, loading = timed(lambda: recording(work["model"], work["dtype"]))
    tasks, building = timed(
        lambda: {name: built_task(name, docs) for name, docs in work["tasks"].items()}
    )
    first = next(iter(tasks))
    write_task(folder / "tasks", "one_of_them", work["tasks"][first])
    harness = Harness(lm, tasks)
    tried = harness.choose_batch(work["batch_sizes"])
    repeats = range(work["repeats"])
    runs = [[harness.run([name]) for name in tasks] for _ in repeats]
    at_once = harness.run(list(tasks))
    cache = CachingLM(lm, str(folder / "requests.db"))
    cached = [[harness.run([name], cache) for name in tasks] for _ in repeats]
    result = {
        "versions": {
            "lm_eval": importlib.metadata.version("lm_eval"),
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            "python": platform.python_version(),
        },
        "dtype": str(next(lm.model.parameters()).dtype),
        "attention": str(lm.model.config._attn_implementation),  # noqa: SLF001
        "threads": torch.get_num_threads(),
        "loading_seconds": {"import": importing, "model": loading, "tasks": building},
        "batch_size": lm.batch_size_per_gpu,
        "batch_sizes_tried": tried,
        "sent": lm.sent,
        "runs": runs,
        "at_once": at_once,
        "cached": cached,
    }
    Path(work["result"]).write_text(json.dumps(result), "utf-8")


if __name__ == "__main__":
    main()
