"""The connection to a Ray cluster."""

from __future__ import annotations

import logging
import os
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

from nongrata.errors import MissingExtraError, NongrataError
from nongrata.executors.options import RayOptions

_KNOCK_SECONDS = 10.0
_LONGEST_TEMP = 40  # Ray puts sockets there, and a socket's path has room for 107 bytes


def connect(options: RayOptions, note: Callable[[str], None]) -> bool:
    """Connect to the cluster that the options name, or start one.

    Returns
    -------
    bool
        Whether the connection is this call's own, to be closed with `disconnect`.
    """
    try:
        import ray
    except ImportError:
        raise MissingExtraError("ray", "--executor ray") from None
    if ray.is_initialized():
        return False
    # nothing of a study leaves for anywhere unasked
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # a worker without GPUs sees none; this says so to the releases that ask
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "1")
    quiet: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    _keep_off_stdout()
    address = options.address
    if address == "auto":
        try:
            ray.init(address="auto", **quiet)
        except ConnectionError:
            address = "local"
    elif address != "local":
        try:
            _knock(address)
            ray.init(address=address, **quiet)
        except (OSError, ValueError, RuntimeError) as error:
            lines = str(error).strip().splitlines()
            raise NongrataError(
                f"this Ray cluster cannot be reached ({lines[0] if lines else 'no answer'})",
                where=options.address,
                fix="start it with ray start --head, or give another --ray-address",
            ) from None
    if address == "local":
        if len(tempfile.gettempdir()) > _LONGEST_TEMP:
            quiet["_temp_dir"] = "/tmp/ray"  # noqa: S108
        ray.init(address="local", include_dashboard=False, **quiet)
        note("Ray: a new cluster of this machine alone")
    return True


def _knock(address: str) -> None:
    """Fail at once where nobody listens: Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError("the address has no port, as in 10.0.0.1:6379 or ray://10.0.0.1:10001")
    with socket.create_connection((host.strip("[]"), int(port)), timeout=_KNOCK_SECONDS):
        pass


def _keep_off_stdout() -> None:
    """Keep Ray from printing what happens on other machines between the lines of a result.

    It prints messages of its own, with lines of logs in them, to standard output, whatever
    `log_to_driver` says, and has no setting for that. They stay in Ray's log files.
    """
    from ray._private import worker

    def silent(*_: Any, **__: Any) -> None:
        return None

    if hasattr(worker, "print_to_stdstream"):
        cast("Any", worker).print_to_stdstream = silent


def disconnect() -> None:
    """Close the connection; a cluster that `connect` has started ends."""
    import ray

    ray.shutdown()


def room(options: RayOptions) -> int:
    """How many workers the cluster, as it is now, has room for."""
    total = 0
    for resources in _machines():
        by_cpu = (
            resources.get("CPU", 0.0) / options.cpus_per_worker if options.cpus_per_worker else 0
        )
        by_gpu = (
            resources.get("GPU", 0.0) / options.gpus_per_worker if options.gpus_per_worker else 0
        )
        if options.cpus_per_worker and options.gpus_per_worker:
            total += int(min(by_cpu, by_gpu))
        else:
            total += int(by_cpu or by_gpu)
    return total


def describe() -> str:
    """The cluster's machines and what they have, in words."""
    machines = _machines()
    cpus = sum(resources.get("CPU", 0.0) for resources in machines)
    gpus = sum(resources.get("GPU", 0.0) for resources in machines)
    return f"{len(machines)} machines with {cpus:g} CPUs and {gpus:g} GPUs"


def _machines() -> list[dict[str, float]]:
    import ray

    nodes: list[dict[str, Any]] = cast("Any", ray).nodes()
    return [dict(node["Resources"]) for node in nodes if node["Alive"]]


@contextmanager
def cluster_errors() -> Iterator[None]:
    """Turn the loss of the whole cluster into one sentence."""
    from ray import exceptions

    try:
        yield
    except (exceptions.RaySystemError, exceptions.RpcError, ConnectionError) as error:
        lines = str(error).strip().splitlines()
        raise NongrataError(
            f"the Ray cluster is gone ({lines[0] if lines else 'no answer'})",
            fix="the same command goes on from what is committed",
        ) from None
