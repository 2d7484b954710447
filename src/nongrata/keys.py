"""The request hash: a 128-bit key of everything that was sent, computed for many at once.

A request is (model, skeleton, question block, temperature, replicate, seed). The first three are
128-bit BLAKE2b hashes of canonical text; here they are absorbed, word by word, by a mixing
function with full avalanche (the finaliser of MurmurHash3/SplitMix64 on two crossed lanes). It
need not resist an adversary: its inputs are hashes already, so distinct requests collide with
probability about n^2 / 2^129.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

U64 = NDArray[np.uint64]

_ODD_1 = np.uint64(0xBF58476D1CE4E5B9)
_ODD_2 = np.uint64(0x94D049BB133111EB)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_30, _27, _31 = np.uint64(30), np.uint64(27), np.uint64(31)
_TO_UNIT = 2.0**-53
_11 = np.uint64(11)


def model_digest(identity: Mapping[str, Any]) -> bytes:
    """128-bit hash of an engine's identity: everything about the model that can change an answer.

    Examples
    --------
    >>> model_digest({"a": 1, "b": 2}) == model_digest({"b": 2, "a": 1})
    True
    """
    text = json.dumps(identity, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=16, person=b"model").digest()


def name_hash(name: str) -> int:
    """64-bit hash of an identifier, for columns that join on it.

    Examples
    --------
    >>> name_hash("mmlu/anatomy/0") == name_hash("mmlu/anatomy/0")
    True
    """
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8, person=b"name")
    return int.from_bytes(digest.digest(), "little")


def mix(word: U64) -> U64:
    """SplitMix64's finaliser: a bijection of 64-bit words with full avalanche."""
    word = (word ^ (word >> _30)) * _ODD_1
    word = (word ^ (word >> _27)) * _ODD_2
    return word ^ (word >> _31)


def request_keys(
    model: U64,
    skeleton: U64,
    block: U64,
    temperature: NDArray[np.float64],
    replicate: NDArray[np.int16],
    seed: int,
) -> U64:
    """Keys of n requests.

    Parameters
    ----------
    model
        Words of the model's digest, shape (2,).
    skeleton, block
        Words of each request's skeleton and question block, shape (n, 2).
    temperature
        Shape (n,); ``nan`` for readings that serve every temperature.
    replicate
        Shape (n,).
    seed
        The study's seed. It enters only where something is drawn, so that deterministic requests
        are the same in every study.

    Returns
    -------
    ndarray of uint64, shape (n, 2)
    """
    # one bit pattern for every nan, and for both zeros
    heat = np.where(np.isnan(temperature), np.nan, temperature + 0.0).view(np.uint64)
    drawn = temperature > 0
    words = (
        model[0],
        model[1],
        skeleton[:, 0],
        skeleton[:, 1],
        block[:, 0],
        block[:, 1],
        heat,
        replicate.astype(np.uint64),
        np.where(drawn, np.uint64(seed), np.uint64(0)),
    )
    n = len(temperature)
    high = np.full(n, _GOLDEN)
    low = np.full(n, ~_GOLDEN)
    with np.errstate(over="ignore"):
        for word in words:
            high = mix(high ^ word) + low
            low = mix(low + word * _GOLDEN) ^ high
    return np.stack([mix(high), mix(low ^ high)], axis=1)


def uniforms(
    key: U64, temperature: float, replicate: int, seed: int, stream: str = ""
) -> NDArray[np.float64]:
    """One uniform number in [0, 1) per key: counter-based, so order and sharding cannot matter.

    Parameters
    ----------
    key
        Request keys, shape (n, 2).
    temperature, replicate, seed
        Together with the key, what the number is for.
    stream
        Name of an independent stream of numbers for the same purpose.
    """
    heat = np.array([temperature + 0.0]).view(np.uint64)
    turn, root = np.array([[replicate], [seed]], dtype=np.uint64)
    with np.errstate(over="ignore"):
        salt = mix(heat + turn * _GOLDEN) + mix(root ^ _ODD_1)
        if stream:
            salt = mix(salt ^ np.uint64(name_hash(stream)))
        bits = mix(mix(key[:, 0] ^ salt) + key[:, 1])
    return (bits >> _11).astype(np.float64) * _TO_UNIT
