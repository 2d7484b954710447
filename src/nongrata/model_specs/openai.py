"""A model behind a server that speaks OpenAI's protocol."""

from __future__ import annotations

import re
from typing import Any, ClassVar, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from nongrata.model_specs.base import LABEL_VARIANTS, EngineSpec

ServerKind = Literal["auto", "vllm", "sglang", "llama-server", "ollama", "other"]
"""Whose server it is: decides which samplers are switched off by name."""

Omittable = Literal["top_p", "seed", "presence_penalty", "frequency_penalty"]
"""Parameters that some hosted models refuse, and that are neutral in most studies."""

OWN_FIELDS = frozenset(
    {
        *("model", "messages", "prompt", "temperature", "top_p", "top_k", "min_p", "seed", "stop"),
        *("max_tokens", "max_completion_tokens", "logprobs", "top_logprobs", "echo", "n"),
        *("presence_penalty", "frequency_penalty", "stream"),
        *("continue_final_message", "add_generation_prompt"),
    }
)
"""Fields of a request that follow from the study, and that `extra_body` may therefore not set."""


class OpenAISpec(EngineSpec):
    """A model behind any server with OpenAI's API: vLLM, SGLang, llama-server, Ollama, hosted."""

    how_served: ClassVar[frozenset[str]] = frozenset(
        {
            *("base_url", "key_env", "token_limit", "vocabulary_size"),
            *("timeout", "attempts", "backoff", "patience", "max_in_flight"),
            *("price_in", "price_cached", "price_out"),
        }
    )

    engine: Literal["openai"]
    base_url: str = Field(
        default="https://api.openai.com/v1",
        description="Where the server's API begins, with its version: http://localhost:8000/v1.",
    )
    model: str = Field(min_length=1, description="The model's name at the server.")
    answers_as: str | None = Field(
        default=None,
        min_length=1,
        description="The name every answer must carry as its model, such as a dated one behind an "
        "alias; a run stops at any other. By default a change is noted and recorded.",
    )
    key_env: str | None = Field(
        default=None,
        description="Environment variable that holds the key; the key itself is never stored. By "
        "default OPENAI_API_KEY at api.openai.com, and no key is sent anywhere else.",
    )
    api: Literal["chat", "completions"] = Field(
        default="chat",
        description="chat: the server applies its own chat template; completions: text in the "
        "template given here.",
    )
    server: ServerKind = Field(
        default="auto",
        description="Whose server it is, which decides the samplers that are switched off by name; "
        "auto: as its list of models says.",
    )
    template: str | None = Field(
        default=None,
        description="With api: completions, the chat template: a Jinja file, or its text.",
    )
    template_tokens: dict[str, str] = Field(
        default_factory=dict,
        description="Texts of special tokens that the template names, such as eos_token. Leave "
        "bos_token out where the server puts it before every prompt, as most do.",
    )
    prefill: Literal["refuse", "continue_final_message", "last_message"] = Field(
        default="refuse",
        description="With api: chat, how the server begins the model's answer for it: not at all; "
        "by the field continue_final_message (vLLM, SGLang); or because the last message is the "
        "assistant's (llama-server).",
    )
    empty_system: Literal["send", "omit"] = Field(
        default="send",
        description="With api: chat, whether an empty system text is sent as an empty system "
        "message. Without one many templates put in a text of their own.",
    )
    markers_in_text: Literal["refuse", "send"] = Field(
        default="refuse",
        description="Whether a prompt whose text holds a control token's spelling, such as "
        "<|im_end|>, is an error or is sent; most servers would read it as the token.",
    )
    echo: bool = Field(
        default=False,
        description="With api: completions, whether the server gives log-probabilities of the "
        "prompt (echo), which reading: cloze needs.",
    )
    top_logprobs: int = Field(
        default=20, ge=0, le=20_000, description="Most probable tokens asked for; 0: none."
    )
    vocabulary_size: int | None = Field(
        default=None,
        ge=1,
        description="Number of the model's tokens, which bounds what is not returned at "
        "temperatures above 1.",
    )
    omit: tuple[Omittable, ...] = Field(
        default=(), description="Parameters that are not sent, because the server refuses them."
    )
    extra_body: dict[str, Any] = Field(
        default_factory=dict, description="Further fields of every request, sent as they are."
    )
    token_limit: Literal["max_tokens", "max_completion_tokens"] | None = Field(
        default=None,
        description="Name of the field that limits the answer's length; by default "
        "max_completion_tokens at api.openai.com, max_tokens elsewhere.",
    )
    timeout: float = Field(default=120.0, gt=0, description="Seconds to wait for one answer.")
    attempts: int = Field(
        default=10, ge=1, le=1000, description="How often a request is sent before it is an error."
    )
    backoff: float = Field(
        default=0.5, gt=0, le=60, description="Seconds before the first repeat; they double."
    )
    patience: float = Field(
        default=600.0,
        gt=0,
        description="Seconds a request may take with all its repeats; a server that is silent for "
        "so long ends the run.",
    )
    max_in_flight: int = Field(
        default=64, ge=1, le=1000, description="Most requests under way at once."
    )
    price_in: float | None = Field(default=None, ge=0, description="Price of 1e6 prompt tokens.")
    price_cached: float | None = Field(
        default=None, ge=0, description="Price of 1e6 cached prompt tokens; by default price_in."
    )
    price_out: float | None = Field(
        default=None, ge=0, description="Price of 1e6 generated tokens."
    )
    label_variants: tuple[str, ...] = Field(
        default=LABEL_VARIANTS,
        min_length=1,
        description="Spellings of a label that count as choosing it, for reading: first_token.",
    )

    @field_validator("key_env")
    @classmethod
    def _names_a_variable(cls, value: str | None) -> str | None:
        if value is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value):
            # the value is not repeated: it may be a key
            raise ValueError(
                "key_env must be the name of an environment variable (letters, digits, _), not the "
                "key itself"
            )
        return value

    @field_validator("base_url")
    @classmethod
    def _is_an_address(cls, value: str) -> str:
        if not value.startswith(("http://", "https://")):
            raise ValueError("base_url must begin with http:// or https://")
        try:
            parts = urlsplit(value)
            host, _ = parts.hostname, parts.port
        except ValueError:
            raise ValueError("base_url is no address") from None
        if "@" in parts.netloc:
            # the value is not repeated: it may hold a password
            raise ValueError("base_url may hold no user name or password; use key_env")
        if not host or parts.query or parts.fragment or any(c.isspace() for c in value):
            raise ValueError("base_url must be a plain address, such as http://localhost:8000/v1")
        return value

    @field_validator("extra_body")
    @classmethod
    def _leaves_the_study_alone(cls, value: dict[str, Any]) -> dict[str, Any]:
        own = sorted(OWN_FIELDS & value.keys())
        if own:
            raise ValueError(f"extra_body may not hold {own[0]}: the study decides it")
        return value

    @field_validator("label_variants")
    @classmethod
    def _distinct(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(value)) < len(value):
            raise ValueError("label_variants names a spelling twice, which would count it twice")
        return value

    @model_validator(mode="after")
    def _template_where_needed(self) -> Self:
        if self.api == "completions" and self.template is None:
            raise ValueError("api: completions needs a template, which gives the turns their form")
        if self.api == "chat" and (self.template is not None or self.template_tokens):
            raise ValueError("template belongs to api: completions; a chat server has its own")
        if self.api == "chat" and self.echo:
            raise ValueError("echo belongs to api: completions")
        return self

    @property
    def is_openai(self) -> bool:
        """Whether the address is OpenAI's own."""
        return (urlsplit(self.base_url).hostname or "").lower() == "api.openai.com"

    @property
    def key_variable(self) -> str | None:
        """The environment variable that holds the key; None if none is sent."""
        return self.key_env or ("OPENAI_API_KEY" if self.is_openai else None)

    @property
    def limit_field(self) -> str:
        """Name of the field that limits an answer's length."""
        default = "max_completion_tokens" if self.is_openai else "max_tokens"
        return self.token_limit or default
