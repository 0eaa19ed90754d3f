"""Interruptions of a run by Ctrl-C or SIGTERM."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interruptions(stop: threading.Event) -> Iterator[None]:
    """Set an event on Ctrl-C and SIGTERM, so that the step in progress is finished and saved.

    Outside the main thread, which alone receives signals, the event is never set.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    signals = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(s, lambda number, frame: stop.set()) for s in signals]
    try:
        yield
    finally:
        for s, handler in zip(signals, before, strict=True):
            signal.signal(s, handler)
