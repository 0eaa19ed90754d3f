"""The number of threads with which policies compute."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import torch
from threadpoolctl import ThreadpoolController


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit torch and numpy to one thread.

    The matrix products of one problem are too small to split: waiting threads would double
    the CPU time.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with _blas().limit(limits=1, user_api="blas"):
            yield
    finally:
        torch.set_num_threads(before)


@cache
def _blas() -> ThreadpoolController:
    """Return a controller of numpy's threads, cached because creating one takes milliseconds."""
    return ThreadpoolController()
