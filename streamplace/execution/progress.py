"""Progress bars and spinners on stderr, for waits longer than a second."""

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from streamplace.util.running_search import Standing, watch

Item = TypeVar("Item")

DELAY_S = 1.0  # seconds before a progress bar or spinner appears
# The CPU time of a search of 30 million changes is 7.5 s with and without a terminal.
PER_SECOND = 5  # times that a spinner is drawn
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
    if not _is_shown():
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
def working(label: str, detail: Callable[[], str] | None = None) -> Iterator[None]:
    """Show a spinner on a terminal while the block runs longer than a second.

    Parameters
    ----------
    detail
        Returns what follows the label and changes meanwhile; a thread of its own calls it.
    """
    if not _is_shown():
        yield
        return
    from rich import console, text  # noqa: PLC0415 - needed on a terminal only

    class Label:
        def __rich__(self) -> Any:
            words = f"{label}: {detail()}" if detail else label
            return text.Text(words, no_wrap=True, overflow="ellipsis")

    status = console.Console(stderr=True).status(Label(), refresh_per_second=PER_SECOND)
    with _after_a_second(status.start, status.stop):
        yield


@contextmanager
def search_line(label: str) -> Iterator[None]:
    """Show a spinner as `working` does, with what searches of the block report, and the time."""
    if not _is_shown():
        yield
        return
    begun = time.monotonic()
    with watch() as latest:

        def detail() -> str:
            words = _in_words(latest.standing) if latest.standing else []
            return ", ".join([*words, f"{time.monotonic() - begun:,.0f} s"])

        with working(label, detail):
            yield


def _in_words(standing: Standing) -> list[str]:
    """Return the parts of a line about a search."""
    best, bound, words = standing.best, standing.bound, []
    if best is not None:
        words.append("best " + standing.what.format(f"{best:,.6g}"))
    if bound is not None:
        what = standing.what if best is None else "{}"
        words.append("bound " + what.format(f"{bound:,.6g}"))
    if best and bound:
        words.append(f"gap {1.0 - min(best, bound) / max(best, bound):.2%}")
    if standing.tried is not None:
        words.append(f"{standing.tried:,} tried")
    return words


def _is_shown() -> bool:
    return not is_quiet() and sys.stderr.isatty()


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
        timer.join()  # or it could still start what has been stopped
        stop()
