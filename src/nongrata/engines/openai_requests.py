"""What is sent to a server with OpenAI's API: every parameter that can act, by name."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nongrata.engines.chat_template import ChatTemplate
from nongrata.engines.llamacpp_calls import NEUTRAL_SAMPLERS, SAMPLER_ORDER
from nongrata.errors import NongrataError
from nongrata.model_specs import OpenAISpec
from nongrata.prompts import Decoding, Messages

# Both take what a request leaves out from the model's own generation_config.
_VLLM = {"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0, "min_tokens": 0, "ignore_eos": False}
_LLAMA_SERVER = {
    **{name: value for name, value in NEUTRAL_SAMPLERS.items() if "_penalty" not in name},
    "repeat_penalty": 1.0,
    "top_k": 0,
    "min_p": 0.0,
    "samplers": list(SAMPLER_ORDER),
    "cache_prompt": True,
}
NEUTRAL: Mapping[str, Mapping[str, Any]] = {
    "vllm": _VLLM,
    "sglang": {**_VLLM},
    "llama-server": _LLAMA_SERVER,
    "ollama": {},
    "other": {},
}
"""By server, the samplers beyond OpenAI's own parameters, switched off by name."""

_MARKER = re.compile(
    r"<\|[^|<>\s]{1,60}\|>"  # ChatML, Llama 3, Phi
    "|<\uff5c[^\uff5c<>]{1,60}\uff5c>"  # DeepSeek
    r"|</?(?:s|bos|eos|pad|unk|start_of_turn|end_of_turn|think)>"
    r"|\[/?(?:INST|AVAILABLE_TOOLS|TOOL_RESULTS|SYSTEM_PROMPT)\]|<</?SYS>>"
)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt in the form in which it is sent.

    Parameters
    ----------
    fields
        The fields of the request that hold it.
    digest
        64-bit hash of exactly these.
    text
        The whole text, where it is sent as one.
    begun
        Beginning of the answer that the server may repeat in its answer.
    """

    fields: Mapping[str, Any]
    digest: int
    text: str = ""
    begun: str = ""


class RequestForm:
    """How prompts and requests are written for one server and model.

    Parameters
    ----------
    spec
        The model's description.
    server
        Whose server it is: a key of `NEUTRAL`.
    template
        The chat template, with ``api: completions``.

    Examples
    --------
    >>> spec = OpenAISpec(id="m", engine="openai", model="m", base_url="http://localhost:8000/v1")
    >>> form = RequestForm(spec, "other")
    >>> decoding = Decoding(max_tokens=8, top_k=0, top_p=1.0, min_p=0.0, stop=())
    >>> prompt = form.prompt(Messages("", "Hi!", "", decoding))
    >>> form.score(prompt)["messages"]
    [{'role': 'system', 'content': ''}, {'role': 'user', 'content': 'Hi!'}]
    """

    def __init__(self, spec: OpenAISpec, server: str, template: ChatTemplate | None = None) -> None:
        self.spec, self.server, self.template = spec, server, template
        self.path = "/chat/completions" if spec.api == "chat" else "/completions"

    def begins_answers(self) -> bool:
        """Whether the model's answer can be begun for it."""
        return self.spec.api == "completions" or self.spec.prefill != "refuse"

    def prompt(self, messages: Messages) -> Prompt:
        """A prompt as it is sent.

        Raises
        ------
        NongrataError
            If the model's answer is to be begun and this server cannot do that, or if there is a
            system text and the template has no place for one.
        ValueError
            If the prompt cannot be sent as the text it is.
        """
        for text in (messages.system, messages.user, messages.prefill):
            _check_text(text, self.spec.markers_in_text == "send")
        if self.template is not None:
            return self._text_prompt(messages, self.template)
        return self._chat_prompt(messages)

    def score(self, prompt: Prompt) -> dict[str, Any]:
        """Ask for the most probable next tokens, at temperature 1 and without truncation.

        Some servers report probabilities after the temperature and after truncation, others
        before: at temperature 1, with everything else off, both are the same.
        """
        top = self.spec.top_logprobs
        asked = {"logprobs": True, "top_logprobs": top} if self.spec.api == "chat" else {
            "logprobs": top
        }  # fmt: skip
        plain = Decoding(max_tokens=1, top_k=0, top_p=1.0, min_p=0.0, stop=())
        return self._request(prompt.fields, plain, 1.0, None) | asked

    def generate(
        self, prompt: Prompt, decoding: Decoding, temperature: float, seed: int
    ) -> dict[str, Any]:
        """Ask for a text; no sampling parameter that has a name here is left to the server."""
        if not math.isfinite(temperature) or temperature < 0:
            raise NongrataError(
                f"a temperature of {temperature} cannot be sampled at", fix="give 0 or more"
            )
        return self._request(prompt.fields, decoding, temperature, seed)

    def echo(self, text: str) -> dict[str, Any]:
        """Ask for the log-probability of each token of a text.

        One token is generated and not used: not every server takes ``max_tokens: 0``.
        """
        plain = Decoding(max_tokens=1, top_k=0, top_p=1.0, min_p=0.0, stop=())
        return self._request({"prompt": text}, plain, 1.0, None) | {"echo": True, "logprobs": 1}

    def identity(self) -> dict[str, Any]:
        """What of this can change an answer, as JSON values."""
        spec = self.spec
        return {
            "api": spec.api,
            "model": spec.model,
            "answers_as": spec.answers_as,
            "server": self.server,
            "samplers_off": dict(NEUTRAL[self.server]),
            "omit": sorted(spec.omit),
            "extra_body": dict(spec.extra_body),
            "prefill": spec.prefill if spec.api == "chat" else "in the text",
            "empty_system": spec.empty_system if spec.api == "chat" else "as the template does",
            "markers_in_text": spec.markers_in_text,
            "template_sha256": self.template.sha256 if self.template else None,
            "template_tokens": dict(spec.template_tokens),
        }

    def _request(
        self,
        fields: Mapping[str, Any],
        decoding: Decoding,
        temperature: float,
        seed: int | None,
    ) -> dict[str, Any]:
        spec = self.spec
        limit = "max_tokens" if spec.api == "completions" else spec.limit_field
        parameters = {
            "temperature": temperature,
            "top_p": decoding.top_p,
            "presence_penalty": 0.0,
            "frequency_penalty": 0.0,
            limit: decoding.max_tokens,
        }
        if seed is not None:
            parameters["seed"] = seed
        for name in spec.omit:
            parameters.pop(name, None)
        if decoding.top_p < 1 and "top_p" in spec.omit:
            raise NongrataError(
                f"the study samples with top_p {decoding.top_p:g}, and omit says that the server "
                "does not take it",
                where=f"models.{spec.id}.omit",
                fix="take top_p out of omit, or out of the study's settings",
            )
        extra: dict[str, Any] = dict(NEUTRAL[self.server])
        # not among OpenAI's parameters: sent to an unknown server only if they are to act
        if decoding.top_k > 0:
            extra["top_k"] = decoding.top_k
        if decoding.min_p > 0:
            extra["min_p"] = decoding.min_p
        stop = {"stop": list(decoding.stop)} if decoding.stop else {}
        return {"model": spec.model, **fields, **parameters, **stop, **extra, **spec.extra_body}

    def _chat_prompt(self, messages: Messages) -> Prompt:
        turns = []
        if messages.system or self.spec.empty_system == "send":
            turns.append({"role": "system", "content": messages.system})
        turns.append({"role": "user", "content": messages.user})
        fields: dict[str, Any] = {"messages": turns}
        begun = ""
        if messages.prefill:
            self._refuse_prefill()
            turns.append({"role": "assistant", "content": messages.prefill})
            if self.spec.prefill == "continue_final_message":
                fields |= {"continue_final_message": True, "add_generation_prompt": False}
            else:
                begun = messages.prefill  # llama-server gives it back as part of the answer
        return Prompt(fields, _digest(json.dumps(fields, sort_keys=True)), begun=begun)

    def _refuse_prefill(self) -> None:
        if self.spec.prefill == "refuse":
            raise NongrataError(
                "the study begins the model's answer for it (prefill, or final_letter: "
                "distribution), which OpenAI's chat API cannot do",
                where=f"models.{self.spec.id}.prefill",
                fix="set prefill: continue_final_message for vLLM and SGLang, or prefill: "
                "last_message for llama-server; or use api: completions",
            )

    def _text_prompt(self, messages: Messages, template: ChatTemplate) -> Prompt:
        segments = template.segments(messages)
        text = "".join(segment.text for segment in segments)
        if self.spec.markers_in_text == "refuse":
            # also one that a content and the template make together
            own = sum(len(_MARKER.findall(s.text)) for s in segments if not s.is_content)
            if len(_MARKER.findall(text)) > own:
                raise ValueError("the prompt's text and its template make a control token")
        return Prompt({"prompt": text}, _digest(text), text)


def _check_text(text: str, markers_allowed: bool) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        code = ord(text[error.start])
        raise ValueError(f"the prompt holds a lone surrogate, U+{code:04X}") from None
    marker = None if markers_allowed else _MARKER.search(text)
    if marker is not None:
        raise ValueError(
            f"the prompt holds {marker[0]!r}, which most servers would read as a control token "
            "(see markers_in_text)"
        )


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
