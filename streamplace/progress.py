"""Signs of life on stderr, for people who wait longer than a second."""

import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")

PATIENCE_S = 1.0


def track(items: Iterable[Item], total: int | None, label: str) -> Iterator[Item]:
    """Yield the items, with a bar on a terminal once it takes longer than a second."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console  # noqa: PLC0415 - only for those who look
    from rich.progress import Progress  # noqa: PLC0415

    bar = Progress(console=Console(stderr=True), transient=True)
    task = bar.add_task(label, total=total)
    started = time.monotonic()
    try:
        for item in items:
            yield item
            bar.advance(task)
            if not bar.live.is_started and time.monotonic() - started > PATIENCE_S:
                bar.start()
    finally:
        bar.stop()


@contextmanager
def working(label: str) -> Iterator[None]:
    """Show a spinner on a terminal while the block runs longer than a second."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console  # noqa: PLC0415 - only for those who look

    status = Console(stderr=True).status(label)
    timer = threading.Timer(PATIENCE_S, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        status.stop()
