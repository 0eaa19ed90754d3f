"""Interruption of a run by Ctrl-C or SIGTERM."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interruptions(stop: threading.Event) -> Iterator[None]:
    """Set an event on Ctrl-C or SIGTERM, so that the current step is finished and saved.

    Only the main thread receives signals; in any other thread the event is never set.
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
