"""The number of evaluations that a placer makes."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class Count:
    """A number of evaluations; None as long as nothing has been counted."""

    evaluations: int | None = None


class _Open(threading.local):
    """The counts of the `counting` blocks that a thread is in."""

    def __init__(self) -> None:
        self.counts: list[Count] = []


_open = _Open()


def count(evaluations: int) -> None:
    """Add evaluations to every count of this thread that is open."""
    for each in _open.counts:
        each.evaluations = (each.evaluations or 0) + evaluations


@contextmanager
def counting() -> Iterator[Count]:
    """Count the evaluations that this thread makes in the block."""
    own = Count()
    _open.counts.append(own)
    try:
        yield own
    finally:
        _open.counts.pop()
