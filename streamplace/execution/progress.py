"""Progress on stderr, for waits longer than a second."""

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Item = TypeVar("Item")

PATIENCE_S = 1.0
_quiet: ContextVar[bool] = ContextVar("quiet", default=False)


def quietly() -> Callable[[], None]:
    """Show no more signs of life from here on; return what ends that."""
    token = _quiet.set(True)
    return lambda: _quiet.reset(token)


def is_quiet() -> bool:
    """Return whether nothing but errors is to be said on stderr."""
    return _quiet.get()


def track(items: Iterable[Item], total: int | None, label: str) -> Iterator[Item]:
    """Yield the items, with a bar on a terminal once it takes longer than a second."""
    if is_quiet() or not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console  # noqa: PLC0415 - only for those who look
    from rich.progress import Progress  # noqa: PLC0415

    bar = Progress(console=Console(stderr=True), transient=True)
    task = bar.add_task(label, total=total)
    with _patiently(bar.start, bar.stop):
        for item in items:
            yield item
            bar.advance(task)


@contextmanager
def working(label: str) -> Iterator[None]:
    """Show a spinner on a terminal while the block runs longer than a second."""
    if is_quiet() or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console  # noqa: PLC0415 - only for those who look

    status = Console(stderr=True).status(label)
    with _patiently(status.start, status.stop):
        yield


@contextmanager
def _patiently(start: Callable[[], None], stop: Callable[[], None]) -> Iterator[None]:
    """Start once the block has run for a second, and stop with it."""
    timer = threading.Timer(PATIENCE_S, start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        stop()
