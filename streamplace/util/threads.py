"""The number of threads with which numpy and torch compute."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit numpy to one thread, and torch where it is loaded.

    The matrix products of one problem are too small to split: waiting threads would double
    the CPU time.
    """
    torch = sys.modules.get("torch")
    before = torch.get_num_threads() if torch else 0
    try:
        if torch:
            torch.set_num_threads(1)
        with one_thread_of_numpy():
            yield
    finally:
        if torch:
            torch.set_num_threads(before)


@contextmanager
def one_thread_of_numpy() -> Iterator[None]:
    """Limit numpy to one thread; torch keeps its own number."""
    with _blas().limit(limits=1, user_api="blas"):
        yield


@cache
def _blas() -> ThreadpoolController:
    """Return a controller of numpy's threads, cached because creating one takes milliseconds."""
    return ThreadpoolController()
