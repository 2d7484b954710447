"""How a Ray cluster is to be used."""

from __future__ import annotations

from dataclasses import dataclass

from nongrata.errors import NongrataError


@dataclass(frozen=True, slots=True)
class RayOptions:
    """How a Ray cluster is to be used.

    Parameters
    ----------
    address
        ``"auto"``: the cluster that ``RAY_ADDRESS`` names or that runs on this machine, or a new
        one of this machine alone; ``"local"``: always a new one; or a cluster's address.
    workers
        How many engines at most; by default as many as the cluster has room for at the start.
    cpus_per_worker, gpus_per_worker
        What each of them needs; a share of a GPU is allowed.

    Examples
    --------
    >>> RayOptions(workers=0)
    Traceback (most recent call last):
    nongrata.errors.NongrataError: --ray-workers is 0; give 1 or more
    """

    address: str = "auto"
    workers: int | None = None
    cpus_per_worker: float = 1.0
    gpus_per_worker: float = 0.0

    def __post_init__(self) -> None:
        if self.workers is not None and self.workers < 1:
            raise NongrataError(f"--ray-workers is {self.workers}", fix="give 1 or more")
        for name in ("cpus", "gpus"):
            value = getattr(self, f"{name}_per_worker")
            if not 0 <= value < 10_000 or (value > 1 and value != int(value)):
                raise NongrataError(
                    f"--{name}-per-worker is {value:g}",
                    fix="give a whole number, or a share between 0 and 1",
                )

    def needs(self) -> str:
        """What a worker needs, in words."""
        gpus = f" and {self.gpus_per_worker:g} GPUs" if self.gpus_per_worker else ""
        return f"{self.cpus_per_worker:g} CPUs{gpus}"
