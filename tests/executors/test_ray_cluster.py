from __future__ import annotations

import pytest

from nongrata.errors import NongrataError
from nongrata.executors.options import RayOptions
from nongrata.executors.ray_cluster import connect

pytest.importorskip("ray", reason="needs ray")


@pytest.mark.parametrize("address", ["127.0.0.1:9", "ray://127.0.0.1:9", "somewhere"])
def test_a_cluster_that_is_not_there_is_one_sentence(address: str) -> None:
    with pytest.raises(NongrataError, match=f"{address}: this Ray cluster cannot be reached"):
        connect(RayOptions(address=address), print)
