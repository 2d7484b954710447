"""The demo model in the Hugging Face form: made once from its GGUF file, and kept."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from nongrata.engines.demo_model import SHA256
from nongrata.engines.file_cache import exclusive, remembered_sha256, replacing
from nongrata.errors import MissingExtraError, NongrataError

_FORM = 1
_MADE = (
    "chat_template.jinja",
    "config.json",
    "generation_config.json",
    "model.safetensors",
    "tokenizer.json",
    "tokenizer_config.json",
)
# What was true only of the machine, of the version or of the file that the folder was made from.
_LEFT_OUT = (
    "_name_or_path",
    "_model_name_or_path",
    "is_local",
    "local_files_only",
    "quantization_config",
    "transformers_version",
)


def demo_folder(cache: Path) -> Path:
    """Where the converted demo model is kept.

    Examples
    --------
    >>> demo_folder(Path("cache")).as_posix()
    'cache/hf/b179c9523d0e6a0f-1'
    """
    return cache / "hf" / f"{SHA256[:16]}-{_FORM}"


def converted_demo(source: Path, cache: Path, notify: Callable[[str], None] | None = None) -> Path:
    """The demo model as a folder with float32 safetensors, made once and kept.

    Weights are exactly the ones the quantised file stands for. The tokenizer's split of digits,
    which the transformers library does not read from GGUF files, is put right.

    Parameters
    ----------
    source
        The demo model's GGUF file.
    cache
        Folder under which it is kept.
    notify
        Called with one sentence if the folder has to be made.
    """
    target = demo_folder(cache)
    note = target.with_suffix(".json")
    try:
        with exclusive(target):
            if _is_whole(target, note, cache):
                return target
            if notify is not None:
                notify(f"writing {source.name} in the Hugging Face form (540 MB)")
            with _new_folder(target) as draft:
                _convert(source, draft)
            hashes = {name: remembered_sha256(target / name, cache) for name in _MADE}
            with replacing(note) as draft_note:
                draft_note.write_text(json.dumps(hashes, indent=1), encoding="utf-8")
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        reason = "no space left" if full else str(error.strerror or error)[:200]
        raise NongrataError(
            f"cannot write the demo model in the Hugging Face form ({reason})",
            where=target.parent,
            fix="free 600 MB there, or set XDG_CACHE_HOME to another disk",
        ) from error
    return target


def _is_whole(target: Path, note: Path, cache: Path) -> bool:
    """Whether the folder holds what was written into it when it was made."""
    try:
        hashes = json.loads(note.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return set(hashes) == set(_MADE) and all(
        (target / name).is_file() and remembered_sha256(target / name, cache) == hashes[name]
        for name in _MADE
    )


@contextlib.contextmanager
def _new_folder(target: Path) -> Iterator[Path]:
    """A folder beside `target` to fill; it takes `target`'s place if the block succeeds."""
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part"))
    try:
        yield draft
        for path in draft.iterdir():
            with path.open("rb+") as file:
                os.fsync(file.fileno())
        if target.exists():  # damaged: its hashes were not those it was made with
            shutil.rmtree(target)
        draft.rename(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _convert(source: Path, draft: Path) -> None:
    try:
        import gguf  # noqa: F401
        import torch
        import transformers
        from tokenizers import pre_tokenizers
    except ImportError as error:
        raise MissingExtraError("transformers", "the engine transformers") from error
    # one of the bars heeds no switch
    with quiet_transformers(), contextlib.redirect_stderr(io.StringIO()):
        place: dict[str, Any] = {"gguf_file": source.name, "local_files_only": True}
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(source.parent), **place)
        read = transformers.AutoModelForCausalLM.from_pretrained(
            str(source.parent), dtype=torch.float32, **place
        )
        # The reader loses how digits are split ('tokenizer.ggml.pre' is 'smollm').
        digits = pre_tokenizers.Digits(individual_digits=True)
        words = pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=True, use_regex=True)
        tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence([digits, words])
        # A model read from GGUF counts as quantised and is not saved; a fresh one is.
        for name in _LEFT_OUT:
            with contextlib.suppress(AttributeError):
                delattr(read.config, name)
        model: Any = type(read)(read.config)
        model.load_state_dict(read.state_dict())
        if model.get_output_embeddings().weight is not model.get_input_embeddings().weight:
            raise NongrataError(
                "the demo model's input and output weights came apart",
                where=source,
                fix="install another version of the transformers library",
            )
        model.generation_config = read.generation_config
        model.save_pretrained(str(draft))
        tokenizer.save_pretrained(str(draft))
    for name in ("config.json", "generation_config.json", "tokenizer_config.json"):
        path = draft / name
        values = json.loads(path.read_text(encoding="utf-8"))
        kept = {key: value for key, value in values.items() if key not in _LEFT_OUT}
        path.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")


@contextlib.contextmanager
def quiet_transformers() -> Iterator[None]:
    """No progress bars and no advice from the transformers library inside the block."""
    import transformers

    log: Any = transformers.logging
    level, bars = log.get_verbosity(), log.is_progress_bar_enabled()
    log.set_verbosity_error()
    log.disable_progress_bar()
    try:
        yield
    finally:
        log.set_verbosity(level)
        if bars:
            log.enable_progress_bar()
