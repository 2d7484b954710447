"""Places for run directories that are no local folders, for tests."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nongrata.run_path import run_path


def in_memory() -> Path:
    """A run directory in this process's memory."""
    pytest.importorskip("upath", reason="needs universal-pathlib")
    return run_path(f"memory://{uuid.uuid4().hex}/run")


@contextmanager
def s3_server(patch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server that speaks S3, on loopback; yields its address."""
    s3fs = pytest.importorskip("s3fs", reason="needs s3fs")
    server_module = pytest.importorskip("moto.server", reason="needs moto[server]")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = server_module.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    patch.setenv("AWS_ACCESS_KEY_ID", "test")
    patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    s3fs.S3FileSystem.clear_instance_cache()  # of a server before this one
    try:
        yield f"http://{host}:{port}"
    finally:
        server.stop()


def new_bucket() -> Path:
    """A run directory in a new bucket of the server."""
    import s3fs

    name = uuid.uuid4().hex
    s3fs.S3FileSystem(skip_instance_cache=True).mkdir(name)
    return run_path(f"s3://{name}/runs/one")
