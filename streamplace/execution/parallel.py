"""One function over many items, on several processes or machines, with results in order."""

import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import islice
from typing import Protocol, TypeVar

from streamplace.errors import BackendError
from streamplace.execution.backends import LOCAL, Backend, connected

Item = TypeVar("Item")
Item_co = TypeVar("Item_co", covariant=True)
Result = TypeVar("Result")

ITEMS_PER_PROCESS = 32  # fewer are done before a process has started
WATCH_S = 0.5
BLOCK = 64  # items a process that a cluster is given at once
JOBLIB_THREAD = "ExecutorManagerThread"
LOSSES = 3  # of processes at the same work, after which the work is to blame


class Items(Protocol[Item_co]):
    """What can be gone through again, from the start; lists, and files of graphs."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Item_co]: ...


def cpu_count() -> int:
    """Return the number of processors this process may use."""
    import joblib  # noqa: PLC0415 - heavy

    return int(joblib.cpu_count())


def each(
    function: Callable[[Item], Result],
    items: Items[Item],
    jobs: int | None = None,
    backend: Backend = LOCAL,
) -> Generator[Result, None, None]:
    """Yield function(item) for every item, in order, whatever the backend.

    Few items are in memory at a time. What a process was at that is killed, or whose machine is
    gone, others do again.

    Parameters
    ----------
    jobs
        Processes; None: as many as processors. Few items are done in this one, unless a cluster
        is asked for.

    Raises
    ------
    UsageError
        If the backend's package is not installed, or there is no such address.
    BackendError
        If nobody answers at the address, the cluster fails, or processes are killed at the same
        work again and again.
    """
    if backend.name == "local":
        yield from _on_processes(function, items, jobs)
    else:
        yield from _on_cluster(function, items, jobs, backend)


def _on_processes(
    function: Callable[[Item], Result], items: Items[Item], jobs: int | None
) -> Iterator[Result]:
    processes = min(jobs or cpu_count(), len(items) // ITEMS_PER_PROCESS)
    if processes <= 1:
        yield from map(function, items)
        return
    import joblib  # noqa: PLC0415 - heavy
    from joblib.externals.loky.process_executor import BrokenProcessPool  # noqa: PLC0415

    def results_from(start: int) -> Iterator[Result]:
        pool = joblib.Parallel(
            n_jobs=processes,
            return_as="generator",
            batch_size="auto",
            initializer=_work_for,
            initargs=(os.getpid(),),
        )
        rest, results = islice(items, start, None), None
        _start_trackers()
        try:
            with _interrupts_later():
                results = pool(joblib.delayed(function)(item) for item in rest)
            yield from results
        finally:
            if results is not None:
                _ignore_dropped_work()
                results.close()  # here, where what it warns of is expected

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of tasks cancelled by an interruption
        try:
            yield from _going_on(results_from, BrokenProcessPool)
        except BrokenProcessPool:
            killed = "processes were killed at the same work again and again"
            enough = f"is there memory enough for {processes} at a time? --jobs tells how many"
            raise BackendError(f"{killed}; {enough}") from None


@contextmanager
def _interrupts_later() -> Iterator[None]:
    """Answer a Ctrl-C afterwards; processes that start meanwhile inherit that it is blocked."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    # other threads do not block it, and what they get is to be noted
    handler = signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if came:
            signal.raise_signal(signal.SIGINT)


@cache
def _ignore_dropped_work() -> None:
    """Keep a traceback of joblib off stderr, once results are no longer wanted.

    Closing them drops the work that is left, and joblib's thread may just be looking for it.
    """
    report = threading.excepthook

    def hook(fault: threading.ExceptHookArgs) -> None:
        name = fault.thread.name if fault.thread is not None else ""
        if not (name == JOBLIB_THREAD and issubclass(fault.exc_type, KeyError)):
            report(fault)

    threading.excepthook = hook


def _start_trackers() -> None:
    """Start what tracks resources of processes; later it would end the blocking of Ctrl-C.

    Joblib's tracker is a process of its own, which cleans up after workers that were ended, as when
    one of them raised an error. Its warning that it did would stand beside the error.
    """
    from multiprocessing import resource_tracker  # noqa: PLC0415 - heavy

    from joblib.externals.loky.backend import resource_tracker as of_joblib  # noqa: PLC0415

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


def _work_for(parent: int) -> None:
    """Leave Ctrl-C to the process that started this one, and end once it has.

    A kill leaves it no time to tell.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH_S)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _on_cluster(
    function: Callable[[Item], Result], items: Items[Item], jobs: int | None, backend: Backend
) -> Iterator[Result]:
    """Go on block by block: joblib's Ray backend returns lists, and memory is to stay bounded."""
    import joblib  # noqa: PLC0415 - heavy

    with connected(backend, jobs or cpu_count()) as cluster:
        processes = min(jobs or cluster.processes, cluster.processes)

        def results_from(start: int) -> Iterator[Result]:
            rest = islice(items, start, None)
            with joblib.parallel_config(**cluster.options):
                workers = joblib.Parallel(
                    n_jobs=processes, max_nbytes=None
                )  # no files between machines
            with workers as pool:
                while block := list(islice(rest, BLOCK * processes)):
                    yield from pool(joblib.delayed(function)(item) for item in block)

        yield from _going_on(results_from, cluster.lost)


def _going_on(
    results_from: Callable[[int], Iterator[Result]],
    lost: type[Exception] | tuple[type[Exception], ...],
) -> Iterator[Result]:
    """Yield all results; when a process is lost, go on from the first that is missing."""
    done = losses = 0
    while True:
        before = done
        try:
            for result in results_from(done):
                yield result
                done += 1
        except lost:
            losses = 1 if done > before else losses + 1
            if losses == LOSSES:
                raise
        else:
            return
