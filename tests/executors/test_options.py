from __future__ import annotations

import pytest

from nongrata.errors import NongrataError
from nongrata.executors import LocalExecutor, RayOptions, open_executor


def test_without_options_engines_are_in_this_process() -> None:
    assert isinstance(open_executor(), LocalExecutor)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"workers": 0}, "--ray-workers is 0"),
        ({"cpus_per_worker": -1}, "--cpus-per-worker is -1"),
        ({"gpus_per_worker": 1.5}, "--gpus-per-worker is 1.5"),
        ({"gpus_per_worker": float("nan")}, "--gpus-per-worker is nan"),
    ],
)
def test_what_cannot_be_is_one_sentence(given: dict[str, float], says: str) -> None:
    with pytest.raises(NongrataError, match=says):
        RayOptions(**given)  # type: ignore[arg-type]


def test_what_a_worker_needs_is_said_in_words() -> None:
    assert RayOptions(cpus_per_worker=4, gpus_per_worker=0.5).needs() == "4 CPUs and 0.5 GPUs"
    assert RayOptions().needs() == "1 CPUs"
