"""The transformers library in this process: any causal language model PyTorch can compute.

Beginnings that prompts share are computed once and kept; what follows is computed side by side, in
rows whose padding nobody sees. Nothing of the library's own generation is used, nor any default of
a model's generation config: what is not asked for does not act.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from nongrata.engines.base import Batch, Capabilities, Generations, Likelihoods, Scores, Tick
from nongrata.engines.file_cache import cache_folder
from nongrata.engines.hf_files import ModelFolder, locate_folder
from nongrata.engines.hf_forward import HfModel, Shape
from nongrata.engines.hf_generation import Ask, Row, generated
from nongrata.engines.hf_likelihoods import LikelihoodTable, Remembered, likelihoods
from nongrata.engines.hf_prefixes import Tokens
from nongrata.engines.hf_readout import NOT_FINITE, Counts, ScoreTable
from nongrata.engines.hf_runner import Runner, Text
from nongrata.engines.hf_sampling import SAMPLER_ORDER, Sampling
from nongrata.engines.hf_setup import check_batches, context_limit, device_of
from nongrata.engines.hf_tokens import Continued, HfTokens
from nongrata.errors import MissingExtraError, NongrataError
from nongrata.model_specs import TransformersSpec
from nongrata.prompts import Messages


class TransformersEngine:
    """Answers from a model in the Hugging Face form.

    Parameters
    ----------
    spec
        The model's description.
    folder
        The folder it names.

    Examples
    --------
    >>> spec = TransformersSpec(id="demo", engine="transformers", builtin="smollm2-135m-instruct")
    >>> with TransformersEngine.open(spec, Path()) as engine:  # doctest: +SKIP
    ...     engine.score(batch)
    """

    kind = "transformers"
    capabilities = Capabilities(
        label_logprobs="full", deterministic_at_zero=True, is_model=True, likelihoods=True
    )
    block = 256

    def __init__(self, spec: TransformersSpec, folder: ModelFolder) -> None:
        import torch
        import transformers

        self._spec, self._folder = spec, folder
        self._device = device_of(spec)
        self._shape = Shape.of(folder.path)
        self._limit = context_limit(spec, self._shape.context)
        self._tokens = HfTokens(folder.path, spec.label_variants)
        self._runner: Runner | None = None
        self._remembered = Remembered()
        self._precision = torch.get_float32_matmul_precision()
        on_gpu = self._device.startswith("cuda")
        self.identity: Mapping[str, Any] = {
            "engine": self.kind,
            "model_sha256": folder.sha256,
            "backend": f"torch {torch.__version__}, transformers {transformers.__version__}",
            "dtype": spec.dtype,
            "device": "cuda" if on_gpu else "cpu",
            "attention": self._shape.attention,
            "float32_matmul": "highest",
            "deterministic_algorithms": on_gpu,
            **self._tokens.identity(),
            "samplers": list(SAMPLER_ORDER),
            "draws": "inverse CDF in token order, float64, blake2b of seed and position",
        }
        self._provenance: dict[str, Any] = {
            "origin": folder.origin,
            "folder": folder.path.name,
            # a longer context answers what was too long; it changes no other answer
            "context": self._limit,
            "device": torch.cuda.get_device_name(self._device) if on_gpu else "cpu",
            "threads": torch.get_num_threads(),
            "template": self._tokens.template.report(),
            "self_check": self._tokens.self_check(),
        }

    @classmethod
    def open(
        cls,
        spec: TransformersSpec,
        base: Path,
        *,
        cache: Path | None = None,
        notify: Callable[[str], None] | None = None,
    ) -> Self:
        """Find, fetch or make the model's folder.

        Parameters
        ----------
        spec
            The description.
        base
            Folder that a relative path starts from.
        cache
            Cache folder; by default the user's.
        notify
            Called with one sentence for each step that takes time.
        """
        try:
            import torch  # noqa: F401
            import transformers  # noqa: F401
        except ImportError as error:
            raise MissingExtraError("transformers", "the engine transformers") from error
        folder = cache_folder() if cache is None else cache
        return cls(spec, locate_folder(spec, base, cache=folder, notify=notify))

    @property
    def provenance(self) -> Mapping[str, Any]:
        """What is worth recording but cannot change an answer."""
        return self._provenance

    def __enter__(self) -> Self:
        import torch

        spec, started = self._spec, time.perf_counter()
        torch.set_float32_matmul_precision("highest")
        if self._device.startswith("cuda"):
            os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
            torch.use_deterministic_algorithms(True, warn_only=True)
            torch.utils.deterministic.fill_uninitialized_memory = False
        try:
            model = HfModel(self._folder.path, self._shape, spec.dtype, self._device)
            self._runner = Runner(model, spec.batch_tokens)
            self._provenance["batch_tokens"] = self._runner.batch_tokens
            self._provenance["batch_check"] = check_batches(self._runner, self._tokens, spec)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        self._provenance["load_seconds"] = round(time.perf_counter() - started, 3)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        import torch

        self._runner = None
        self._remembered.clear()
        torch.set_float32_matmul_precision(self._precision)
        if self._device.startswith("cuda"):
            torch.use_deterministic_algorithms(False)
            torch.cuda.empty_cache()

    def prompt_tokens(self, messages: Messages) -> Tokens:
        """The token ids sent for a prompt; errors as in `HfTokens.prompt_tokens`."""
        return self._tokens.prompt_tokens(messages)

    def score(self, batch: Batch, tick: Tick | None = None) -> Scores:
        """Next-token probabilities at temperature 1; every token of the model is seen."""
        offered = [batch.labels(i) for i in range(len(batch))]
        labels = self._tokens.labels
        labels.require(offered)
        table = ScoreTable(
            [[labels.of(label) for label in shown] for shown in offered],
            len(labels.variants),
            batch.heats,
        )
        same: dict[tuple[Tokens, tuple[str, ...]], list[int]] = {}
        for i, prompt in self._prompts(batch, table.errors, tick).items():
            same.setdefault((prompt, offered[i]), []).append(i)
        asked = list(same)
        for computed in self._open().run([Text(tokens) for tokens, _ in asked]):
            requests = [same[asked[member]] for member in computed.members]
            table.read([alike[0] for alike in requests], computed.logits[:, -1])
            for member, alike, cached in zip(
                computed.members, requests, computed.cached, strict=True
            ):
                table.counts.share(alike, asked[member][0], cached)
                for i in alike[1:]:
                    table.copy(alike[0], i)
            _tick(tick, sum(map(len, requests)))
        return table.scores()

    def generate(self, batch: Batch, tick: Tick | None = None) -> Generations:
        """Texts, with each request's own seed."""
        n = len(batch)
        errors: dict[int, str] = {}
        same: dict[Ask, list[int]] = {}
        for i, prompt in self._prompts(batch, errors, tick).items():
            same.setdefault(_ask(batch, i, prompt), []).append(i)
        asks = list(same)
        rows: dict[int, Row] = {}
        counts = Counts(n)
        ends = frozenset(self._tokens.ends)
        for row in generated(self._open(), asks, ends, self._tokens.text):
            alike = same[row.ask]
            counts.share(alike, row.ask.tokens, row.cached)
            for i in alike:
                rows[i] = row
                if row.error is not None:
                    errors[i] = row.error
            _tick(tick, len(alike))
        said = ["" if i in errors else rows[i].text for i in range(n)]
        texts = {text: row for row, text in enumerate(dict.fromkeys(said))}
        return Generations(
            texts=tuple(texts),
            text=np.array([texts[text] for text in said], dtype=np.int32),
            truncated=np.array([i in rows and rows[i].truncated for i in range(n)], dtype=np.bool_),
            completion_tokens=np.array(
                [len(rows[i].tokens) if i in rows else 0 for i in range(n)], dtype=np.int32
            ),
            prompt_tokens=counts.prompt,
            cached_tokens=counts.cached,
            prompt_digest=counts.digest,
            errors=errors,
        )

    def likelihoods(self, batch: Batch, tick: Tick | None = None) -> Likelihoods:
        """Log-likelihoods of the options' texts, after the prompt and after its baseline."""
        n = len(batch)
        errors: dict[int, str] = {}
        known: dict[Any, Continued | str] = {}
        asked: dict[int, tuple[Continued, Continued]] = {}
        for i in range(n):
            options = batch.continuations(i)
            pair = []
            for place, messages in (
                ((batch.same_prompt(i), options), batch.messages),
                (("baseline", int(batch.skeleton[i]), options), batch.baseline),
            ):
                if place not in known:
                    known[place] = self._continued(messages(i), options)
                pair.append(known[place])
            problem = next((one for one in pair if isinstance(one, str)), None)
            if problem is None:
                asked[i] = pair[0], pair[1]  # type: ignore[assignment]
            else:
                errors[i] = problem
        _tick(tick, len(errors))
        table = LikelihoodTable(n, max((len(one.texts) for one, _ in asked.values()), default=0))
        self._baselines({one for _, one in asked.values()})
        same: dict[Continued, list[int]] = {}
        for i, (one, _) in asked.items():
            same.setdefault(one, []).append(i)
        prompts = list(same)
        for found in likelihoods(self._open(), prompts):
            one, alike = prompts[found.number], same[prompts[found.number]]
            table.counts.share(alike, one.prompt, found.cached)
            for i in alike:
                baseline = self._remembered.of(asked[i][1])
                if found.error is not None or baseline is None:
                    errors[i] = found.error or NOT_FINITE
                else:
                    table.add(i, one, found.logprobs, baseline)
            _tick(tick, len(alike))
        self._remembered.trim()
        return table.likelihoods(errors)

    def forget(self) -> bool:
        """Drop the kept beginnings and baselines."""
        self._open().prefixes.clear()
        self._remembered.clear()
        return True

    def _baselines(self, wanted: set[Continued]) -> None:
        """Compute the options' likelihoods without a question, where they are not known."""
        missing = [more for one in wanted if (more := self._remembered.missing(one)) is not None]
        for found in likelihoods(self._open(), missing):
            if found.error is None:
                self._remembered.add(missing[found.number], found.logprobs)

    def _continued(self, messages: Messages, options: Sequence[str]) -> Continued | str:
        """A prompt with its options, or why it cannot be sent."""
        try:
            one = self._tokens.continued(messages, options)
        except ValueError as error:
            return str(error)
        longest = max(map(len, one.texts), default=0)
        if longest > self._limit:
            return (
                f"the prompt has {len(one.prompt)} tokens, with its longest option {longest}: "
                f"more than the context of {self._limit}"
            )
        return one

    def _prompts(
        self, batch: Batch, errors: dict[int, str], tick: Tick | None
    ) -> dict[int, Tokens]:
        """The tokens of each request's prompt; why there are none goes to `errors`."""
        known: dict[tuple[int, int, str], Tokens | str] = {}
        prompts: dict[int, Tokens] = {}
        for i in range(len(batch)):
            place = batch.same_prompt(i)
            if place not in known:
                known[place] = self._prompt(batch.messages(i), batch.reading == "free")
            prompt = known[place]
            if isinstance(prompt, str):
                errors[i] = prompt
            else:
                prompts[i] = prompt
        _tick(tick, len(errors))
        return prompts

    def _prompt(self, messages: Messages, generates: bool) -> Tokens | str:
        try:
            tokens = self._tokens.prompt_tokens(messages)
        except ValueError as error:
            return str(error)
        answer = messages.decoding.max_tokens if generates else 1
        if len(tokens) + answer > self._limit:
            return (
                f"the prompt has {len(tokens)} tokens and may be answered with {answer}: "
                f"more than the context of {self._limit}"
            )
        return tokens

    def _open(self) -> Runner:
        if self._runner is None:
            raise RuntimeError("the engine is used outside its 'with' block")
        return self._runner


def _ask(batch: Batch, i: int, tokens: Tokens) -> Ask:
    temperature = float(batch.temperature[i])
    if not math.isfinite(temperature) or temperature < 0:
        raise NongrataError(
            f"a temperature of {temperature} cannot be sampled at", fix="give 0 or more"
        )
    decoding = batch.messages(i).decoding
    # at temperature 0 nothing is drawn, and one text answers all replicates
    sampling = (
        Sampling(temperature, decoding.top_k, decoding.top_p, decoding.min_p, batch.seed(i))
        if temperature > 0
        else Sampling(0.0, 0, 1.0, 0.0, 0)
    )
    return Ask(tokens, sampling, decoding.max_tokens, decoding.stop)


def _tick(tick: Tick | None, count: int) -> None:
    if tick is not None and count:
        tick(count)
