"""Every item is done once, neighbours stay together, and nobody idles while there is work."""

from __future__ import annotations

import threading

from hypothesis import given
from hypothesis import strategies as st

from nongrata.engines.work_sharing import SharedWork


@given(st.lists(st.booleans(), max_size=60), st.integers(1, 9), st.randoms())
def test_every_item_is_taken_once(same: list[bool], lanes: int, chance: object) -> None:
    work = SharedWork(same, lanes)
    taken: list[int] = []
    open_lanes = list(range(lanes))
    while open_lanes:
        lane = chance.choice(open_lanes)  # type: ignore[attr-defined]
        item = work.take(lane)
        if item is None:
            open_lanes.remove(lane)
        else:
            taken.append(item)
    assert sorted(taken) == list(range(len(same)))


def test_a_lane_works_through_neighbours() -> None:
    work = SharedWork([False] * 40, 4)
    assert [work.take(2) for _ in range(10)] == list(range(20, 30))


def test_an_idle_lane_takes_half_of_what_is_left() -> None:
    work = SharedWork([False] * 8, 2)
    assert [work.take(0) for _ in range(8)] == [0, 1, 2, 3, 6, 7, 5, 4]
    assert work.take(1) is None


def test_one_prompts_temperatures_stay_together() -> None:
    same = [False, True, True] * 4
    work = SharedWork(same, 8)
    lanes = [list(iter(lambda lane=lane: work.take(lane), None)) for lane in range(8)]
    assert sorted(item for lane in lanes for item in lane) == list(range(12))
    assert all(len({item // 3 for item in lane}) * 3 == len(lane) for lane in lanes)


def test_many_replicates_of_one_prompt_are_divided() -> None:
    work = SharedWork([False, *[True] * 31], 2)
    assert [work.take(0) for _ in range(17)][-1] == 24
    assert work.take(1) == 16


def test_threads_share_without_losing_or_doubling() -> None:
    work = SharedWork([False] * 5000, 8)
    taken: list[list[int]] = [[] for _ in range(8)]

    def lane(number: int) -> None:
        while (item := work.take(number)) is not None:
            taken[number].append(item)

    threads = [threading.Thread(target=lane, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(item for items in taken for item in items) == list(range(5000))
