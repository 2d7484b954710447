"""What vLLM is sent, with every sampling parameter named, and how a list of calls is answered."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nongrata.engines.vllm_library import reason_of
from nongrata.errors import NongrataError
from nongrata.prompts import Decoding

SAMPLER_ORDER = ("temperature", "min_p", "top_k", "top_p")
"""Order in which vLLM's samplers act; what is sent must mean the same in this package's order."""

NEUTRAL: Mapping[str, Any] = {
    "n": 1,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "repetition_penalty": 1.0,
    "min_tokens": 0,
    "ignore_eos": False,
    "include_stop_str_in_output": False,
    "skip_special_tokens": True,
    "spaces_between_special_tokens": True,
    "prompt_logprobs": None,
    "logit_bias": None,
    "allowed_token_ids": None,
    "bad_words": [],
}
"""Everything else that could change an answer, off by name."""

_GREEDY: Mapping[str, Any] = {
    "temperature": 0.0,
    "top_k": 0,
    "top_p": 1.0,
    "min_p": 0.0,
    "seed": 0,
    "stop": [],
    "max_tokens": 1,
    "detokenize": False,
}


@dataclass(frozen=True, slots=True)
class Call:
    """One request to vLLM.

    Parameters
    ----------
    index
        Its number; unique in a list of calls.
    tokens
        The prompt.
    params
        A ``vllm.SamplingParams``.
    """

    index: int
    tokens: tuple[int, ...]
    params: Any


@dataclass(frozen=True, slots=True)
class Finished:
    """What became of a call: vLLM's ``RequestOutput``, or the reason why there is none."""

    call: Call
    output: Any = None
    error: str | None = None


def score_params(n_logprobs: int, ends: Sequence[int]) -> dict[str, Any]:
    """Ask for the most probable next tokens, before temperature and truncation.

    Examples
    --------
    >>> asked = score_params(200, (2,))
    >>> asked["logprobs"], asked["max_tokens"], asked["temperature"]
    (200, 1, 0.0)
    """
    return {**NEUTRAL, **_GREEDY, "logprobs": n_logprobs, "stop_token_ids": list(ends)}


def label_params(tokens: Sequence[int], ends: Sequence[int]) -> dict[str, Any]:
    """Ask for the probabilities of given next tokens, however improbable they are.

    Examples
    --------
    >>> label_params((5, 6), ())["logprob_token_ids"]
    [5, 6]
    """
    return {
        **NEUTRAL,
        **_GREEDY,
        "logprobs": None,
        "logprob_token_ids": list(tokens),
        "stop_token_ids": list(ends),
    }


def likelihood_params(ends: Sequence[int]) -> dict[str, Any]:
    """Ask how probable each token of the prompt was.

    Examples
    --------
    >>> likelihood_params(())["prompt_logprobs"]
    0
    """
    ours = {"logprobs": None, "prompt_logprobs": 0, "stop_token_ids": list(ends)}
    return {**NEUTRAL, **_GREEDY, **ours}


def generation_params(
    decoding: Decoding, temperature: float, seed: int, ends: Sequence[int]
) -> dict[str, Any]:
    """Ask for a text; nothing is left to vLLM or to the model's generation config.

    Examples
    --------
    >>> decoding = Decoding(max_tokens=24, top_k=0, top_p=0.9, min_p=0.0, stop=())
    >>> asked = generation_params(decoding, 0.5, 7, (2,))
    >>> asked["temperature"], asked["top_p"], asked["seed"], asked["stop_token_ids"]
    (0.5, 0.9, 7, [2])
    """
    if not math.isfinite(temperature) or temperature < 0:
        raise NongrataError(
            f"a temperature of {temperature} cannot be sampled at", fix="give 0 or more"
        )
    greedy = temperature == 0
    return {
        **NEUTRAL,
        "temperature": temperature,
        "top_k": 0 if greedy else decoding.top_k,
        "top_p": 1.0 if greedy else decoding.top_p,
        "min_p": 0.0 if greedy else decoding.min_p,
        "seed": seed,
        "stop": list(decoding.stop),
        "max_tokens": decoding.max_tokens,
        # texts are put together here, from all their tokens; vLLM's own are for finding `stop`
        "detokenize": bool(decoding.stop),
        "logprobs": None,
        "stop_token_ids": list(ends),
    }


def refuse_other_order(decoding: Decoding) -> None:
    """Refuse parameters that mean something else in the order in which vLLM applies them.

    Top-k and min-p keep the most probable tokens whatever acted before, so their order does not
    matter. Top-p counts probabilities that min-p, acting first, has made larger.

    Examples
    --------
    >>> refuse_other_order(Decoding(max_tokens=1, top_k=40, top_p=1.0, min_p=0.05, stop=()))
    >>> refuse_other_order(Decoding(max_tokens=1, top_k=0, top_p=0.9, min_p=0.05, stop=()))
    Traceback (most recent call last):
    nongrata.errors.NongrataError: vLLM applies min-p before top-p, not after it, ...
    """
    if decoding.top_p < 1 and decoding.min_p > 0:
        raise NongrataError(
            "vLLM applies min-p before top-p, not after it, so that both together keep other "
            "tokens than they do in the other engines",
            fix="set top_p: 1 or min_p: 0, or use engine: transformers or llamacpp",
        )


def too_long(prompt: int, answer: int, limit: int) -> str | None:
    """Why a prompt does not fit; None if it does.

    Examples
    --------
    >>> too_long(90, 10, 100) is None
    True
    >>> too_long(90, 11, 100)
    'the prompt has 90 tokens and may be answered with 11: more than the context of 100'
    """
    if prompt + answer <= limit:
        return None
    return (
        f"the prompt has {prompt} tokens and may be answered with {answer}: "
        f"more than the context of {limit}"
    )


def sampling_params(library: Any, fields: Mapping[str, Any]) -> Any:
    """Build a ``vllm.SamplingParams``, and make sure that it says what was asked.

    Parameters
    ----------
    library
        The module ``vllm``.
    fields
        Its fields.

    Raises
    ------
    NongrataError
        If vLLM refuses a value, or takes another one for it.
    """
    given = dict(fields)
    # one output at the end, and probabilities without an object for each
    given["output_kind"] = library.sampling_params.RequestOutputKind.FINAL_ONLY
    if hasattr(library.SamplingParams, "flat_logprobs"):
        given["flat_logprobs"] = True
    try:
        params = library.SamplingParams(**given)
    except (ValueError, TypeError) as error:
        raise NongrataError(
            f"vLLM refuses these sampling parameters: {reason_of(error)}",
            fix="change temperature, top_k, top_p, min_p, max_tokens or stop",
        ) from error
    for name, asked in fields.items():
        taken = getattr(params, name)
        if taken != asked and not (asked is None and not taken):
            raise NongrataError(
                f"vLLM does not take {name} = {asked!r}: it would act as if it were {taken!r}",
                fix=f"choose another {name}",
            )
    return params


def answer_all(
    library: Any, llm: Any, calls: Sequence[Call], in_flight: int
) -> Generator[Finished]:
    """Answer calls and yield each as it finishes.

    Calls are handed over sorted by their tokens, so that neighbours share the longest prefix there
    is while vLLM still holds it; which of them are computed together is vLLM's decision.

    Parameters
    ----------
    library
        The module ``vllm``.
    llm
        A ``vllm.LLM``.
    calls
        The calls.
    in_flight
        How many are handed over before the first has finished.

    Raises
    ------
    NongrataError
        If vLLM has stopped working.
    """
    engine = llm.llm_engine
    wrap = getattr(library.inputs, "tokens_input", None) or library.inputs.TokensPrompt
    waiting = iter(sorted(calls, key=lambda call: (call.tokens, call.index)))
    open_calls: dict[str, Call] = {}
    try:
        while True:
            while len(open_calls) < in_flight and (call := next(waiting, None)) is not None:
                name = str(call.index)
                try:
                    engine.add_request(name, wrap(prompt_token_ids=list(call.tokens)), call.params)
                except (ValueError, TypeError) as error:
                    yield Finished(call, error=f"vLLM: {reason_of(error)}")
                else:
                    open_calls[name] = call
            if not open_calls:
                return
            for output in _step(engine):
                if output.finished and (done := open_calls.pop(output.request_id, None)):
                    yield _finished(done, output)
    finally:
        # also after an interrupt: nothing of this batch may still be computed with the next
        if open_calls:
            with contextlib.suppress(Exception):
                engine.abort_request(list(open_calls))


def _step(engine: Any) -> Sequence[Any]:
    try:
        outputs: Sequence[Any] = engine.step()
    except Exception as error:
        raise NongrataError(
            f"vLLM has stopped working ({type(error).__name__}: {reason_of(error)})",
            fix="run the same command again; finished answers are kept. If it happens again, "
            "set a lower gpu_memory_utilization or max_num_seqs: memory may have run out",
        ) from error
    return outputs


def _finished(call: Call, output: Any) -> Finished:
    reason = output.outputs[0].finish_reason if output.outputs else "no output"
    if reason in ("stop", "length"):
        return Finished(call, output)
    return Finished(call, error=f"vLLM ended the request without an answer ({str(reason)[:80]})")
