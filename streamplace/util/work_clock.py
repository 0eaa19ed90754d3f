"""Clock for timing placers that stops while libraries, kernels and weights are loaded."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class _Loading(threading.local):
    """The seconds that a thread has spent in `loading`, and how many `loading` blocks it is in."""

    seconds = 0.0
    depth = 0


_loading = _Loading()


def now() -> float:
    """Return seconds since some fixed time, without those spent in `loading` by this thread.

    Inside `loading` the clock seems to run, so that placers that are warmed up there keep to their
    time limits; the time is subtracted when `loading` ends.
    """
    return time.perf_counter() - _loading.seconds


@contextmanager
def loading() -> Iterator[None]:
    """Stop the clock, since loading, done once per process, is not a cost of the placement."""
    begun = time.perf_counter()
    _loading.depth += 1
    try:
        yield
    finally:
        _loading.depth -= 1
        if not _loading.depth:
            _loading.seconds += time.perf_counter() - begun
