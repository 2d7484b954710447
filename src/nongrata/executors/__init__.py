"""Where a run's engines are: in this process, or on the machines of a Ray cluster.

Either way the process that was started holds the run directory and is the only one that commits.
"""

from __future__ import annotations

from nongrata.executors.base import Executor
from nongrata.executors.local import LocalExecutor
from nongrata.executors.options import RayOptions

__all__ = ["Executor", "LocalExecutor", "RayOptions", "open_executor"]


def open_executor(options: RayOptions | None = None) -> Executor:
    """Make the executor that the options ask for; without options, this process.

    Parameters
    ----------
    options
        How to use Ray.

    Examples
    --------
    >>> type(open_executor()).__name__
    'LocalExecutor'
    """
    if options is None:
        return LocalExecutor()
    from nongrata.executors.ray_executor import RayExecutor

    return RayExecutor(options)
