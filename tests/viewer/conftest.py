"""Runs to look at, and a viewer of each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlencode

import pytest

from nongrata.runner import run_study
from nongrata.viewer import Api, RunOnDisk, ViewerServer, open_server
from studies import SIMULATED, Silent, loaded, small_study


class Reader:
    """Somebody who asks a viewer."""

    def __init__(self, server: ViewerServer) -> None:
        self.server = server

    def ask(
        self,
        path: str,
        values: dict[str, Any] | None = None,
        *,
        method: str = "GET",
        headers: dict[str, str] | None = None,
    ) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of one request."""
        connection = HTTPConnection("127.0.0.1", self.server.server_port, timeout=30)
        try:
            target = path + (f"?{urlencode(values)}" if values else "")
            connection.request(method, target, headers=headers or {})
            response = connection.getresponse()
            return response.status, dict(response.getheaders()), response.read()
        finally:
            connection.close()

    def json(self, path: str, **values: Any) -> dict[str, Any]:
        """What an address of the interface says."""
        status, _, body = self.ask(path, values)
        found: dict[str, Any] = json.loads(body)
        assert status == 200, found
        return found


@contextmanager
def viewer(folder: Path) -> Iterator[Reader]:
    """A viewer of a run, served while it is read."""
    server = open_server(Api(RunOnDisk(folder)), 0)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield Reader(server)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(scope="session")
def open_viewer() -> Any:
    return viewer


def two_models() -> dict[str, Any]:
    """5 labels x 12 configurations x 3 replicates x 8 questions, exact and free, two models."""
    block = {"block": 100}
    values: dict[str, Any] = small_study(
        models=[SIMULATED | block, SIMULATED | block | {"id": "other", "seed": 4, "error": 0.003}],
        replicates=3,
    )
    values["settings"]["choice_order"] = "shuffled"
    return values


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("viewer") / "run"
    run_study(loaded(two_models()), folder, Silent())
    return folder


@pytest.fixture(scope="module")
def reader(run: Path) -> Iterator[Reader]:
    with viewer(run) as opened:
        yield opened
