"""Progress bars and spinners on stderr, for waits longer than a second."""

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Item = TypeVar("Item")

DELAY_S = 1.0  # seconds before a progress bar or spinner appears
_quiet: ContextVar[bool] = ContextVar("quiet", default=False)


def quietly() -> Callable[[], None]:
    """Stop showing progress; return a function that undoes this."""
    token = _quiet.set(True)
    return lambda: _quiet.reset(token)


def is_quiet() -> bool:
    """Return whether only errors are to be printed on stderr."""
    return _quiet.get()


def note(text: str) -> None:
    """Print a line on stderr at once, unless only errors are to be printed there."""
    if not is_quiet():
        sys.stderr.write(f"streamplace: {text}\n")
        sys.stderr.flush()


def track(items: Iterable[Item], total: int | None, label: str) -> Iterator[Item]:
    """Yield the items, with a progress bar on a terminal once a second has passed."""
    if is_quiet() or not sys.stderr.isatty():
        yield from items
        return
    from rich import console, progress  # noqa: PLC0415 - needed on a terminal only

    bar = progress.Progress(console=console.Console(stderr=True), transient=True)
    task = bar.add_task(label, total=total)
    with _after_a_second(bar.start, bar.stop):
        for item in items:
            yield item
            bar.advance(task)


@contextmanager
def working(label: str) -> Iterator[None]:
    """Show a spinner on a terminal while the block runs longer than a second."""
    if is_quiet() or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console  # noqa: PLC0415 - needed on a terminal only

    status = Console(stderr=True).status(label)
    with _after_a_second(status.start, status.stop):
        yield


@contextmanager
def _after_a_second(start: Callable[[], None], stop: Callable[[], None]) -> Iterator[None]:
    """Call `start` once the block has run for a second, and `stop` at its end."""
    timer = threading.Timer(DELAY_S, start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        stop()
