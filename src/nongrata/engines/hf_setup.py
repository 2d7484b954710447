"""Where a model is computed, how long its prompts may be, and whether its batches are exact."""

from __future__ import annotations

import math
from typing import Any

from nongrata.engines.hf_runner import Runner, Text
from nongrata.engines.hf_tokens import HfTokens
from nongrata.errors import NongrataError
from nongrata.model_specs import TransformersSpec
from nongrata.prompts import Decoding, Messages

# Largest difference of a log-probability between a prompt computed alone and the same prompt in a
# mixed batch; beyond it the model does something that this engine's batches do not know.
_TOLERANCE = {"float32": 2e-3, "bfloat16": 1.0, "float16": 0.3}
_LIKELY = math.log(1e-4)
_LONGEST_UNKNOWN_CONTEXT = 4096


def device_of(spec: TransformersSpec) -> str:
    """The device a description names, as PyTorch names it."""
    import torch

    if spec.device == "cpu":
        return "cpu"
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if spec.device == "auto":
        return "cuda" if count else "cpu"
    number = int(spec.device.partition(":")[2] or 0)
    if number >= count:
        raise NongrataError(
            f"PyTorch sees {count} GPUs here, and {spec.device} is asked for",
            where=f"models.{spec.id}.device",
            fix="set device: cpu, or install a PyTorch for this machine's GPU",
        )
    return spec.device


def context_limit(spec: TransformersSpec, trained: int) -> int:
    """Tokens a prompt and its answer may have: what is asked for, or what the model allows."""
    if spec.context is None:
        return trained or _LONGEST_UNKNOWN_CONTEXT
    if trained and spec.context > trained:
        raise NongrataError(
            f"the model was trained for {trained} tokens of context, not {spec.context}",
            where=f"models.{spec.id}.context",
            fix=f"give at most {trained}",
        )
    return spec.context


def check_batches(runner: Runner, tokens: HfTokens, spec: TransformersSpec) -> dict[str, Any]:
    """How far a prompt's answer moves when it is computed beside another, as all prompts are.

    Raises
    ------
    NongrataError
        If it moves by more than rounding can explain.
    """
    decoding = Decoding(max_tokens=1, top_k=0, top_p=1.0, min_p=0.0, stop=())
    users = ("What is 2 + 2?\nA. 3\nB. 4", "What is 2 + 3, and why?\nA. 5\nB. 7\nC. 4\nD. 9")
    texts = [tokens.prompt_tokens(Messages("", user, "", decoding)) for user in users]
    largest = 0.0
    try:
        for computed in runner.run([Text(text) for text in texts], overhead=0):
            for row, member in enumerate(computed.members):
                beside = computed.logits[row, -1].double().log_softmax(0)
                alone = runner.model.plain(texts[member]).double().log_softmax(0)
                likely = alone > _LIKELY
                largest = max(largest, float((beside - alone)[likely].abs().max()))
    except (RuntimeError, TypeError, ValueError, AttributeError, KeyError) as error:
        said = (str(error).splitlines() or [type(error).__name__])[0]
        raise _unfit(spec, f"{type(error).__name__}: {said[:160]}") from error
    runner.prefixes.clear()
    if not largest <= _TOLERANCE[spec.dtype]:
        raise _unfit(spec, f"log-probabilities move by {largest:.3g} in a batch")
    return {"largest_change_of_a_log_probability": largest}


def _unfit(spec: TransformersSpec, reason: str) -> NongrataError:
    return NongrataError(
        f"this model cannot be computed in batches by the engine transformers ({reason})",
        where=f"models.{spec.id}",
        fix="use engine: vllm or openai",
    )
