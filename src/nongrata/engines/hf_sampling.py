"""Drawing tokens: what is drawn depends on a request and on nothing beside it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

SAMPLER_ORDER = ("temperature", "top_k", "top_p", "min_p")
"""Order in which samplers act: truncation sees the tempered distribution."""

_FIRST_SORT = 1024


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the tokens of one text are drawn.

    Parameters
    ----------
    temperature
        0: the most probable token.
    top_k, top_p, min_p
        Truncation; 0, 1 and 0 mean none.
    seed
        The request's own.
    """

    temperature: float
    top_k: int
    top_p: float
    min_p: float
    seed: int


def luck(seed: int, position: int) -> float:
    """A uniform number in [0, 1) for one token of one request; the same on every machine.

    Examples
    --------
    >>> luck(7, 0) == luck(7, 0), luck(7, 0) == luck(7, 1)
    (True, False)
    """
    data = seed.to_bytes(8, "little") + position.to_bytes(8, "little")
    word = int.from_bytes(hashlib.blake2b(data, digest_size=8, person=b"luck").digest(), "little")
    return (word >> 11) / 2.0**53


def draw(logits: Any, sampling: Sequence[Sampling], position: Sequence[int]) -> Any:
    """One token per row.

    The tokens are laid side by side in the order of their numbers, each as wide as it is probable,
    and the one at the row's uniform number is taken. In that order a change of the last digits
    of the probabilities moves the borders by as much and no more.

    Parameters
    ----------
    logits
        Float32, shape (rows, vocabulary).
    sampling
        Of each row.
    position
        Tokens drawn before in each row.

    Returns
    -------
    Tensor
        int64, shape (rows,).
    """
    import torch

    chosen = logits.argmax(dim=1)
    warm = [i for i, how in enumerate(sampling) if how.temperature > 0]
    if not warm:
        return chosen
    rows = torch.tensor(warm, device=logits.device)
    how = [sampling[i] for i in warm]
    weights = _weights(logits[rows], how)
    borders = weights.cumsum(dim=1)
    numbers = [luck(sampling[i].seed, position[i]) for i in warm]
    at = torch.tensor(numbers, dtype=torch.float64, device=logits.device) * borders[:, -1]
    # rounding may put a number on the very end, behind which there are tokens without weight
    drawn = torch.searchsorted(borders, at[:, None], right=True)[:, 0]
    last = torch.searchsorted(borders, borders[:, -1:].contiguous())[:, 0]
    chosen[rows] = torch.minimum(drawn, last)
    return chosen


def _weights(logits: Any, how: Sequence[Sampling]) -> Any:
    """Probabilities up to a factor after temperature and truncation; float64."""
    import torch

    def column(values: Sequence[float]) -> Any:
        return torch.tensor(list(values), dtype=torch.float64, device=logits.device)[:, None]

    x = logits.double()
    x = (x - x.max(dim=1, keepdim=True).values) / column([s.temperature for s in how])
    weights = x.exp_()
    cut = [i for i, s in enumerate(how) if s.top_k > 0 or s.top_p < 1]
    if cut:
        rows = torch.tensor(cut, device=logits.device)
        weights[rows] = _truncated(weights[rows], [how[i] for i in cut])
    least = column([s.min_p for s in how])
    return weights * (weights >= least * weights.max(dim=1, keepdim=True).values)


def _truncated(weights: Any, how: Sequence[Sampling]) -> Any:
    """Top-k, then top-p, of rows of weights.

    Kept are the `k` most probable tokens, then the fewest of them whose probability adds up to
    `top_p`; of equally probable ones at the border the first.
    """
    import torch

    size = weights.shape[1]
    k = torch.tensor([min(s.top_k, size) or size for s in how], device=weights.device)[:, None]
    p = torch.tensor([s.top_p for s in how], dtype=weights.dtype, device=weights.device)[:, None]
    total = weights.sum(dim=1, keepdim=True)
    # most distributions are narrow: all tokens are put in order only where that is needed
    n = min(_FIRST_SORT, size)
    while True:
        values = weights.topk(n, dim=1).values
        among = torch.arange(n, device=weights.device)[None] < k
        inside = values * among
        mass = torch.where(k < size, inside.sum(dim=1, keepdim=True), total)
        keep = among & (inside.cumsum(dim=1) - inside < p * mass)
        count = keep.sum(dim=1, keepdim=True).clamp(min=1)
        if n == size or bool(((k <= n) | ((k == size) & (count < n))).all()):
            break
        n = size
    least = values.gather(1, count - 1)
    above, level = weights > least, weights == least
    level &= level.cumsum(dim=1) <= count - above.sum(dim=1, keepdim=True)
    return weights * (above | level)
