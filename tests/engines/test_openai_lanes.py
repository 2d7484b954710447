from __future__ import annotations

import asyncio

import pytest

from nongrata.engines.openai_lanes import InFlight, Lanes


def serve(limit: InFlight, seconds: float, rounds: int, start: float = 0.0) -> float:
    """Rounds of answers that each take so long, side by side."""
    now = start
    for _ in range(rounds):
        now += seconds
        for _ in range(limit.now):
            limit.answered(seconds, now)
    return now


def test_it_grows_while_answers_are_quick_and_never_beyond_the_most() -> None:
    limit = InFlight(most=50)
    serve(limit, 1.0, 3)
    assert limit.now == 32
    serve(limit, 1.0, 5)
    assert limit.now == limit.highest == 50


def test_it_stays_where_more_only_wait_longer() -> None:
    """A server that answers 8 at a time, in 1 s: 16 under way take 2 s, 32 take 4 s."""
    limit, now = InFlight(most=1000), 0.0
    for _ in range(60):
        wait = max(1.0, limit.now / 8)
        now = serve(limit, wait, 1, now)
    assert 8 <= limit.now <= 40


def test_it_goes_on_growing_where_more_are_answered_though_each_takes_longer() -> None:
    """As a server does that computes many in one pass: three times as long, ten times as many."""
    limit, now = InFlight(most=256), 0.0
    for _ in range(40):
        now = serve(limit, 1.0 + limit.now / 100, 1, now)
    assert limit.now > 128


def test_a_refusal_halves_it_once_for_all_that_were_under_way() -> None:
    limit = InFlight(most=64)
    now = serve(limit, 1.0, 4)
    assert limit.now == 64
    for _ in range(30):
        limit.refused(sent=now - 0.5, now=now)
    assert limit.now == 32
    limit.refused(sent=now + 0.1, now=now + 1)
    assert limit.now == 16
    for step in range(2, 20):
        limit.refused(sent=now + step, now=now + step)
    assert limit.now == 1
    serve(limit, 1.0, 3, now + 30)
    assert limit.now == 4  # by one a round from here


def test_lanes_let_in_as_many_as_there_are() -> None:
    async def scene() -> None:
        lanes = Lanes(InFlight(most=10, first=2))
        inside: list[int] = []

        async def visit(number: int) -> None:
            await lanes.enter()
            inside.append(number)

        visitors = [asyncio.create_task(visit(number)) for number in range(5)]
        await asyncio.sleep(0)
        assert inside == [0, 1]
        visitors[2].cancel()  # one that waits gives up
        lanes.leave()
        for _ in range(4):
            await asyncio.sleep(0)
        assert inside == [0, 1, 3]
        lanes.limit.now = 1
        lanes.leave()
        await asyncio.sleep(0.01)
        assert inside == [0, 1, 3]
        lanes.leave()
        lanes.leave()
        await asyncio.sleep(0.01)
        assert inside == [0, 1, 3, 4]
        assert lanes.busy == 0
        with pytest.raises(asyncio.CancelledError):
            await visitors[2]

    asyncio.run(scene())


def test_a_closed_door_opens_by_itself() -> None:
    async def scene() -> float:
        lanes = Lanes(InFlight(most=4))
        lanes.close_for(0.2)
        lanes.close_for(0.01)  # does not open it earlier
        before = asyncio.get_running_loop().time()
        await asyncio.gather(lanes.enter(), lanes.enter())
        return asyncio.get_running_loop().time() - before

    assert asyncio.run(scene()) >= 0.19
