"""Blocks of requests on their way to the workers of a cluster, and why they get lost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from nongrata.executors.ray_worker import Opened
from nongrata.keys import U64
from nongrata.plan import Requests


@dataclass
class Block:
    """Requests that are asked together.

    Parameters
    ----------
    keys, requests
        The requests and their keys.
    tries
        How often they were given to a worker that did not answer them.
    shown
        How many of them have been reported as answered.
    """

    keys: U64
    requests: Requests
    tries: int = 0
    shown: int = 0


@dataclass(eq=False)
class Member:
    """A worker, as the driver sees it.

    Parameters
    ----------
    actor
        Its handle.
    length
        How many requests it is given at once.
    opened
        What it is; None as long as it is starting.
    flying
        Attempts it has been given and has not answered.
    """

    actor: Any
    length: int = 0
    opened: Opened | None = None
    flying: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Returned:
    """A block that was answered.

    Parameters
    ----------
    block
        The block.
    rows
        Its rows, a ``pyarrow.Table``.
    member, seconds
        By whom, and how long that took.
    """

    block: Block
    rows: Any
    member: Member
    seconds: float


def reason_of(error: Exception) -> str:
    """The telling line of one of Ray's long messages."""
    name = type(error).__name__
    known = {
        "NodeDiedError": "its machine is gone",
        "OutOfMemoryError": "its machine ran out of memory",
        "ObjectLostError": "its result was on a machine that is gone",
    }
    if name in known:
        return known[name]
    text = str(error)
    if "node" in text and ("died" in text or "dead" in text):
        return known["NodeDiedError"]
    if "OOM" in text or "memory" in text:
        return known["OutOfMemoryError"]
    return "its process has ended"
