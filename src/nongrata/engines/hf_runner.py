"""Many texts through a model: beginnings computed once, rows of like length side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nongrata.engines.hf_forward import NOTHING, HfModel, KvRows
from nongrata.engines.hf_prefixes import PrefixCache, Tokens, grouped
from nongrata.errors import NongrataError

_CPU_TOKENS = 2048
_GPU_TOKENS = 32_768
_CPU_BYTES = 1 << 30
_GROUP_OVERHEAD = {"cpu": 32, "cuda": 512}


@dataclass(frozen=True, slots=True)
class Text:
    """A text to be computed.

    Parameters
    ----------
    tokens
        The text.
    branches
        Continuations of it that are computed beside one another, each seeing the text and itself.
    """

    tokens: Tokens
    branches: tuple[Tokens, ...] = ()

    @property
    def added(self) -> int:
        """Tokens of all branches."""
        return sum(map(len, self.branches))


@dataclass(frozen=True, slots=True)
class Computed:
    """Some texts, computed side by side.

    Parameters
    ----------
    members
        Which texts these are.
    logits
        Float32, shape (texts, kept, vocabulary): after the text's last token, then after each token
        of its branches, one branch after another; right-aligned.
    kv
        What was computed, row by row.
    cached
        Tokens of each text that had been computed before, or that a neighbour bears.
    """

    members: tuple[int, ...]
    logits: Any
    kv: KvRows
    cached: tuple[int, ...]


class Runner:
    """Computes texts with a model.

    Parameters
    ----------
    model
        The model.
    batch_tokens
        Tokens computed at once; None: what suits the machine.

    Attributes
    ----------
    prefixes
        Beginnings that are kept.
    """

    def __init__(self, model: HfModel, batch_tokens: int | None) -> None:
        self.model = model
        self._token_bytes = 0
        self.batch_tokens = batch_tokens or (
            _CPU_TOKENS if model.device.type == "cpu" else _GPU_TOKENS
        )
        self._overhead = _GROUP_OVERHEAD.get(model.device.type, _GROUP_OVERHEAD["cuda"])
        self.room = _free_bytes(model)
        self.prefixes = PrefixCache(self._compute, self.room // 4)

    def token_bytes(self) -> int:
        """Memory of one token's keys and values."""
        if not self._token_bytes:
            kv = self._compute(None, 0, (0,))
            self._token_bytes = max(1, kv.nbytes)
        return self._token_bytes

    def run(self, texts: Sequence[Text], overhead: int | None = None) -> Iterator[Computed]:
        """Compute texts, as many side by side as fit.

        Parameters
        ----------
        texts
            The texts, each one once.
        overhead
            What one more group costs, in tokens; by default what suits the machine.
        """
        overhead = self._overhead if overhead is None else overhead
        for group in grouped([text.tokens for text in texts], overhead):
            beginning = texts[group.members[0]].tokens[: group.shared]
            if len(group.members) == 1:  # nobody shares it now, but somebody may have before
                text = texts[group.members[0]].tokens
                found, length = self.prefixes.longest(text)
                beginning = text[: min(length, len(text) - 1)] if found else ()
            known: KvRows | None = None
            reused = 0
            if beginning:
                known, reused = self.prefixes.get(beginning)
            first = True
            for members in self._side_by_side(texts, group.members, len(beginning)):
                cached = [len(beginning)] * len(members)
                if first:
                    cached[0] = reused
                    first = False
                yield self._forward(texts, members, known, len(beginning), tuple(cached))

    def rows_at_once(self, width: int) -> int:
        """How many rows of `width` columns fit into memory."""
        return max(1, self.room // 2 // max(1, width * self.token_bytes()))

    def _side_by_side(
        self, texts: Sequence[Text], members: Sequence[int], shared: int
    ) -> Iterator[tuple[int, ...]]:
        """Divide a group into batches of like length."""

        def size(i: int) -> int:
            return len(texts[i].tokens) - shared + texts[i].added

        taken: list[int] = []
        most = self.room // 8 // (4 * self.model.shape.vocabulary)  # rows of logits
        for i in sorted(members, key=size):
            # sorted: the newest is the widest, and all rows become as wide
            rows = len(taken) + 1
            added = max(texts[j].added for j in (*taken, i))
            full = rows * size(i) > self.batch_tokens or rows * (1 + added) > most
            if taken and (full or rows > self.rows_at_once(shared + size(i))):
                yield tuple(taken)
                taken = []
            taken.append(i)
        if taken:
            yield tuple(taken)

    def _forward(
        self,
        texts: Sequence[Text],
        members: tuple[int, ...],
        known: KvRows | None,
        shared: int,
        cached: tuple[int, ...],
    ) -> Computed:
        import torch

        chosen = [texts[i] for i in members]
        width = max(len(text.tokens) - shared + text.added for text in chosen)
        tokens = np.zeros((len(chosen), width), dtype=np.int64)
        place = np.full((len(chosen), width), NOTHING, dtype=np.int64)
        branch = np.zeros((len(chosen), width), dtype=np.int64)
        for row, text in enumerate(chosen):
            at = width - text.added
            own = text.tokens[shared:]
            tokens[row, at - len(own) : at] = own
            place[row, at - len(own) : at] = np.arange(shared, len(text.tokens))
            for number, more in enumerate(text.branches, 1):
                here = slice(at, at + len(more))
                tokens[row, here] = more
                place[row, here] = np.arange(len(text.tokens), len(text.tokens) + len(more))
                branch[row, here] = number
                at += len(more)
        kv = self._begun(known, len(chosen), shared, width)
        device = self.model.device
        try:
            logits = self.model.forward(
                kv,
                torch.from_numpy(tokens).to(device),
                torch.from_numpy(place).to(device),
                torch.from_numpy(branch).to(device),
                keep=1 + max(text.added for text in chosen),
            )
        except torch.OutOfMemoryError as error:
            raise NongrataError(
                f"the GPU's memory ran out with {tokens.size} tokens computed at once",
                fix=f"set batch_tokens: {max(64, tokens.size // 4)}; finished answers are kept",
            ) from error
        return Computed(members, logits, kv, cached)

    def _begun(self, known: KvRows | None, rows: int, shared: int, extra: int) -> KvRows:
        if known is None or shared == 0:
            return self.model.nothing(rows, extra)
        return known.spread(rows, shared, extra)

    def _compute(self, known: KvRows | None, shared: int, text: Tokens) -> KvRows:
        """The rows of one text, of which the first `shared` tokens are known."""
        import torch

        kv = self._begun(known, 1, shared, len(text) - shared)
        for start in range(shared, len(text), self.batch_tokens):
            part = text[start : start + self.batch_tokens]
            tokens = torch.tensor([list(part)], device=self.model.device)
            place = torch.arange(start, start + len(part), device=self.model.device)[None]
            self.model.forward(kv, tokens, place)
        return kv


def _free_bytes(model: HfModel) -> int:
    """Memory that keys and values may take."""
    import torch

    if model.device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(model.device)
        return int(free * 0.6)
    return _CPU_BYTES
