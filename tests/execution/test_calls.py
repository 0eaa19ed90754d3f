"""Calls by the processes of a cluster, for which threads stand here."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from streamplace.execution import calls
from streamplace.execution.calls import ClusterMember, Connected, results_of


class LostError(Exception):
    """The loss of a process."""


class Threads:
    """A cluster of threads that notes how many calls it has at a time, and loses some of them.

    Parameters
    ----------
    processes
        The numbers of processes that it has, one after another; the last one stays.
    loses
        How often the call that has an item is lost.
    """

    def __init__(self, *processes: int, loses: dict[int, int] | None = None) -> None:
        self.most, self._now, self._processes = 0, 0, [*processes]
        self._loses = {} if loses is None else loses
        self._pool, self._lock = ThreadPoolExecutor(16), threading.Lock()
        self.connected = Connected(self._submit, self._members, (LostError,))

    def _members(self) -> list[ClusterMember]:
        now = self._processes.pop(0) if len(self._processes) > 1 else self._processes[0]
        return [ClusterMember(1, None)] * now

    def _submit(self, call: Callable[[], Any]) -> "Future[Any]":
        assert isinstance(call, partial)
        items = call.args[1]
        return self._pool.submit(self._run, call, items)

    def _run(self, call: Callable[[], Any], items: tuple[int, ...]) -> Any:
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
        try:
            for item in items:
                if self._loses.get(item, 0):
                    self._loses[item] -= 1
                    raise LostError
            return call()
        finally:
            with self._lock:
                self._now -= 1


def run(
    cluster: Threads,
    function: Callable[[int], int],
    count: int,
    *,
    jobs: int | None = None,
    in_order: bool = True,
) -> Iterator[int]:
    """Return the results of some numbers, at most four a call."""
    return results_of(
        function, range(count), cluster.connected, jobs=jobs, items_per_call=4, in_order=in_order
    )


def slow_at_first(number: int) -> int:
    """Return the square, later for the first numbers."""
    time.sleep(0.05 if number < 4 else 0.002)
    return number**2


def test_results_come_in_order_and_lost_calls_are_repeated() -> None:
    cluster = Threads(3, loses={0: 2, 57: 1, 99: 2})
    assert [*run(cluster, slow_at_first, 100)] == [number**2 for number in range(100)]
    assert cluster.most == 3


def test_results_in_any_order_do_not_wait_for_a_slow_one() -> None:
    found = [*run(Threads(2), slow_at_first, 100, in_order=False)]
    assert sorted(found) == [number**2 for number in range(100)]
    assert found[0] != 0


def test_a_call_that_is_lost_again_and_again_is_an_error() -> None:
    with pytest.raises(LostError):
        [*run(Threads(2, loses={50: calls.MAX_LOST}), abs, 100)]


def test_no_more_processes_than_jobs_are_used() -> None:
    cluster = Threads(8)
    assert len([*run(cluster, slow_at_first, 100, jobs=2)]) == 100
    assert cluster.most == 2


def test_processes_that_join_later_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "LOOK_S", 0.0)
    cluster = Threads(1, 1, 1, 4)
    assert len([*run(cluster, slow_at_first, 100)]) == 100
    assert cluster.most == 4


def test_few_results_wait_for_an_earlier_one() -> None:
    release, begun = threading.Event(), []

    def blocked(number: int) -> int:
        begun.append(number)
        if number == 0:
            release.wait(10.0)
        return number

    found = run(Threads(2), blocked, 1000)
    first = threading.Thread(target=lambda: next(found))
    first.start()
    time.sleep(0.5)
    assert len(begun) <= 4 * (2 * calls.AHEAD + 2)
    release.set()
    first.join()
    assert [*found] == [*range(1, 1000)]


def test_the_peak_memory_of_a_process_is_returned() -> None:
    found, peak = run(Threads(2), abs, 10), 0
    while not peak:
        try:
            next(found)
        except StopIteration as end:
            peak = end.value
    assert peak > 20e6


def test_the_peak_of_a_process_does_not_include_that_of_its_parent() -> None:
    own = bytearray(200_000_000)
    asked = "from streamplace.execution.calls import peak_bytes; print(peak_bytes())"
    started = subprocess.run([sys.executable, "-c", asked], capture_output=True, check=True)
    assert int(started.stdout) < len(own) < calls.peak_bytes()


def test_an_error_of_a_call_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        [*run(Threads(2), lambda number: 1 // (number - 60), 100)]
