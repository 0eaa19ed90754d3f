"""Clock for timing placers that stops while libraries, kernels and weights are loaded."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class _Loading(threading.local):
    """The loading that a thread has done so far."""

    seconds = 0.0
    depth = 0


_loading = _Loading()


def now() -> float:
    """Return seconds since some fixed time, without those spent in `loading` by this thread.

    While the thread is inside `loading`, the clock runs: placers that are warmed up there keep to
    their time limits.
    """
    return time.perf_counter() - _loading.seconds


@contextmanager
def loading() -> Iterator[None]:
    """Stop the clock: what is loaded once per process is not part of the cost of a placement."""
    begun = time.perf_counter()
    _loading.depth += 1
    try:
        yield
    finally:
        _loading.depth -= 1
        if not _loading.depth:
            _loading.seconds += time.perf_counter() - begun
