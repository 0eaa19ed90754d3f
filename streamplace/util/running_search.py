"""What a running search tells the code that waits for it: its evaluations, and how far it is."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

RATE, TIME, DEVICES, PRICE = "{} tuples/s", "{} s", "{} devices", "price {}"
"""What searches improve, as `Standing.what`: a source rate, the time of a pass, or what runs it."""


@dataclass
class Count:
    """A number of evaluations; None as long as nothing has been counted."""

    evaluations: int | None = None


class Standing(NamedTuple):
    """How far a search is.

    Attributes
    ----------
    what
        What the search improves, as a format of its values, such as ``{} tuples/s``.
    best
        The best value; None: nothing has been found.
    bound
        The limit on all values; None: it is not known.
    tried
        The number of candidates that were tried; None: it says nothing.
    """

    what: str
    best: float | None
    bound: float | None
    tried: int | None


@dataclass
class Latest:
    """The latest report of a search; None before the first."""

    standing: Standing | None = None


class _Open(threading.local):
    """The counts of the `counting` blocks that a thread is in, and what its `watch` block keeps."""

    def __init__(self) -> None:
        self.counts: list[Count] = []
        self.latest: Latest | None = None


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


def report(
    what: str, best: float | None, bound: float | None = None, tried: int | None = None
) -> None:
    """Report how far a search is, if this thread is in a `watch` block; see `Standing`.

    A search that runs others, which improve something else, reports before they do: only what the
    first report of a block is about counts in it.
    """
    latest = _open.latest
    if latest is not None and (latest.standing is None or latest.standing.what == what):
        latest.standing = Standing(what, best, bound, tried)


@contextmanager
def watch() -> Iterator[Latest]:
    """Keep the latest report of the searches that this thread runs in the block."""
    before, own = _open.latest, Latest()
    _open.latest = own
    try:
        yield own
    finally:
        _open.latest = before
