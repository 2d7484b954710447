"""One llama.cpp server inside this process, through xllamacpp."""

from __future__ import annotations

import http.client
import json
import secrets
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from nongrata.errors import MissingExtraError, NongrataError

_BATCH = 512
_SILENT = -1


class Server(Protocol):
    """What the engine needs of a server; tests put a small imitation in its place."""

    def complete(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Answer one request; an ``error`` entry says why there is no answer."""
        ...

    def tokenize(self, text: str, *, special: bool = False, whole: bool = False) -> list[int]:
        """Token ids of a text."""
        ...

    def close(self) -> None:
        """Free the model and stop all threads."""
        ...


class OpenServer(Protocol):
    """Starts a server with room for `slots` prompts of `context` tokens each."""

    def __call__(self, path: Path, *, context: int, slots: int, threads: int) -> Server:
        """Start it."""
        ...


class LlamaServer:
    """A model in memory, with its own threads.

    Completions are calls in this process. Tokenising has no such call; it goes through the port
    llama.cpp opens, on the loopback interface only and behind a random key.

    The settings make an answer independent of what else is computed beside it: KV cache in F32, no
    flash attention, no fitting of parameters to memory, no shifting of the context.

    Parameters
    ----------
    path
        The GGUF file.
    context
        Tokens a prompt and its answer may have together.
    slots
        Prompts answered side by side.
    threads
        CPU threads.

    Examples
    --------
    >>> with LlamaServer(Path("model.gguf"), context=512, slots=1, threads=1) as server:
    ...     server.tokenize("Hello")  # doctest: +SKIP
    [19556]
    """

    def __init__(self, path: Path, *, context: int, slots: int, threads: int) -> None:
        xllamacpp = import_xllamacpp()
        self._key = secrets.token_urlsafe(24)
        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.n_parallel, params.kv_unified = slots, True
        params.n_ctx = context * slots
        params.n_batch = params.n_ubatch = _BATCH
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
        params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
        params.cache_type_k = params.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
        params.n_gpu_layers = 0
        params.fit_params = params.warmup = params.ctx_shift = False
        params.cache_ram_mib = 0
        params.swa_full = True  # else models with sliding windows could reuse no prefix
        params.hostnames, params.api_keys = ["127.0.0.1"], [self._key]
        params.ui = params.endpoint_slots = params.endpoint_props = False
        params.n_threads_http = 2
        params.verbosity = _SILENT
        try:
            self._server: Any = xllamacpp.Server(params)
        except (RuntimeError, MemoryError) as error:
            raise NongrataError(
                "llama.cpp cannot load the model",
                where=path,
                fix="check that the file is whole, that this llama.cpp knows the model's "
                "architecture, and that it fits into memory (weights: as_is needs less than f32)",
            ) from error
        address = str(self._server.listening_address).removeprefix("http://")
        self._connection = http.client.HTTPConnection(address, timeout=60)
        self._lock = threading.Lock()
        # closed before it has answered anything, llama.cpp's server would wait for itself forever
        self.tokenize("a")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def complete(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Answer one request; an ``error`` entry says why there is no answer."""
        answer: Mapping[str, Any] = self._server.handle_completions(dict(request))
        return answer

    def tokenize(self, text: str, *, special: bool = False, whole: bool = False) -> list[int]:
        """Token ids of a text.

        Parameters
        ----------
        text
            The text.
        special
            Whether control tokens in it are recognised.
        whole
            Whether to add what the tokenizer adds to a whole prompt, such as BOS.
        """
        body = {"content": text, "parse_special": special, "add_special": whole}
        return [int(token) for token in self.post("/tokenize", body)["tokens"]]

    def detokenize(self, tokens: Sequence[int]) -> str:
        """The text of token ids."""
        return str(self.post("/detokenize", {"tokens": list(tokens)})["content"])

    def apply_template(self, messages: Sequence[Mapping[str, str]]) -> str:
        """A conversation as llama.cpp's own template engine renders it."""
        return str(self.post("/apply-template", {"messages": list(messages)})["prompt"])

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """Ask the server's port; NongrataError if it refuses or is gone."""
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self._key}"}
        with self._lock:
            for attempt in (1, 2):  # the server hangs up on idle connections
                try:
                    self._connection.request("POST", path, json.dumps(body), headers)
                    response = self._connection.getresponse()
                    status, answer = response.status, response.read()
                    break
                except (OSError, http.client.HTTPException) as error:
                    self._connection.close()
                    if attempt == 2:
                        raise NongrataError(
                            f"the llama.cpp server does not answer ({type(error).__name__})",
                            fix="run the same command again; finished answers are kept",
                        ) from error
        if status != http.client.OK:
            raise NongrataError(f"llama.cpp refuses {path} with status {status}")
        return json.loads(answer)

    def close(self) -> None:
        """Free the model and stop all threads."""
        self._connection.close()
        self._server = None


def import_xllamacpp() -> Any:
    """The xllamacpp module, or an error that says how to install it."""
    try:
        import xllamacpp
    except ImportError as error:
        raise MissingExtraError("llamacpp", "the engine llamacpp") from error
    return xllamacpp
