"""vLLM's offline engine in this process: models in the Hugging Face form, on one GPU or several.

vLLM decides which requests are computed together; here they are put in an order in which it can
reuse what they share, named in full, and read.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from nongrata.engines.base import Batch, Capabilities, Generations, Likelihoods, Scores, Tick
from nongrata.engines.file_cache import cache_folder
from nongrata.engines.hf_files import ModelFolder, locate_folder
from nongrata.engines.hf_tokens import HfTokens
from nongrata.engines.vllm_calls import (
    NEUTRAL,
    SAMPLER_ORDER,
    Call,
    Finished,
    answer_all,
    generation_params,
    label_params,
    refuse_other_order,
    sampling_params,
    score_params,
    too_long,
)
from nongrata.engines.vllm_library import (
    LoadedModel,
    import_vllm,
    model_arguments,
    platform_of,
)
from nongrata.engines.vllm_likelihoods import Continuations
from nongrata.engines.vllm_results import ScoreRows, collect_generations
from nongrata.model_specs import VllmSpec
from nongrata.prompts import Decoding, Messages

_LONGEST_DEFAULT_CONTEXT = 4096
_BLOCK = 4096
_BLOCK_WITHOUT_GPU = 192


class VllmEngine:
    """Answers from a model that vLLM has loaded.

    Parameters
    ----------
    spec
        The model's description.
    folder
        The folder it names.
    tokens
        Its tokenizer and chat template.
    library
        The module ``vllm``; tests give an imitation.

    Examples
    --------
    >>> spec = VllmSpec(id="demo", engine="vllm", builtin="smollm2-135m-instruct")
    >>> with VllmEngine.open(spec, Path()) as engine:  # doctest: +SKIP
    ...     engine.score(batch)
    """

    kind = "vllm"

    def __init__(self, spec: VllmSpec, folder: ModelFolder, tokens: HfTokens, library: Any) -> None:
        self._spec, self._folder, self._tokens, self._library = spec, folder, tokens, library
        self._model: LoadedModel | None = None
        self._identity: dict[str, Any] = {}
        self._provenance: dict[str, Any] = {
            "origin": folder.origin,
            "folder": folder.path.name,
            "template": tokens.template.report(),
            "served": self._served(),
        }
        self._params: dict[tuple[Decoding, float], Mapping[str, Any]] = {}
        self.capabilities = Capabilities(
            label_logprobs="full" if spec.n_logprobs == -1 else "top_n",
            deterministic_at_zero=False,
            is_model=True,
            likelihoods=True,
        )
        # vLLM schedules by itself: the more it is given, the better
        self.block = _BLOCK_WITHOUT_GPU if platform_of(library) == "cpu" else _BLOCK

    @classmethod
    def open(
        cls,
        spec: VllmSpec,
        base: Path,
        *,
        cache: Path | None = None,
        notify: Callable[[str], None] | None = None,
    ) -> Self:
        """Find or fetch the model a description names.

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
        library = import_vllm()
        kept = cache_folder() if cache is None else cache
        folder = locate_folder(spec, base, cache=kept, notify=notify)
        if notify is not None:
            notify(f"loading {spec.id} into vLLM; the first time this can take minutes")
        return cls(spec, folder, HfTokens(folder.path, spec.label_variants), library)

    @property
    def identity(self) -> Mapping[str, Any]:
        """Everything that can change an answer; complete once the model is loaded."""
        if self._model is None:
            raise RuntimeError("the engine is used outside its 'with' block")
        return self._identity

    @property
    def provenance(self) -> Mapping[str, Any]:
        """What is worth recording but cannot change an answer."""
        return self._provenance

    @property
    def tokens(self) -> HfTokens:
        """The model's tokenizer and chat template."""
        return self._tokens

    @property
    def llm(self) -> Any:
        """The ``vllm.LLM`` in use; for measurements beside the engine's own."""
        return self._loaded.llm

    def __enter__(self) -> Self:
        started = time.perf_counter()
        spec = self._spec
        context = _context(spec, self._folder.path)
        arguments = model_arguments(
            self._library,
            self._folder.path,
            dtype=spec.dtype,
            context=context,
            n_logprobs=spec.n_logprobs,
            tensor_parallel_size=spec.tensor_parallel_size,
            served=self._served(),
            options=spec.options,
        )
        self._model = model = LoadedModel(self._library, arguments)
        try:
            self._identity = self._identify(model)
            self._provenance |= model.report()
            self._provenance["self_check"] = self._tokens.self_check()
            self._warm_up()
        except BaseException:
            self._stop()
            raise
        self._provenance["load_seconds"] = round(time.perf_counter() - started, 3)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()

    def prompt_tokens(self, messages: Messages) -> tuple[int, ...]:
        """The token ids sent for a prompt.

        Raises
        ------
        NongrataError
            If there is a system text, and the model's template has no place for one.
        ValueError
            If the prompt cannot be sent as the text it is.
        """
        return self._tokens.prompt_tokens(messages)

    def score(self, batch: Batch, tick: Tick | None = None) -> Scores:
        """Next-token probabilities at temperature 1."""
        labels = [batch.labels(i) for i in range(len(batch))]
        self._tokens.labels.require(labels)
        n_logprobs = self._n_logprobs()
        rows = ScoreRows(labels, self._tokens.labels, complete=n_logprobs == -1, heats=batch.heats)
        asked = sampling_params(self._library, score_params(n_logprobs, self._tokens.ends))
        prompts, errors = self._prompts(batch, answer=lambda _: 1)
        calls = [Call(i, tokens, asked) for i, (tokens, _) in prompts.items()]
        if tick is not None and errors:
            tick(len(errors))
        again: dict[int, list[int]] = {}
        for finished in self._answers(calls, errors, tick):
            i = finished.call.index
            try:
                unknown = rows.add(finished)
            except ValueError as error:
                errors[i] = str(error)
                continue
            if unknown:
                again[i] = unknown
        if self._tells_labels():
            self._ask_again(rows, {i: prompts[i][0] for i in again}, again)
        return rows.scores(errors)

    def generate(self, batch: Batch, tick: Tick | None = None) -> Generations:
        """Texts, with each request's own seed."""
        prompts, errors = self._prompts(batch, answer=lambda decoding: decoding.max_tokens)
        calls = []
        for i, (tokens, decoding) in prompts.items():
            heat = float(batch.temperature[i])
            calls.append(Call(i, tokens, self._sampling(decoding, heat, batch.seed(i))))
        if tick is not None and errors:
            tick(len(errors))
        finished = list(self._answers(calls, errors, tick))
        return collect_generations(len(batch), finished, errors, self._tokens)

    def likelihoods(self, batch: Batch, tick: Tick | None = None) -> Likelihoods:
        """Log-likelihoods of the options' own texts, after the prompt and without its question."""
        asked = Continuations(batch, self._tokens, self._limit, self._library)
        problems: dict[int, str] = {}
        if tick is not None and asked.errors:
            tick(len(asked.errors))
        for finished in self._answers(asked.calls(), problems, None):
            done = asked.add(finished)
            if tick is not None and done:
                tick(done)
        done = asked.fail(problems)
        if tick is not None and done:
            tick(done)
        return asked.likelihoods()

    def forget(self) -> bool:
        """Drop what was computed for earlier prompts."""
        return self._loaded.forget()

    @property
    def _loaded(self) -> LoadedModel:
        if self._model is None:
            raise RuntimeError("the engine is used outside its 'with' block")
        return self._model

    @property
    def _limit(self) -> int:
        return int(self._loaded.config.model_config.max_model_len)

    def _served(self) -> dict[str, Any]:
        spec = self._spec
        return {
            "gpu_memory_utilization": spec.gpu_memory_utilization,
            "max_num_seqs": spec.max_num_seqs,
        }

    def _identify(self, model: LoadedModel) -> dict[str, Any]:
        spec = self._spec
        return {
            "engine": self.kind,
            "backend": f"vllm {getattr(self._library, '__version__', 'none')}",
            "weights_sha256": self._folder.sha256,
            **model.facts(),
            "tensor_parallel_size": spec.tensor_parallel_size,
            "options": spec.options,
            "n_logprobs": self._n_logprobs(),
            "labels_asked_by_name": self._tells_labels(),
            "samplers": list(SAMPLER_ORDER),
            "samplers_off": dict(NEUTRAL),
            **self._tokens.identity(),
        }

    def _n_logprobs(self) -> int:
        """How many tokens are read; -1 if that is all there are."""
        size = int(self._loaded.config.model_config.get_vocab_size())
        return -1 if self._spec.n_logprobs >= size else self._spec.n_logprobs

    def _tells_labels(self) -> bool:
        """Whether this vLLM tells the probability of a token asked for by name."""
        return hasattr(self._library.SamplingParams, "logprob_token_ids")

    def _prompts(
        self, batch: Batch, answer: Callable[[Decoding], int]
    ) -> tuple[dict[int, tuple[tuple[int, ...], Decoding]], dict[int, str]]:
        """Tokens of each request that can be sent, and why the others cannot."""
        prompts: dict[int, tuple[tuple[int, ...], Decoding]] = {}
        errors: dict[int, str] = {}
        known: dict[tuple[int, int, str], tuple[tuple[int, ...], Decoding] | str] = {}
        limit = self._limit
        for i in range(len(batch)):
            place = batch.same_prompt(i)
            if place not in known:
                messages = batch.messages(i)
                try:
                    tokens = self.prompt_tokens(messages)
                except ValueError as error:
                    known[place] = str(error)
                else:
                    room = answer(messages.decoding)
                    known[place] = too_long(len(tokens), room, limit) or (
                        tokens,
                        messages.decoding,
                    )
            prompt = known[place]
            if isinstance(prompt, str):
                errors[i] = prompt
            else:
                prompts[i] = prompt
        return prompts, errors

    def _sampling(self, decoding: Decoding, temperature: float, seed: int) -> Any:
        """Sampling parameters of one text; what does not depend on the seed is checked once."""
        if (decoding, temperature) not in self._params:
            refuse_other_order(decoding)
            fields = generation_params(decoding, temperature, 0, self._tokens.ends)
            sampling_params(self._library, fields)
            self._params[decoding, temperature] = fields
        return sampling_params(self._library, {**self._params[decoding, temperature], "seed": seed})

    def _answers(
        self, calls: Sequence[Call], errors: dict[int, str], tick: Tick | None
    ) -> Iterator[Finished]:
        """The answers there are; why there is none goes to `errors`."""
        model = self._loaded
        in_flight = 4 * int(model.config.scheduler_config.max_num_seqs)
        # closing: an interrupt must find nothing under way
        with contextlib.closing(answer_all(self._library, model.llm, calls, in_flight)) as results:
            for result in results:
                if result.error is None:
                    yield result
                else:
                    errors[result.call.index] = result.error
                if tick is not None:
                    tick(1)

    def _ask_again(
        self,
        rows: ScoreRows,
        prompts: Mapping[int, tuple[int, ...]],
        missing: Mapping[int, Sequence[int]],
    ) -> None:
        """Ask by name for spellings that were not among the most probable tokens, and matter.

        It costs little: few requests need it, and most of their prompts is still there. What is
        not told even so stays unknown, which is no error.
        """
        library, ends = self._library, self._tokens.ends
        calls = [
            Call(i, tokens, sampling_params(library, label_params(missing[i], ends)))
            for i, tokens in prompts.items()
        ]
        for finished in self._answers(calls, {}, None):
            rows.fill(finished.call.index, finished.output)

    def _warm_up(self) -> None:
        """Let vLLM compile what it compiles at its first answers, so that no run waits for it."""
        fields = score_params(self._n_logprobs(), self._tokens.ends)
        asked = sampling_params(self._library, fields)
        word = next(iter(self._tokens.ends), 0)
        calls = [Call(i, (word,) * (i + 2), asked) for i in range(3)]
        for _ in self._answers(calls, {}, None):
            pass
        self._loaded.forget()

    def _stop(self) -> None:
        model, self._model = self._model, None
        if model is not None:
            model.close()


def _context(spec: VllmSpec, folder: Path) -> int:
    """The context to load the model with."""
    if spec.context is not None:
        return spec.context
    with contextlib.suppress(OSError, ValueError, AttributeError):
        config = json.loads((folder / "config.json").read_text("utf-8"))
        config = config.get("text_config") or config
        trained = config.get("max_position_embeddings")
        if isinstance(trained, int) and trained > 0:
            return min(trained, _LONGEST_DEFAULT_CONTEXT)
    return _LONGEST_DEFAULT_CONTEXT
