"""A pool's decisions, without a cluster."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from nongrata._version import __version__
from nongrata.engines import Capabilities
from nongrata.errors import NongrataError
from nongrata.executors.options import RayOptions
from nongrata.executors.ray_blocks import Block, Member, reason_of
from nongrata.executors.ray_pool import RayPool
from nongrata.executors.ray_worker import Opened
from nongrata.plan import Requests

pytest.importorskip("ray", reason="needs ray")

OPENED = Opened(
    host="a",
    process=1,
    gpus=(),
    version=__version__,
    prompts="p",
    kind="simulated",
    capabilities=Capabilities("full", deterministic_at_zero=True, is_model=False),
    identity={"dtype": "float32", "engine": "simulated"},
    provenance={},
    block=10,
    seconds=0.0,
)


@pytest.fixture(autouse=True)
def nothing_to_kill(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ray.kill", lambda _: None)  # Ray would start a cluster to do it


class Pool(RayPool):
    """A pool whose workers are named, not started."""

    def __init__(self, wanted: int = 2) -> None:
        self.notes: list[str] = []
        self._note = self.notes.append
        self._options = RayOptions()
        self._prompts = "p"
        self.wanted = wanted
        self._members, self._calls, self._blocks = [], {}, {}
        self._again = deque()
        self._attempts = self._deaths = self._lost = 0
        self._seen = []
        self.hired = 0

    def _hire(self) -> None:
        self.hired += 1
        self._members.append(Member(object()))


def block(n: int = 5) -> Block:
    zeros = np.zeros(n, dtype=np.int32)
    requests = Requests("free", zeros, zeros, np.zeros(n), np.zeros(n, dtype=np.int16))
    return Block(np.zeros((n, 2), dtype=np.uint64), requests)


def give(pool: Pool, member: Member, number: int, one: Block) -> None:
    pool._blocks[number] = one
    member.flying.add(number)


def test_workers_that_are_alike_join() -> None:
    pool = Pool()
    for host in "ab":
        pool._join(Member(object()), replace(OPENED, host=host))
    assert [opened.host for opened in pool._seen] == ["a", "b"]
    assert pool.identity == OPENED.identity


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            {"identity": {"dtype": "bfloat16", "engine": "simulated"}},
            "not one model: dtype is 'float32' on a and 'bfloat16' on b",
        ),
        ({"version": "0.0.1"}, "b has nongrata 0.0.1, this process"),
        ({"prompts": "q"}, "b builds other prompts"),
    ],
)
def test_a_worker_that_is_another_model_is_refused(change: dict[str, Any], says: str) -> None:
    pool = Pool()
    pool._join(Member(object()), OPENED)
    with pytest.raises(NongrataError, match=says):
        pool._join(Member(object()), replace(OPENED, host="b", **change))


def test_a_lost_worker_is_replaced_and_its_blocks_are_asked_again() -> None:
    pool = Pool()
    member = Member(object(), opened=OPENED)
    pool._members.append(member)
    one, two = block(), block()
    give(pool, member, 1, one)
    give(pool, member, 2, two)
    one.shown = 3
    told: list[int] = []
    pool._bury(member, lambda _, count: told.append(count), "its machine is gone")
    assert list(pool._again) == [one, two]
    assert told == [-3, 0]  # what was shown as answered is not
    assert (one.tries, two.tries) == (1, 0)  # the second was only waiting
    assert pool.hired == 1
    assert "2 blocks are asked again" in pool.notes[0]
    pool._bury(member, lambda *_: None, "again")  # one death has several messengers
    assert pool.hired == 1


def test_a_block_that_kills_its_workers_is_given_up() -> None:
    pool = Pool()
    one = block()
    for turn in range(3):
        member = Member(object(), opened=OPENED)
        pool._members.append(member)
        give(pool, member, turn, one)
        if turn < 2:
            pool._bury(member, lambda *_: None, "its machine ran out of memory")
            continue
        with pytest.raises(NongrataError, match="3 workers were lost over the same 5 requests"):
            pool._bury(member, lambda *_: None, "its machine ran out of memory")


def test_workers_that_all_die_at_once_end_the_run() -> None:
    pool = Pool(wanted=1)

    def die() -> None:
        for _ in range(20):
            member = Member(object())
            pool._members.append(member)
            pool._bury(member, lambda *_: None, "its process has ended")

    with pytest.raises(NongrataError, match="worker after worker is lost"):
        die()


def test_why_a_worker_was_lost_is_a_few_words() -> None:
    class NodeDiedError(Exception):
        pass

    assert reason_of(NodeDiedError("long")) == "its machine is gone"
    assert reason_of(RuntimeError("x\ny")) == "its process has ended"
