"""A model behind any server with OpenAI's API: vLLM, SGLang, llama-server, Ollama, hosted."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from nongrata.engines.base import Batch, Capabilities, Generations, Likelihoods, Scores, Tick
from nongrata.engines.chat_template import ChatTemplate
from nongrata.engines.openai_answers import read_echo, read_text, read_top
from nongrata.engines.openai_client import Call, Connection
from nongrata.engines.openai_http import Address, import_openai
from nongrata.engines.openai_requests import Prompt, RequestForm
from nongrata.engines.openai_results import (
    Counts,
    Read,
    collect_generations,
    collect_likelihoods,
    collect_scores,
)
from nongrata.engines.openai_secrets import Key
from nongrata.engines.openai_troubles import Patience, Trouble
from nongrata.engines.openai_usage import Observed, Usage
from nongrata.errors import NongrataError
from nongrata.model_specs import OpenAISpec
from nongrata.prompts import Decoding, Messages
from nongrata.terminal import shorten

_OWNERS = {"vllm": "vllm", "sglang": "sglang", "llamacpp": "llama-server", "library": "ollama"}
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


class OpenAIEngine:
    """Answers from a server.

    Parameters
    ----------
    spec
        The model's description.
    key
        The key to the server.
    template
        The chat template, with ``api: completions``.
    notify
        Told what a user should know.

    Examples
    --------
    >>> spec = OpenAISpec(id="m", engine="openai", model="m", base_url="http://localhost:8000/v1")
    >>> with OpenAIEngine.open(spec, Path()) as engine:  # doctest: +SKIP
    ...     engine.score(batch)
    """

    kind = "openai"
    block = 256

    def __init__(
        self,
        spec: OpenAISpec,
        key: Key,
        template: ChatTemplate | None = None,
        notify: Callable[[str], None] | None = None,
    ) -> None:
        self._spec, self._template, self._notify = spec, template, notify
        self._key = key
        self._observed = Observed()
        self._connection = Connection(
            Address(
                base_url=spec.base_url,
                key=key,
                variable=spec.key_variable,
                where=f"models.{spec.id}",
                timeout=spec.timeout,
                most=spec.max_in_flight,
                patience=Patience(spec.attempts, spec.backoff, spec.patience),
            ),
            self._observed,
            notify,
            spec.answers_as,
        )
        self._form: RequestForm | None = None
        self._listed: Mapping[str, Any] | None = None
        self._seconds = 0.0

    @classmethod
    def open(
        cls, spec: OpenAISpec, base: Path, *, notify: Callable[[str], None] | None = None
    ) -> Self:
        """Read the key and the template that a description names; nothing is sent yet.

        Parameters
        ----------
        spec
            The description.
        base
            Folder that a relative path starts from.
        notify
            Called with one sentence for what a user should know.
        """
        import_openai()
        key = Key.read(spec.key_variable, f"models.{spec.id}.key_env")
        plain = spec.base_url.startswith("http://")
        if key and plain and not spec.base_url[7:].startswith(_LOOPBACK) and notify is not None:
            notify(f"{spec.id}: the key is sent to {spec.base_url} without encryption")
        return cls(spec, key, _template(spec, base), notify)

    @property
    def capabilities(self) -> Capabilities:
        """What the server can do, as the description says."""
        spec = self._spec
        return Capabilities(
            label_logprobs="top_n" if spec.top_logprobs else "none",
            # other requests computed beside it can turn a tie
            deterministic_at_zero=False,
            is_model=True,
            likelihoods=spec.echo,
            seeds="seed" not in spec.omit,
        )

    @property
    def identity(self) -> Mapping[str, Any]:
        """Everything known of the model and the requests that can change an answer."""
        spec = self._spec
        return {
            "engine": self.kind,
            **self._requests.identity(),
            "top_logprobs": spec.top_logprobs,
            "label_variants": list(spec.label_variants),
        }

    @property
    def provenance(self) -> Mapping[str, Any]:
        """What is worth recording but cannot change an answer; it grows as answers come."""
        spec = self._spec
        return {
            "base_url": spec.base_url,
            "listed_as": self._listed,
            "key_env": spec.key_variable if self._key else None,
            "template": self._template.report() if self._template else None,
            "token_limit": spec.limit_field,
            "first_response_seconds": self._seconds,
            **self._connection.report(),
            **self._observed.report(),
        }

    @property
    def usage(self) -> Usage:
        """Tokens used so far, as the server counts them."""
        return self._observed.usage

    def __enter__(self) -> Self:
        self._connection.open()
        try:
            started = time.perf_counter()
            self._listed = self._ask_for_listing()
            self._seconds = round(time.perf_counter() - started, 3)
            self._form = RequestForm(self._spec, self._server_kind(), self._template)
        except BaseException:
            self._connection.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._connection.close()

    def score(self, batch: Batch, tick: Tick | None = None) -> Scores:
        """Next-token probabilities at temperature 1, of the most probable tokens."""
        spec, form = self._spec, self._requests
        if not spec.top_logprobs:
            raise NongrataError(
                "next-token probabilities cannot be read: top_logprobs is 0",
                where=f"models.{spec.id}.top_logprobs",
                fix="give what the server allows (OpenAI and Ollama 20, vLLM its --max-logprobs), "
                "or set reading: free",
            )
        prompts, errors = self._prompts(batch)
        calls = []
        for i, (prompt, _) in prompts.items():

            def read(answer: Mapping[str, Any], begun: str = prompt.begun) -> Read:
                top = read_top(answer, spec.top_logprobs, spec.vocabulary_size, begun)
                return Read.of(answer, top)

            calls.append(Call(i, form.path, form.score(prompt), read))
        found = self._ask(calls, errors, tick, "first_token")
        return collect_scores(
            [batch.labels(i) for i in range(len(batch))],
            spec.label_variants,
            found,
            _counts(prompts, len(batch)),
            errors,
        )

    def generate(self, batch: Batch, tick: Tick | None = None) -> Generations:
        """Texts, with each request's own seed."""
        form = self._requests
        prompts, errors = self._prompts(batch)
        calls = []
        for i, (prompt, decoding) in prompts.items():
            body = form.generate(prompt, decoding, float(batch.temperature[i]), batch.seed(i))
            most, begun = decoding.max_tokens, prompt.begun

            def read(answer: Mapping[str, Any], most: int = most, begun: str = begun) -> Read:
                return Read.of(answer, read_text(answer, most, begun))

            calls.append(Call(i, form.path, body, read))
        found = self._ask(calls, errors, tick, "free")
        return collect_generations(len(batch), found, _counts(prompts, len(batch)), errors)

    def likelihoods(self, batch: Batch, tick: Tick | None = None) -> Likelihoods:
        """Log-likelihoods of the options' texts, from the log-probabilities of the prompt."""
        if not self._spec.echo:
            raise NongrataError(
                "this server is not known to give the likelihood of a given text, which reading: "
                "cloze needs",
                where=f"models.{self._spec.id}.echo",
                fix="with a server that can (vLLM), set api: completions and echo: true; else use "
                "engine: transformers or vllm",
            )
        form = self._requests
        prompts, errors = self._prompts(batch)
        # Several requests can need the same text; it is sent once.
        texts: dict[tuple[str, str], list[tuple[int, int, bool]]] = {}
        for i, (prompt, _) in prompts.items():
            try:
                baseline = form.prompt(batch.baseline(i)).text
            except ValueError as error:
                errors[i] = str(error)
                continue
            for j, option in enumerate(batch.continuations(i)):
                texts.setdefault((prompt.text, option), []).append((i, j, False))
                texts.setdefault((baseline, option), []).append((i, j, True))
        calls, places = [], list(texts.values())
        for number, (before, option) in enumerate(texts):

            def read(answer: Mapping[str, Any], option: str = option) -> Read:
                return Read.of(answer, read_echo(answer, option))

            calls.append(Call(number, form.path, form.echo(before + option), read))
        failed: dict[int, str] = {}
        found = self._ask(calls, failed, None, "cloze")
        for number, sentence in failed.items():
            errors |= {i: sentence for i, _, _ in places[number] if i not in errors}
        if tick is not None and prompts:
            tick(len(prompts))
        results = {place: read for number, read in found.items() for place in places[number]}
        sizes = [len(batch.continuations(i)) for i in range(len(batch))]
        return collect_likelihoods(sizes, results, _counts(prompts, len(batch)), errors)

    def forget(self) -> bool:
        """Nothing can be done about what a server keeps."""
        return False

    @property
    def _requests(self) -> RequestForm:
        if self._form is None:
            raise RuntimeError("the engine is used outside its 'with' block")
        return self._form

    def _prompts(self, batch: Batch) -> tuple[dict[int, tuple[Prompt, Decoding]], dict[int, str]]:
        """The prompts to send, by request, and why the others are not sent."""
        form = self._requests
        known: dict[tuple[int, int, str], tuple[Prompt, Decoding] | str] = {}
        prompts: dict[int, tuple[Prompt, Decoding]] = {}
        errors: dict[int, str] = {}
        for i in range(len(batch)):
            place = batch.same_prompt(i)
            if place not in known:
                messages: Messages = batch.messages(i)
                try:
                    known[place] = (form.prompt(messages), messages.decoding)
                except ValueError as error:
                    known[place] = str(error)
            prompt = known[place]
            if isinstance(prompt, str):
                errors[i] = prompt
            else:
                prompts[i] = prompt
        return prompts, errors

    def _ask(
        self, calls: Sequence[Call], errors: dict[int, str], tick: Tick | None, reading: str
    ) -> dict[int, Read]:
        if tick is not None and errors:
            tick(len(errors))
        found: dict[int, Read] = {}
        for finished in self._connection.ask(calls, reading) if calls else ():
            if finished.error is None:
                found[finished.index] = finished.result
            else:
                errors[finished.index] = finished.error
            if tick is not None:
                tick(1)
        return found

    def _ask_for_listing(self) -> Mapping[str, Any] | None:
        """What the server's list of models says of this one, without what changes by itself."""
        where = f"models.{self._spec.id}"
        try:
            listing = self._connection.get("/models")
        except Trouble as trouble:
            if trouble.kind in ("connect", "401"):
                raise NongrataError(trouble.sentence, where=where, fix=trouble.fix) from None
            if trouble.again and self._spec.server == "auto":
                raise NongrataError(
                    f"the server does not list its models ({trouble.sentence})",
                    where=where,
                    fix="try again, or say in 'server' whose server it is",
                ) from None
            return None
        entries = listing.get("data")
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict) and entry.get("id") == self._spec.model:
                return {
                    shorten(str(name), 60): _plain(entry[name])
                    for name in sorted(entry, key=str)[:40]
                    if name not in ("created", "permission")
                }
        return None

    def _server_kind(self) -> str:
        if self._spec.server != "auto":
            return self._spec.server
        return _OWNERS.get(str((self._listed or {}).get("owned_by")), "other")


def _counts(prompts: Mapping[int, tuple[Prompt, Decoding]], n: int) -> Counts:
    return Counts({i: prompt.digest for i, (prompt, _) in prompts.items()}, n)


def _plain(value: Any) -> Any:
    """A value of a server's, short and visible."""
    if value is None or isinstance(value, bool | int | float):
        return value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=True)
    return shorten(text, 400)


def _template(spec: OpenAISpec, base: Path) -> ChatTemplate | None:
    given = spec.template
    if given is None:
        return None
    where = f"models.{spec.id}.template"
    if "{{" in given or "{%" in given:
        source = given
    else:
        path = base / given
        try:
            source = path.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise NongrataError(
                f"the chat template cannot be read ({type(error).__name__})",
                where=path,
                fix=f"correct {where}: a Jinja file, or the template itself",
            ) from None
    return ChatTemplate(source, spec.template_tokens)
