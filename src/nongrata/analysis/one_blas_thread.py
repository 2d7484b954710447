"""Matrix products on one thread each, while several analyses run side by side.

Threads of two products that wait for one another by spinning took twice the time on two cores; and
how a product is divided among threads changes its last bits, so a result would depend on the
machine's load.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep the linear algebra library to one thread, and give the others back at the end.

    Examples
    --------
    >>> with one_blas_thread():
    ...     pass
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield
