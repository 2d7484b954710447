"""What is sent to llama.cpp's servers, and how a list of calls is spread over them."""

from __future__ import annotations

import math
import queue
import threading
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nongrata.engines.llamacpp_server import Server
from nongrata.engines.work_sharing import SharedWork
from nongrata.errors import NongrataError
from nongrata.prompts import Decoding

SAMPLER_ORDER = ("temperature", "top_k", "top_p", "min_p")
"""Order in which samplers act, as in transformers: truncation sees the tempered distribution."""

NEUTRAL_SAMPLERS: Mapping[str, Any] = {
    "typical_p": 1.0,
    "top_n_sigma": -1.0,
    "repeat_penalty": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "dry_multiplier": 0.0,
    "xtc_probability": 0.0,
    "mirostat": 0,
    "dynatemp_range": 0.0,
    "min_keep": 0,
    "ignore_eos": False,
    "logit_bias": [],
}
"""Everything else that could change a distribution, off by name: llama.cpp has it on by default."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request to a server.

    Parameters
    ----------
    index
        Its place in the batch.
    tokens
        The prompt.
    request
        What is sent.
    answer
        Tokens the answer may have.
    """

    index: int
    tokens: tuple[int, ...]
    request: Mapping[str, Any]
    answer: int

    @property
    def size(self) -> int:
        """Tokens of context it needs."""
        return len(self.tokens) + self.answer


@dataclass(frozen=True, slots=True)
class Finished:
    """What became of a call: an answer, or the reason why there is none."""

    index: int
    tokens: tuple[int, ...]
    answer: Mapping[str, Any]
    error: str | None = None


WHOLE_CHARACTER = "root ::= [ -~]"
"""A grammar that lets only a printable ASCII character be drawn."""


def score_request(tokens: Sequence[int], n_probs: int) -> dict[str, Any]:
    """Ask for the most probable next tokens; neither sampler nor grammar touches what is reported.

    Examples
    --------
    >>> score_request((1, 2), 200)["n_probs"]
    200
    """
    return {
        "prompt": list(tokens),
        "n_predict": 1,
        "n_probs": n_probs,
        "temperature": 0.0,
        "samplers": ["temperature"],
        "cache_prompt": True,
        **NEUTRAL_SAMPLERS,
    }


def generation_request(
    tokens: Sequence[int], decoding: Decoding, temperature: float, seed: int
) -> dict[str, Any]:
    """Ask for a text; every sampling parameter is given, none is left to the server.

    Examples
    --------
    >>> decoding = Decoding(max_tokens=24, top_k=0, top_p=0.9, min_p=0.0, stop=())
    >>> generation_request((1, 2), decoding, 0.5, 7)["samplers"]
    ['temperature', 'top_p']
    """
    if not math.isfinite(temperature) or temperature < 0:
        raise NongrataError(
            f"a temperature of {temperature} cannot be sampled at", fix="give 0 or more"
        )
    on = {
        "temperature": True,
        "top_k": decoding.top_k > 0,
        "top_p": decoding.top_p < 1,
        "min_p": decoding.min_p > 0,
    }
    return {
        "prompt": list(tokens),
        "n_predict": decoding.max_tokens,
        "temperature": temperature,
        "seed": seed,
        "top_k": decoding.top_k,
        "top_p": decoding.top_p,
        "min_p": decoding.min_p,
        "samplers": [name for name in SAMPLER_ORDER if on[name]],
        "stop": list(decoding.stop),
        "cache_prompt": True,
        **NEUTRAL_SAMPLERS,
    }


def answer_all(servers: Sequence[Server], calls: Sequence[Call], slots: int) -> Generator[Finished]:
    """Answer calls, several at a time, and yield each as it finishes.

    Calls are sorted by their tokens first, so that each one shares the longest prefix there is
    with the one before, which its slot still holds.

    Parameters
    ----------
    servers
        The servers.
    calls
        The calls.
    slots
        How many each server answers side by side.

    Raises
    ------
    NongrataError
        If a server is gone.
    """
    ordered = sorted(calls, key=lambda call: (call.tokens, call.index))
    same = [False] * len(ordered)
    for i in range(1, len(ordered)):
        same[i] = ordered[i].tokens == ordered[i - 1].tokens
    work = SharedWork(same, len(servers) * slots)
    results: queue.SimpleQueue[Finished | BaseException] = queue.SimpleQueue()
    stopped = threading.Event()

    def lane(number: int) -> None:
        # Neighbouring runs go to one server's slots.
        server, slot = servers[number // slots], number % slots
        try:
            while not stopped.is_set() and (i := work.take(number)) is not None:
                results.put(_ask(server, slot, ordered[i]))
        except BaseException as error:  # handed to the caller's thread
            results.put(error)

    threads = [
        threading.Thread(target=lane, args=(number,), name=f"llamacpp-{number}", daemon=True)
        for number in range(len(servers) * slots)
    ]
    try:
        for thread in threads:
            thread.start()
        for _ in ordered:
            result = results.get()
            if isinstance(result, BaseException):
                raise result
            yield result
    finally:
        # Also after an interrupt: no request may still run when the servers are freed.
        stopped.set()
        for thread in threads:
            if thread.ident is not None:
                thread.join()


def _ask(server: Server, slot: int, call: Call) -> Finished:
    try:
        answer = server.complete({**call.request, "id_slot": slot})
    except Exception as error:
        try:
            server.tokenize("a")
        except Exception:
            raise NongrataError(
                f"a llama.cpp server has stopped working ({type(error).__name__})",
                fix="run the same command again; finished answers are kept. If it happens again, "
                "set fewer workers: memory may have run out",
            ) from error
        return Finished(call.index, call.tokens, {}, f"llama.cpp: {str(error)[:200]}")
    if "error" in answer:
        said = answer["error"]
        said = said.get("message", said) if isinstance(said, Mapping) else said
        return Finished(call.index, call.tokens, {}, f"llama.cpp: {str(said)[:200]}")
    return Finished(call.index, call.tokens, answer)
