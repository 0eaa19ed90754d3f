"""Clock for timing placers that stops while libraries, kernels and weights are loaded."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class _Loading(threading.local):
    """The time that a thread has spent in `loading`, and how many `loading` blocks it is in."""

    wall_seconds = 0.0
    cpu_seconds = 0.0
    depth = 0


class _Counting(threading.local):
    """Whether the clock of a thread counts CPU time."""

    cpu = False


_loading = _Loading()
_counting = _Counting()


def now() -> float:
    """Return seconds since some fixed time, without those spent in `loading` by this thread.

    Inside `loading` the clock runs; the time is subtracted when `loading` ends.
    """
    return cpu_now() if _counting.cpu else time.perf_counter() - _loading.wall_seconds


def cpu_now() -> float:
    """Return the CPU time of the process in seconds, without that during this thread's `loading`.

    It counts all threads of the process, and none of its child processes.
    """
    return time.process_time() - _loading.cpu_seconds


def both() -> tuple[float, float]:
    """Return what `now` and `cpu_now` return."""
    return now(), cpu_now()


@contextmanager
def loading() -> Iterator[None]:
    """Stop the clock, since loading, done once per process, is not a cost of the placement."""
    begun, cpu_begun = time.perf_counter(), time.process_time()
    _loading.depth += 1
    try:
        yield
    finally:
        _loading.depth -= 1
        if not _loading.depth:
            _loading.wall_seconds += time.perf_counter() - begun
            _loading.cpu_seconds += time.process_time() - cpu_begun


@contextmanager
def cpu_time() -> Iterator[None]:
    """Let this thread's clock count the CPU time of the process instead of wall time.

    Time limits then mean the same on a machine that is busy with other work. Times measured inside
    the block do not compare with those measured outside.
    """
    before, _counting.cpu = _counting.cpu, True
    try:
        yield
    finally:
        _counting.cpu = before
