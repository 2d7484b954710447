"""A causal language model in PyTorch: forward passes over rows of different lengths.

Rows of a batch are right-aligned, so that every text ends in the last column. Each column knows its
place in its row's text, and the attention mask follows from places alone: padding and gaps are
seen by nobody, whatever the batch looks like.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nongrata.engines.hf_conversion import quiet_transformers
from nongrata.errors import NongrataError
from nongrata.model_specs.transformers import Dtype

NOTHING = -1
"""Place of a column that holds no token."""

_KINDS = frozenset({"full_attention", "sliding_attention"})


class KvLayer:
    """Keys and values of one layer, in buffers that are written from left to right.

    It stands in for a layer of the transformers library's own cache, which copies all it holds
    whenever a token is added.
    """

    is_sliding = False
    is_initialized = True
    is_compileable = False

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.used = 0
        self.keys: Any = None
        self.values: Any = None

    def update(self, keys: Any, values: Any, *_: Any, **__: Any) -> tuple[Any, Any]:
        """Add columns; all columns so far."""
        if self.keys is None:
            self.keys = keys.new_empty((*keys.shape[:2], self.capacity, keys.shape[3]))
            self.values = values.new_empty((*values.shape[:2], self.capacity, values.shape[3]))
        end = self.used + keys.shape[2]
        self.keys[:, :, self.used : end] = keys
        self.values[:, :, self.used : end] = values
        self.used = end
        return self.keys[:, :, :end], self.values[:, :, :end]

    def get_seq_length(self) -> int:
        """Columns in use."""
        return self.used

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """Columns a mask has, and how many are left out before."""
        return self.used + query_length, 0

    def get_max_length(self) -> int:
        """Most columns; -1: the library need not know."""
        return -1


class KvRows:
    """What the model has computed for each of several texts.

    Parameters
    ----------
    layers
        Keys and values, layer by layer.
    place
        Place in its text of each column, or `NOTHING`; int64, shape (rows, columns).
    branch
        Which of several continuations of its text a column belongs to; 0: the text itself.
    """

    def __init__(self, layers: list[KvLayer], place: Any, branch: Any) -> None:
        self.layers, self.place, self.branch = layers, place, branch

    @property
    def columns(self) -> int:
        """Columns in use."""
        return int(self.place.shape[1])

    @property
    def nbytes(self) -> int:
        """Memory of all buffers."""
        return sum(layer.keys.nbytes + layer.values.nbytes for layer in self.layers if layer.used)

    def spread(self, rows: int, length: int, extra: int) -> KvRows:
        """The first `length` columns of a single text, for `rows` rows with room for more."""
        layers = []
        for layer in self.layers:
            wide = KvLayer(length + extra)
            if length and layer.keys is not None:
                wide.update(*(
                    part[:, :, :length].expand(rows, -1, -1, -1)
                    for part in (layer.keys, layer.values)
                ))  # fmt: skip
            layers.append(wide)
        return KvRows(
            layers,
            self.place[:, :length].expand(rows, -1),
            self.branch[:, :length].expand(rows, -1),
        )

    def take(self, rows: Any) -> KvRows:
        """Some of the rows."""
        for layer in self.layers:
            if layer.keys is not None:
                layer.keys = layer.keys[rows]
                layer.values = layer.values[rows]
        return KvRows(self.layers, self.place[rows], self.branch[rows])


def merged(parts: Sequence[tuple[KvRows, Any]], extra: int) -> KvRows:
    """Chosen rows of several blocks in one, right-aligned, with room for `extra` columns."""
    import torch

    width = max(kv.columns for kv, _ in parts)
    total = sum(len(rows) for _, rows in parts)
    first = parts[0][0]
    place = first.place.new_full((total, width), NOTHING)
    layers = []
    for i, example in enumerate(first.layers):
        layer = KvLayer(width + extra)
        if example.keys is not None:
            # zeros: a gap's weight is 0, and 0 times what memory happened to hold may be no number
            shapes = [(total, t.shape[1], width + extra, t.shape[3]) for t in
                      (example.keys, example.values)]  # fmt: skip
            layer.keys, layer.values = (
                torch.zeros(shape, dtype=example.keys.dtype, device=example.keys.device)
                for shape in shapes
            )
            start = 0
            for kv, rows in parts:
                where = (
                    slice(start, start + len(rows)),
                    slice(None),
                    slice(width - kv.columns, width),
                )
                layer.keys[where] = kv.layers[i].keys[rows, :, : kv.columns]
                layer.values[where] = kv.layers[i].values[rows, :, : kv.columns]
                start += len(rows)
        layer.used = width
        layers.append(layer)
    start = 0
    for kv, rows in parts:
        place[start : start + len(rows), width - kv.columns :] = kv.place[rows]
        start += len(rows)
    return KvRows(layers, place, torch.zeros_like(place))


@dataclass(frozen=True, slots=True)
class Shape:
    """What a model's config says of its form.

    Parameters
    ----------
    layers
        Number of layers.
    kinds
        Kinds of attention its layers have; empty where the config names none.
    window
        Tokens a sliding layer looks back on; None without sliding layers.
    context
        Longest context; 0 if the config does not say.
    vocabulary
        Number of logits.
    attention
        How attention is computed: ``"sdpa"``, or ``"eager"`` where scores are bounded, which the
        fused kernels do not know.
    """

    layers: int
    kinds: tuple[str, ...]
    window: int | None
    context: int
    vocabulary: int
    attention: str

    @classmethod
    def of(cls, folder: Path) -> Shape:
        """Read a folder's config; refuse layers whose batches cannot be made exact."""
        import transformers

        try:
            config: Any = transformers.AutoConfig.from_pretrained(
                str(folder), local_files_only=True, trust_remote_code=False
            )
            text = config.get_text_config()
            layers, vocabulary = int(text.num_hidden_layers), int(text.vocab_size)
        except Exception as error:  # whatever a strange file makes of the library
            raise _not_loaded(folder, error) from error
        kinds = tuple(sorted(set(getattr(text, "layer_types", None) or ())))
        strange = sorted(set(kinds) - _KINDS)
        if strange:
            raise NongrataError(
                f"the model has layers of the kind {str(strange[0])[:80]!r}, for which the engine "
                "transformers cannot share prompts exactly",
                where=folder,
                fix="use engine: vllm or openai",
            )
        window = getattr(text, "sliding_window", None)
        if kinds == ("full_attention",) or getattr(text, "use_sliding_window", True) is False:
            window = None
        capped = getattr(text, "attn_logit_softcapping", None) is not None
        return cls(
            layers=layers,
            kinds=kinds,
            window=None if window is None else int(window),
            context=int(getattr(text, "max_position_embeddings", 0) or 0),
            vocabulary=vocabulary,
            attention="eager" if capped else "sdpa",
        )


class HfModel:
    """A loaded model.

    Parameters
    ----------
    folder
        Its folder.
    shape
        Its form.
    dtype
        Arithmetic.
    device
        Where it is computed, as PyTorch names it.
    """

    def __init__(self, folder: Path, shape: Shape, dtype: Dtype, device: str) -> None:
        import torch
        import transformers

        self._cache_class: Any = transformers.Cache
        self.shape = shape
        self.device = torch.device(device)
        self.model = _load(folder, getattr(torch, dtype), shape.attention, device)
        # the argument was renamed in version 5
        names = inspect.signature(self.model.forward).parameters
        self._cache_name = "cache" if "cache" in names else "past_key_values"

    def nothing(self, rows: int, room: int) -> KvRows:
        """Rows of empty texts."""
        import torch

        place = torch.empty((rows, 0), dtype=torch.int64, device=self.device)
        return KvRows([KvLayer(room) for _ in range(self.shape.layers)], place, place)

    def forward(
        self, kv: KvRows, tokens: Any, place: Any, branch: Any = None, *, keep: int = 1
    ) -> Any:
        """Add columns to every row, and compute them.

        Parameters
        ----------
        kv
            The texts so far; they grow.
        tokens, place
            Next tokens and their places, int64, shape (rows, n); `NOTHING` marks padding.
        branch
            Continuation each belongs to; it sees the text (0) and itself.
        keep
            Number of last columns whose logits are wanted.

        Returns
        -------
        Tensor
            Logits, float32, shape (rows, keep, vocabulary).
        """
        import torch

        branch = torch.zeros_like(place) if branch is None else branch
        kv.place = torch.cat([kv.place, place], dim=1)
        kv.branch = torch.cat([kv.branch, branch], dim=1)
        arguments = {
            "input_ids": tokens,
            "position_ids": place.clamp(min=0),
            "attention_mask": self._masks(kv, place, branch),
            self._cache_name: self._cache_class(layers=kv.layers),
        }
        with torch.inference_mode():
            out = self.model(**arguments, use_cache=True, logits_to_keep=keep, return_dict=True)
        return out.logits[:, -keep:].float()

    def plain(self, tokens: Sequence[int]) -> Any:
        """Logits after a text, computed by the library alone: no padding, no cache, no own mask."""
        import torch

        ids = torch.tensor([list(tokens)], device=self.device)
        with torch.inference_mode():
            return (
                self.model(input_ids=ids, use_cache=False, logits_to_keep=1).logits[0, -1].float()
            )

    def _masks(self, kv: KvRows, place: Any, branch: Any) -> Any:
        """Who sees whom: a token sees its text up to itself, or the last `window` tokens of it."""
        import torch

        theirs, ours = kv.place[:, None, :], place[:, :, None]
        seen = (theirs >= 0) & (theirs <= ours)
        other = kv.branch[:, None, :]
        seen &= (other == 0) | (other == branch[:, :, None])
        n = place.shape[1]
        # padding sees itself: a token that sees nothing would be no number
        own = torch.eye(n, dtype=torch.bool, device=place.device)
        full = self._finished(seen, own)
        window = self.shape.window
        if window is None:
            if len(self.shape.kinds) < 2:
                return full
            return dict.fromkeys(self.shape.kinds, full)
        near = self._finished(seen & (ours - theirs < window), own)
        if len(self.shape.kinds) < 2:
            return near
        return {"full_attention": full, "sliding_attention": near}

    def _finished(self, seen: Any, own: Any) -> Any:
        import torch

        seen[:, :, -own.shape[0] :] |= own
        mask = seen[:, None]
        if self.shape.attention == "sdpa":
            return mask
        low = torch.finfo(self.model.dtype).min
        return torch.zeros(mask.shape, dtype=self.model.dtype, device=mask.device).masked_fill_(
            ~mask, low
        )


def _load(folder: Path, dtype: Any, attention: str, device: str) -> Any:
    import transformers

    try:
        with quiet_transformers():
            model: Any = transformers.AutoModelForCausalLM.from_pretrained(
                str(folder),
                dtype=dtype,
                attn_implementation=attention,
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=True,
            )
        return model.to(device).eval()
    except Exception as error:  # whatever a strange file makes of the library
        if (
            isinstance(error, MemoryError)
            or "not enough memory" in str(error)
            or ("out of memory" in str(error))
        ):
            raise NongrataError(
                "the model does not fit into memory",
                where=folder,
                fix="set dtype: bfloat16, use a smaller model, or another machine",
            ) from error
        raise _not_loaded(folder, error) from error


def _not_loaded(folder: Path, error: Exception) -> NongrataError:
    said = (str(error).splitlines() or [type(error).__name__])[0]
    return NongrataError(
        f"the model cannot be loaded: {said[:200]!r}",
        where=folder,
        fix="use an instruction-tuned causal language model that the installed transformers "
        "library knows; a model's own code is never run",
    )
