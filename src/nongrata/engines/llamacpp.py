"""llama.cpp in this process: any GGUF model, on any number of cores.

One server per core, each with a few slots, answers a batch from one shared list. The list is
sorted by token ids, so that neighbours share the longest prefix; slots of one server are computed
together, so that the weights are read once for several answers.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from nongrata.engines.base import Batch, Capabilities, Generations, Likelihoods, Scores, Tick
from nongrata.engines.chat_template import ChatTemplate
from nongrata.engines.file_cache import cache_folder, remembered_sha256
from nongrata.engines.gguf_files import GgufMetadata, f32_copy, read_metadata
from nongrata.engines.gguf_template import gguf_chat_template
from nongrata.engines.llamacpp_calls import (
    NEUTRAL_SAMPLERS,
    SAMPLER_ORDER,
    WHOLE_CHARACTER,
    Call,
    Finished,
    answer_all,
    generation_request,
    score_request,
)
from nongrata.engines.llamacpp_results import (
    LabelTokens,
    collect_generations,
    collect_scores,
    has_probabilities,
)
from nongrata.engines.llamacpp_server import LlamaServer, OpenServer, Server, import_xllamacpp
from nongrata.engines.model_files import ModelFile, locate_model
from nongrata.engines.prompt_tokens import PromptTokenizer, Vocabulary, check_text
from nongrata.errors import NongrataError
from nongrata.factors import Reading
from nongrata.model_specs import LlamaCppSpec
from nongrata.prompts import Decoding, Messages

_FIRST_CONTEXT = 512
_LONGEST_DEFAULT_CONTEXT = 4096
_CELLS = 16_384
_SLOTS: Mapping[Reading, int] = {"first_token": 2, "free": 4}
_LISTED_LABELS = ("A", "B", "C", "D", "E", "F", "a", "b", "c", "d", "1", "2", "3", "4")


class LlamaCppEngine:
    """Answers from a GGUF model.

    Parameters
    ----------
    spec
        The model's description.
    source
        The file it names.
    used
        The file that is loaded: the source, or its F32 copy.
    open_server
        How servers are started; tests give an imitation.

    Examples
    --------
    >>> spec = LlamaCppSpec(id="demo", engine="llamacpp", builtin="smollm2-135m-instruct")
    >>> with LlamaCppEngine.open(spec, Path()) as engine:  # doctest: +SKIP
    ...     engine.score(batch)
    """

    kind = "llamacpp"
    capabilities = Capabilities(label_logprobs="top_n", deterministic_at_zero=True, is_model=True)
    block = 192

    def __init__(
        self,
        spec: LlamaCppSpec,
        source: ModelFile,
        used: ModelFile,
        open_server: OpenServer = LlamaServer,
    ) -> None:
        self.source, self.used = source, used
        self._spec, self._open_server = spec, open_server
        self._metadata = read_metadata(used.path)
        self._vocabulary = Vocabulary.of(self._metadata)
        self._template = gguf_chat_template(self._metadata)
        self._labels = LabelTokens(self._vocabulary, spec.label_variants)
        self._limit = _context_limit(spec, self._metadata)
        self._workers = spec.workers or _cores()
        self._servers: list[Server] = []
        self._context = self._slots = 0
        self._tokenizer: PromptTokenizer | None = None
        backend = import_xllamacpp() if open_server is LlamaServer else None
        self.identity: Mapping[str, Any] = {
            "engine": self.kind,
            "weights_sha256": used.sha256,
            "source_sha256": source.sha256,
            "weights": spec.weights,
            "tensor_types": list(self._metadata.tensor_types),
            "architecture": self._metadata.architecture,
            "backend": f"xllamacpp {getattr(backend, '__version__', 'none')}",
            "kv_cache": "F32",
            "flash_attention": False,
            "template_sha256": self._template.sha256,
            "system_role": self._template.system_role,
            "template_pinned": {**self._template.pinned, "date": self._template.report()["date"]},
            "label_variants": list(spec.label_variants),
            "label_tokens": self._labels.listed(_LISTED_LABELS),
            "n_probs": spec.n_probs,
            "vocabulary_size": len(self._metadata.fields.get("tokenizer.ggml.tokens", ())),
            "samplers": list(SAMPLER_ORDER),
            "samplers_off": dict(NEUTRAL_SAMPLERS),
        }
        self._provenance: dict[str, Any] = {
            "origin": source.origin,
            "source_file": source.path.name,
            "file": used.path.name,
            # a longer context answers what was too long; it changes no other answer
            "context": self._limit,
            "workers": self._workers,
            "threads_per_worker": 1,
            "slots_per_worker": dict(_SLOTS),
            "template": self._template.report(),
            "llama_cpp_build": dict(getattr(backend, "BUILD_INFO", {})),
            "llama_cpp_features": backend.get_system_info() if backend else "",
        }

    @classmethod
    def open(
        cls,
        spec: LlamaCppSpec,
        base: Path,
        *,
        cache: Path | None = None,
        notify: Callable[[str], None] | None = None,
    ) -> Self:
        """Find or fetch the model a description names, and make its F32 copy if it asks for one.

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
        import_xllamacpp()
        folder = cache_folder() if cache is None else cache
        source = locate_model(spec, base, cache=folder, notify=notify)
        if spec.weights == "as_is":
            return cls(spec, source, source)
        path = f32_copy(source.path, folder, notify)
        used = ModelFile(path, remembered_sha256(path, folder), {"f32_copy_of": source.sha256})
        return cls(spec, source, used)

    @property
    def provenance(self) -> Mapping[str, Any]:
        """What is worth recording but cannot change an answer."""
        return self._provenance

    @property
    def template(self) -> ChatTemplate:
        """The model's chat template, pinned."""
        return self._template

    def __enter__(self) -> Self:
        started = time.perf_counter()
        try:
            self._start(min(_FIRST_CONTEXT, self._limit))
            self._tokenizer = PromptTokenizer(
                self._vocabulary, self._tokenize, self._added_bos(self._servers[0])
            )
            self._provenance["self_check"] = self._self_check()
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
        if self._tokenizer is None:
            raise RuntimeError("the engine is used outside its 'with' block")
        segments = self._template.segments(messages)
        for segment in segments:
            check_text(segment.text)
        marker = self._tokenizer.unsayable(segments)
        if marker is not None:
            raise ValueError(
                f"the prompt holds {marker!r}, which this model can only read as control"
            )
        tokens = self._tokenizer(segments)
        if not tokens:
            raise ValueError("the prompt is empty")
        return tokens

    def score(self, batch: Batch, tick: Tick | None = None) -> Scores:
        """Next-token probabilities at temperature 1."""
        labels = [batch.labels(i) for i in range(len(batch))]
        self._labels.require(labels)
        calls, errors = self._calls(batch)
        finished = self._answer(calls, errors, tick, "first_token")
        finished = self._completed(calls, finished, errors)
        return collect_scores(
            labels,
            self._labels,
            finished,
            errors,
            batch.heats,
            self.identity["vocabulary_size"],
        )

    def _completed(
        self, calls: list[Call], finished: list[Finished], errors: dict[int, str]
    ) -> list[Finished]:
        """Ask again where the token drawn was a part of a character.

        The server keeps such a token back, and its probabilities with it. A grammar makes it draw
        another one; what is reported are the model's own probabilities all the same.
        """
        lost = {result.index for result in finished if not has_probabilities(result)}
        again = [
            replace(call, request={**call.request, "grammar": WHOLE_CHARACTER})
            for call in calls
            if call.index in lost
        ]
        kept = [result for result in finished if result.index not in lost]
        return kept + self._answer(again, errors, None, "first_token") if again else finished

    def generate(self, batch: Batch, tick: Tick | None = None) -> Generations:
        """Texts, with each request's own seed."""
        calls, errors = self._calls(batch)
        finished = self._answer(calls, errors, tick, "free")
        return collect_generations(len(batch), finished, errors)

    def likelihoods(self, batch: Batch, tick: Tick | None = None) -> Likelihoods:  # noqa: ARG002
        """Refuse: llama.cpp's server does not tell the probability of a given text."""
        raise NongrataError(
            "llama.cpp's server gives no likelihood of a given text, which reading: cloze needs",
            where=f"models.{self._spec.id}",
            fix="use engine: transformers or vllm",
        )

    def forget(self) -> bool:
        """Drop all cached prompts, by starting the servers anew."""
        context = self._context
        self._stop()
        self._start(context)
        return True

    def _calls(self, batch: Batch) -> tuple[list[Call], dict[int, str]]:
        """The requests to send, and why the others are not sent."""
        calls: list[Call] = []
        errors: dict[int, str] = {}
        known: dict[tuple[int, int, str], tuple[tuple[int, ...], Decoding] | str] = {}
        for i in range(len(batch)):
            place = batch.same_prompt(i)
            if place not in known:
                messages = batch.messages(i)
                try:
                    known[place] = (self.prompt_tokens(messages), messages.decoding)
                except ValueError as error:
                    known[place] = str(error)
            prompt = known[place]
            if isinstance(prompt, str):
                errors[i] = prompt
                continue
            tokens, decoding = prompt
            if batch.reading == "first_token":
                call = Call(i, tokens, score_request(tokens, self._spec.n_probs), 1)
            else:
                request = generation_request(
                    tokens, decoding, float(batch.temperature[i]), batch.seed(i)
                )
                call = Call(i, tokens, request, decoding.max_tokens)
            if call.size > self._limit:
                errors[i] = (
                    f"the prompt has {len(tokens)} tokens and may be answered with {call.answer}: "
                    f"more than the context of {self._limit}"
                )
            else:
                calls.append(call)
        return calls, errors

    def _answer(
        self, calls: list[Call], errors: dict[int, str], tick: Tick | None, reading: Reading
    ) -> list[Finished]:
        if tick is not None and errors:
            tick(len(errors))
        if not calls:
            return []
        self._make_room(max(call.size for call in calls))
        slots = min(_SLOTS[reading], self._slots)
        finished = []
        # closing: an interrupt must find the lanes at rest before the servers are freed
        with contextlib.closing(answer_all(self._servers, calls, slots)) as results:
            for result in results:
                if result.error is None:
                    finished.append(result)
                else:
                    errors[result.index] = result.error
                if tick is not None:
                    tick(1)
        return finished

    def _make_room(self, need: int) -> None:
        """Start the servers anew with a longer context if the longest prompt needs it."""
        if need <= self._context:
            return
        context = self._context
        while context < need:
            context *= 2
        self._stop()
        self._start(min(context, self._limit))

    def _start(self, context: int) -> None:
        self._context = context
        # Longer prompts get fewer slots, so that the cache stays within bounds.
        self._slots = max(1, min(max(_SLOTS.values()), _CELLS // context))

        def start(_: int) -> Server:
            return self._open_server(self.used.path, context=context, slots=self._slots, threads=1)

        with ThreadPoolExecutor(self._workers) as pool:
            futures = [pool.submit(start, worker) for worker in range(self._workers)]
        self._servers = [f.result() for f in futures if f.exception() is None]
        failures = [failure for f in futures if (failure := f.exception()) is not None]
        if failures:
            self._stop()
            raise failures[0]

    def _stop(self) -> None:
        while self._servers:
            self._servers.pop().close()

    def _tokenize(self, text: str) -> Sequence[int]:
        return self._servers[0].tokenize(text)

    def _added_bos(self, server: Server) -> int | None:
        """The token the tokenizer puts before a whole prompt, if it puts one."""
        bare, whole = server.tokenize("a"), server.tokenize("a", whole=True)
        added = len(whole) > len(bare) and whole[: len(bare)] != bare
        return whole[0] if added else None

    def _self_check(self) -> dict[str, Any]:
        """Whether llama.cpp, left to itself, would have sent the same tokens."""
        decoding = Decoding(max_tokens=1, top_k=0, top_p=1.0, min_p=0.0, stop=())
        system = "Be brief." if self._template.has_system_role else ""
        messages = Messages(system, "What is 2 + 2?\nA. 3\nB. 4", "", decoding)
        segments = self._template.segments(messages)
        text = "".join(segment.text for segment in segments)
        tokens = list(self.prompt_tokens(messages))
        whole = self._servers[0].tokenize(text, special=True)
        if tokens[:1] != whole[:1]:
            whole = [tokens[0], *whole]
        bos = self._metadata.special_token("bos")
        begins = bos is not None and tokens[0] == bos[0]
        return {
            "same_tokens_as_whole_prompt": tokens == whole,
            "begins_with_bos": begins,
            "begins_with_bos_twice": begins and tokens[0] == tokens[1],
        }


def _context_limit(spec: LlamaCppSpec, metadata: GgufMetadata) -> int:
    trained = metadata.context_length
    if spec.context is None:
        return min(trained or _LONGEST_DEFAULT_CONTEXT, _LONGEST_DEFAULT_CONTEXT)
    if trained and spec.context > trained:
        raise NongrataError(
            f"the model was trained for {trained} tokens of context, not {spec.context}",
            where=f"models.{spec.id}.context",
            fix=f"give at most {trained}",
        )
    return spec.context


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1
