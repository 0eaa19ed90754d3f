"""Calls of a function by the worker processes of a cluster, any of which may be lost."""

import re
import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, islice, takewhile
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

Item = TypeVar("Item")
Item_co = TypeVar("Item_co", covariant=True)
Result = TypeVar("Result")

CALLS_PER_PROCESS = 8  # so that processes end at about the same time
AHEAD = 4  # calls per process whose results wait for those of an earlier one
LOOK_S = 1.0  # seconds between two looks for processes that have joined or left
KIB = 1024
MAX_LOST = 3  # processes lost in a row at one item after which work stops with an error


class Repeatable(Protocol[Item_co]):
    """A collection that can be iterated again from the start, such as a list or a dataset."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Item_co]: ...


class ClusterMember(NamedTuple):
    """A machine of a cluster, or a worker that was started there.

    Parameters
    ----------
    processes
        How many calls it takes at a time.
    memory_bytes
        What they may need together; None: unknown.
    """

    processes: int
    memory_bytes: float | None


@dataclass(frozen=True)
class Connected:
    """A connected cluster.

    Parameters
    ----------
    submit
        Calls a function without arguments in a worker process.
    members
        Returns what the cluster consists of now.
    lost
        The errors of a call whose process was lost; empty if the cluster repeats such calls itself.
    """

    submit: Callable[[Callable[[], Any]], "Future[Any]"]
    members: Callable[[], Sequence[ClusterMember]]
    lost: tuple[type[Exception], ...] = ()

    @property
    def processes(self) -> int:
        """The number of calls that the cluster takes at a time now; one where it has no member."""
        return max(sum(each.processes for each in self.members()), 1)


@dataclass(frozen=True)
class _Call(Generic[Item]):
    number: int
    items: tuple[Item, ...]
    losses: int = 0


def results_of(
    function: Callable[[Item], Result],
    items: Repeatable[Item],
    cluster: Connected,
    *,
    jobs: int | None,
    items_per_call: int,
    in_order: bool,
) -> Generator[Result, None, int]:
    """Yield function(item) for every item; return the peak memory of a process, in bytes.

    A process has one call at a time, and gets the next one when that has ended. So processes that
    join later get work, too, and a lost one loses one call, which is repeated.

    Parameters
    ----------
    jobs
        How many processes to use at most; None: all.
    items_per_call
        How many items to send at once at most.
    in_order
        Whether results come in the order of the items, or as soon as they are known.
    """
    most = jobs or sys.maxsize
    processes, looked = min(cluster.processes, most), time.monotonic()
    size = len(items) // (CALLS_PER_PROCESS * processes)
    waiting = _calls(items, max(1, min(size, items_per_call)))
    running: dict[Future[tuple[list[Result], int]], _Call[Item]] = {}
    known: dict[int, list[Result]] = {}
    peak = first = 0  # the first call whose results were not yielded

    def start(call: _Call[Item]) -> None:
        running[cluster.submit(partial(_results, function, call.items))] = call

    while True:
        if time.monotonic() - looked > LOOK_S:
            processes, looked = min(cluster.processes, most), time.monotonic()
        if len(known) < AHEAD * processes:
            for call in islice(waiting, max(processes - len(running), 0)):
                start(call)
        if not running:
            return peak
        for future in wait(running, LOOK_S, FIRST_COMPLETED).done:
            call = running.pop(future)
            try:
                known[call.number], memory = future.result()
                peak = max(peak, memory)
            except cluster.lost:
                if call.losses + 1 == MAX_LOST:
                    raise
                start(replace(call, losses=call.losses + 1))
        for number in [*(takewhile(known.__contains__, count(first)) if in_order else known)]:
            yield from known.pop(number)
            first += 1


def _calls(items: Repeatable[Item], size: int) -> Iterator[_Call[Item]]:
    """Yield calls with `size` items each; the last one may have fewer."""
    rest = iter(items)
    for number in count():
        some = tuple(islice(rest, size))
        if not some:
            return
        yield _Call(number, some)


def _results(
    function: Callable[[Item], Result], items: tuple[Item, ...]
) -> tuple[list[Result], int]:
    """Return function(item) for some items, and the peak memory of this process."""
    return [function(item) for item in items], peak_bytes()


def peak_bytes(process: int | None = None) -> int:
    """Return the most memory that a process, by default this one, has had at a time.

    It is 0 for a process that is ending. `getrusage` would include the peak of the process that
    started this one.
    """
    status = Path(f"/proc/{process or 'self'}/status").read_text(encoding="utf-8")
    peak = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
    return int(peak[1]) * KIB if peak else 0


def in_mb(size_bytes: float) -> str:
    """Return a size as text, in MB."""
    return f"{size_bytes / 1e6:,.0f} MB"
