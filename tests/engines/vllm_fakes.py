"""An imitation of vLLM and of a tokenizer, small enough to read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from llamacpp_fakes import Table, batch, messages
from numpy.typing import NDArray

from nongrata.engines.base import Batch
from nongrata.engines.hf_files import ModelFolder
from nongrata.engines.hf_tokens import Continued, HfTokens
from nongrata.engines.label_tokens import LabelTokens
from nongrata.engines.prompt_tokens import Vocabulary
from nongrata.engines.vllm import VllmEngine
from nongrata.model_specs import VllmSpec
from nongrata.prompts import Messages

END = 0
SIZE = 128
LIMIT = 200


class Tokens:
    """Characters are tokens; 0 ends an answer; labels are single characters."""

    ends = (END,)
    template = SimpleNamespace(report=lambda: {"rendered": "{user}"})

    def __init__(self) -> None:
        names = ["<end>", *(chr(i) for i in range(1, SIZE))]
        self.labels = LabelTokens(Vocabulary(names, [3] + [1] * (SIZE - 1), ""), ("{label}", "({"))

    def prompt_tokens(self, messages: Messages) -> tuple[int, ...]:
        text = messages.system + messages.user + messages.prefill
        if "\ud83d" in text:
            raise ValueError("the prompt holds a lone surrogate, U+D83D")
        return tuple(ord(c) for c in text)

    def continued(self, messages: Messages, continuations: Sequence[str]) -> Continued:
        prompt = self.prompt_tokens(messages)
        texts = tuple(prompt + tuple(ord(c) for c in text) for text in continuations)
        return Continued(prompt, len(prompt), texts)

    def text(self, tokens: Sequence[int]) -> str:
        return "".join(chr(token) for token in tokens)

    def identity(self) -> dict[str, Any]:
        return {"template_sha256": "0" * 64}

    def self_check(self) -> dict[str, Any]:
        return {"begins_with_bos_twice": False}


def next_logprobs(tokens: Sequence[int]) -> NDArray[np.float64]:
    """The imitation's next-token distribution: falling, and turned by what was said before."""
    logits = -0.1 * ((np.arange(SIZE) * 37 + 11 * sum(tokens)) % SIZE)
    return np.asarray(logits - np.log(np.exp(logits).sum()))


@dataclass
class OldSamplingParams:
    """Of a vLLM that cannot be asked for given tokens."""

    n: int = 1
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    repetition_penalty: float = 1.0
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    seed: int | None = None
    stop: list[str] | None = None
    stop_token_ids: list[int] | None = None
    ignore_eos: bool = False
    max_tokens: int | None = 16
    min_tokens: int = 0
    logprobs: int | None = None
    prompt_logprobs: int | None = None
    detokenize: bool = True
    skip_special_tokens: bool = True
    spaces_between_special_tokens: bool = True
    include_stop_str_in_output: bool = False
    logit_bias: Mapping[int, float] | None = None
    allowed_token_ids: list[int] | None = None
    bad_words: list[str] | None = None
    output_kind: str = "cumulative"

    def __post_init__(self) -> None:
        if self.temperature > 2:
            raise ValueError(f"temperature must be in [0, 2], got {self.temperature}.")
        if 0 < self.temperature < 0.01:  # as vLLM does, with a warning that nobody reads
            self.temperature = 0.01


@dataclass
class SamplingParams(OldSamplingParams):
    flat_logprobs: bool = False
    logprob_token_ids: list[int] | None = None


@dataclass
class FlatLogprobs:
    token_ids: list[int]
    logprobs: list[float]
    start_indices: list[int] = field(default_factory=lambda: [0])
    end_indices: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.end_indices)


class LlmEngine:
    """Answers three requests a step, in the order in which they came."""

    def __init__(self, arguments: Mapping[str, Any], answer: Callable[..., Any] | None) -> None:
        self.answer = answer or answer_request
        self.asked: list[tuple[str, tuple[int, ...], SamplingParams]] = []
        self.waiting: dict[str, tuple[tuple[int, ...], SamplingParams]] = {}
        self.aborted: list[str] = []
        self.most = self.forgotten = self.shut_down = self.steps = 0
        self.fails_at_step: int | None = None
        self.engine_core = SimpleNamespace(shutdown=self._shut_down)
        size = arguments["max_model_len"]
        self.vllm_config = SimpleNamespace(
            model_config=SimpleNamespace(
                dtype=f"torch.{arguments['dtype']}",
                quantization=arguments.get("quantization"),
                enforce_eager=arguments.get("enforce_eager", False),
                max_model_len=size,
                get_vocab_size=lambda: SIZE,
            ),
            cache_config=SimpleNamespace(
                cache_dtype="auto", enable_prefix_caching=True, block_size=16
            ),
            scheduler_config=SimpleNamespace(max_num_seqs=4, max_num_batched_tokens=4096),
            compilation_config=SimpleNamespace(static_forward_context={"layer": _Layer()}),
        )

    def _shut_down(self) -> None:
        self.shut_down += 1

    def add_request(self, name: str, prompt: Mapping[str, Any], params: SamplingParams) -> None:
        assert name not in self.waiting
        tokens = tuple(prompt["prompt_token_ids"])
        if not tokens:
            raise ValueError("The decoder prompt cannot be empty\nsecond line")
        self.asked.append((name, tokens, params))
        self.waiting[name] = tokens, params
        self.most = max(self.most, len(self.waiting))

    def step(self) -> list[Any]:
        self.steps += 1
        if self.steps == self.fails_at_step:
            raise RuntimeError("out of memory\nat line 3")
        names = list(self.waiting)[:3]
        return [self.answer(name, *self.waiting.pop(name)) for name in names]

    def abort_request(self, names: Iterable[str]) -> None:
        self.aborted += names
        for name in names:
            self.waiting.pop(name, None)

    def reset_prefix_cache(self) -> bool:
        self.forgotten += 1
        return True


class _Layer:
    def get_attn_backend(self) -> Any:
        return SimpleNamespace(get_name=lambda: "FLASH_ATTN")


def answer_request(name: str, tokens: tuple[int, ...], params: SamplingParams) -> Any:
    """One finished request: the most probable tokens, or the numbers of its seed as a text."""
    logprobs = next_logprobs(tokens)
    best = int(logprobs.argmax())
    said = [best]
    if params.max_tokens and params.max_tokens > 1:
        said = [ord(c) for c in str(params.seed)]
        said = said[: params.max_tokens] if len(said) >= params.max_tokens else [*said, END]
    ids: list[int] = []
    returned: Any = None
    if getattr(params, "logprob_token_ids", None) is not None:
        ids = [best, *list(getattr(params, "logprob_token_ids", []))]
    elif params.logprobs is not None:
        count = SIZE if params.logprobs == -1 else params.logprobs
        ids = [best, *np.argsort(-logprobs)[:count].tolist()]
    values = [float(logprobs[token]) for token in ids]
    if ids and getattr(params, "flat_logprobs", False):
        returned = FlatLogprobs(ids, values, end_indices=[len(ids)])
    elif ids:
        pairs = zip(ids, values, strict=True)
        returned = [{token: SimpleNamespace(logprob=value) for token, value in pairs}]
    prompt_logprobs = None
    if params.prompt_logprobs is not None:
        prompt_logprobs = [None] + [
            {tokens[i]: SimpleNamespace(logprob=float(next_logprobs(tokens[:i])[tokens[i]]))}
            for i in range(1, len(tokens))
        ]
    return request_output(name, said, params, logprobs=returned, prompt_logprobs=prompt_logprobs)


def request_output(
    name: str, said: Sequence[int], params: SamplingParams, **more: Any
) -> SimpleNamespace:
    """A RequestOutput."""
    ended = said[-1:] == [END] or (params.max_tokens or 0) > len(said)
    completion = SimpleNamespace(
        text="",
        token_ids=list(said),
        logprobs=more.get("logprobs"),
        finish_reason=more.get("finish_reason", "stop" if ended else "length"),
        stop_reason=more.get("stop_reason"),
    )
    return SimpleNamespace(
        request_id=name,
        finished=True,
        outputs=[completion],
        prompt_logprobs=more.get("prompt_logprobs"),
        num_cached_tokens=more.get("cached", 16),
    )


class Library:
    """Stands for the module ``vllm``."""

    __version__ = "0.0.0"

    def __init__(
        self,
        *,
        device: str = "cuda",
        params: type[OldSamplingParams] = SamplingParams,
        answer: Callable[..., Any] | None = None,
        refuses: Exception | None = None,
    ) -> None:
        self.SamplingParams = params
        self.inputs = SimpleNamespace(
            tokens_input=lambda prompt_token_ids: {
                "type": "token",
                "prompt_token_ids": prompt_token_ids,
            }
        )
        self.sampling_params = SimpleNamespace(
            RequestOutputKind=SimpleNamespace(FINAL_ONLY="final_only")
        )
        self.platforms = SimpleNamespace(current_platform=SimpleNamespace(device_name=device))
        self.arguments: dict[str, Any] = {}
        self._answer, self._refuses = answer, refuses
        self.engine: LlmEngine

    def LLM(self, **arguments: Any) -> Any:  # noqa: N802
        if self._refuses is not None:
            raise self._refuses
        self.arguments = arguments
        self.engine = LlmEngine(arguments, self._answer)
        return SimpleNamespace(llm_engine=self.engine)


def spec(**changes: Any) -> VllmSpec:
    given = {"id": "v", "engine": "vllm", "path": "m", "context": LIMIT, **changes}
    return VllmSpec.model_validate(given)


def engine(library: Library | None = None, **changes: Any) -> VllmEngine:
    folder = ModelFolder(Path("m"), "f" * 64, {"path": "m"})
    tokens = cast("HfTokens", Tokens())
    return VllmEngine(spec(**changes), folder, tokens, library or Library())


@dataclass(frozen=True)
class ClozeTable(Table):
    """Prompts with options; without its question a prompt is ``"?"``."""

    options: tuple[str, ...] = ("xy", "z")

    def continuations(self, skeleton: int, question: int) -> tuple[str, ...]:
        return self.options

    def baseline(self, skeleton: int) -> Messages:
        return messages("?")


def cloze_batch(prompts: Sequence[Messages], options: tuple[str, ...] = ("xy", "z")) -> Batch:
    """One request a prompt."""
    plain = batch(prompts)
    table: Any = ClozeTable(prompts, options=options)
    return replace(plain, reading="cloze", prompts=table)
