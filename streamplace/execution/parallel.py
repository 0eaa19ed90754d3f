"""Parallel application of a function to many items."""

import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from multiprocessing import resource_tracker
from typing import Generic, Literal, TypeVar

import joblib
from joblib.externals.loky.backend import resource_tracker as of_joblib
from joblib.externals.loky.process_executor import BrokenProcessPool

from streamplace.errors import BackendError
from streamplace.execution.backends import LOCAL, Backend, cluster_of_jobs, shipping
from streamplace.execution.calls import MAX_LOST, Repeatable, in_mb, results_of
from streamplace.execution.progress import note

Item = TypeVar("Item")
Result = TypeVar("Result")

ITEMS_PER_PROCESS = 32  # fewer take less time than starting a process
START_S = 1.0  # seconds in which processes start
WORTH_IT = 2  # times that, from which on the work is faster on two processes
WATCH_S = 0.5  # seconds between checks that the parent process is alive
JOBLIB_THREAD = "ExecutorManagerThread"


def cpu_count() -> int:
    """Return the number of processors this process may use."""
    return int(joblib.cpu_count())


def each(
    function: Callable[[Item], Result],
    items: Repeatable[Item],
    jobs: int | None = None,
    backend: Backend = LOCAL,
    *,
    items_per_process: int = ITEMS_PER_PROCESS,
) -> Generator[Result, None, None]:
    """Yield function(item) for every item, in order, whatever the backend.

    Few items are in memory at a time. If a worker process is killed or its machine fails, other
    processes repeat its work. Work in this process, which is all of it at first, is not repeated.

    Parameters
    ----------
    jobs
        Number of processes; None: one per processor, once this process has worked for the time in
        which they would start, if they will save more.
    items_per_process
        As many items as take about the time in which a process starts: local processes are started
        only for as many, unless their time was measured, and a process of a cluster gets at most
        as many at once. 1: items take longer, so that processes are started at once.

    Raises
    ------
    UsageError
        If the backend's package is not installed, or the address is invalid.
    BackendError
        If no cluster answers at the address, the cluster fails, or processes are repeatedly killed
        at the same item.
    """
    if backend.name != "local":
        yield from _on_cluster(function, items, jobs, backend, items_per_process, in_order=True)
        return
    first, spent_s = 0, 0.0
    if jobs is None and items_per_process > 1:
        for item in items:
            began = time.monotonic()
            result = function(item)
            spent_s += time.monotonic() - began  # without the caller's own work
            first += 1
            yield result
            item_s = spent_s / first
            rest_s = item_s * (len(items) - first)
            if spent_s > START_S and rest_s > WORTH_IT * START_S:
                items_per_process = max(int(START_S / item_s), 1)
                break
        else:
            return
    work = _Work(function, lambda done: islice(items, first + done, None), len(items) - first)
    yield from _on_processes(work, jobs, items_per_process)


def each_when_known(
    function: Callable[[Item], Result],
    items: Repeatable[Item],
    jobs: int | None = None,
    backend: Backend = LOCAL,
) -> Generator[tuple[int, Result], None, None]:
    """Yield the number of each item and function(item), for items that take minutes each.

    Results come as soon as they are known, in any order, and a process has one item at a time. For
    parameters and errors see `each`.
    """
    numbered, missing = partial(_numbered, function), dict(enumerate(items))
    if backend.name != "local":
        yield from _on_cluster(numbered, [*missing.items()], jobs, backend, 1, in_order=False)
        return
    work = _Work(numbered, lambda _: iter([*missing.items()]), len(missing), "generator_unordered")
    with closing(_on_processes(work, jobs, 1)) as found:
        for number, result in found:
            del missing[number]
            yield number, result


@dataclass(frozen=True)
class _Work(Generic[Item, Result]):
    """A function and the items to apply it to.

    Parameters
    ----------
    missing
        Returns the items without a result, from the number of those with one.
    count
        The number of all items.
    return_as
        How local processes return results; see `joblib.Parallel`.
    """

    function: Callable[[Item], Result]
    missing: Callable[[int], Iterator[Item]]
    count: int
    return_as: Literal["generator", "generator_unordered"] = "generator"


def _numbered(function: Callable[[Item], Result], item: tuple[int, Item]) -> tuple[int, Result]:
    return item[0], function(item[1])


def _on_processes(
    work: _Work[Item, Result], jobs: int | None, items_per_process: int
) -> Generator[Result, None, None]:
    processes = min(jobs or cpu_count(), work.count // items_per_process)
    if processes <= 1:
        yield from map(work.function, work.missing(0))
        return

    def results_from(done: int) -> Iterator[Result]:
        pool = joblib.Parallel(
            n_jobs=processes,
            return_as=work.return_as,
            batch_size="auto",
            initializer=_work_for,
            initargs=(os.getpid(), os.getcwd()),
        )
        rest, results = work.missing(done), None
        _start_trackers()
        try:
            with _interrupts_later():
                results = pool(joblib.delayed(work.function)(item) for item in rest)
            yield from results
        finally:
            if results is not None:
                _ignore_dropped_work()
                results.close()  # inside the block that ignores its warning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about tasks cancelled by an interruption
        try:
            yield from _resume_after_loss(results_from)
        except BrokenProcessPool:
            killed = "worker processes were repeatedly killed at the same item"
            advice = f"check that memory suffices for {processes} processes, or lower --jobs"
            raise BackendError(f"{killed}; {advice}") from None


@contextmanager
def _interrupts_later() -> Iterator[None]:
    """Delay Ctrl-C to the end of the block; processes started in it inherit the blocked signal."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    # other threads do not block the signal, so it may still arrive through them
    handler = signal.signal(signal.SIGINT, lambda number, frame: received.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if received:
            signal.raise_signal(signal.SIGINT)


@cache
def _ignore_dropped_work() -> None:
    """Suppress the KeyError of joblib's thread after the results are closed.

    Closing the results removes pending work, which that thread may still try to look up.
    """
    report = threading.excepthook

    def hook(fault: threading.ExceptHookArgs) -> None:
        name = fault.thread.name if fault.thread is not None else ""
        if not (name == JOBLIB_THREAD and issubclass(fault.exc_type, KeyError)):
            report(fault)

    threading.excepthook = hook


def _start_trackers() -> None:
    """Start the resource trackers now, since starting them later would unblock Ctrl-C.

    Joblib's tracker is a separate process, which cleans up after workers that were terminated,
    for example because one of them raised an error. Its warning about that is suppressed, so that
    only the error is printed.
    """
    resource_tracker.ensure_running()
    before = os.environ.get("PYTHONWARNINGS")
    quiet = "ignore:resource_tracker:UserWarning"
    os.environ["PYTHONWARNINGS"] = quiet if before is None else f"{before},{quiet}"
    try:
        of_joblib.ensure_running()
    finally:
        if before is None:
            del os.environ["PYTHONWARNINGS"]
        else:
            os.environ["PYTHONWARNINGS"] = before


def _work_for(parent: int, folder: str) -> None:
    """Work in a folder, leave Ctrl-C to the parent process, and exit when the parent has exited.

    Joblib starts new processes for another folder. A parent that is killed cannot stop its workers
    itself.
    """
    os.chdir(folder)
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH_S)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _resume_after_loss(results_from: Callable[[int], Iterator[Result]]) -> Iterator[Result]:
    """Yield all results; when a process is lost, resume from the first missing result."""
    done = losses = 0
    while True:
        before = done
        try:
            for result in results_from(done):
                yield result
                done += 1
        except BrokenProcessPool:
            losses = 1 if done > before else losses + 1
            if losses == MAX_LOST:
                raise
        else:
            return


def _on_cluster(
    function: Callable[[Item], Result],
    items: Repeatable[Item],
    jobs: int | None,
    backend: Backend,
    items_per_call: int,
    *,
    in_order: bool,
) -> Generator[Result, None, None]:
    with cluster_of_jobs(backend, jobs or cpu_count()) as cluster, shipping(backend):
        peak = yield from results_of(
            function, items, cluster, jobs=jobs, items_per_call=items_per_call, in_order=in_order
        )
        note(f"{backend}: a process needed up to {in_mb(peak)}")
