"""A time limit for blocks that might hang."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

HANG_S = 120
"""A limit that no guarded block reaches unless it hangs, even on a loaded machine."""


@contextmanager
def hang_guard(seconds: float = HANG_S) -> Iterator[None]:
    """Fail a block that does not end; guarded blocks do not nest."""

    def fail(number: int, frame: object) -> None:
        raise AssertionError(f"has not ended after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, fail)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
