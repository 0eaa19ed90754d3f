"""The same function over many items, on several processes or machines, results in order."""

import os
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from streamplace.backends import LOCAL, Backend, connected, interrupts_ignored
from streamplace.errors import BackendError

Item = TypeVar("Item")
Result = TypeVar("Result")

ITEMS_PER_PROCESS = 32  # fewer are done before a process has started
WATCH_S = 0.5
BLOCK = 64  # items a process that a cluster is given at once


def cpu_count() -> int:
    """Return the number of processors this process may use."""
    import joblib  # noqa: PLC0415 - heavy

    return int(joblib.cpu_count())


def each(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    jobs: int | None = None,
    backend: Backend = LOCAL,
) -> Generator[Result, None, None]:
    """Yield function(item) for every item, in order, whatever the backend.

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
        If nobody answers at the address, or the cluster or one of the processes fails.
    """
    if backend.name == "local":
        yield from _on_processes(function, items, jobs)
    else:
        yield from _on_cluster(function, items, jobs, backend)


def _on_processes(
    function: Callable[[Item], Result], items: Sequence[Item], jobs: int | None
) -> Iterator[Result]:
    processes = min(jobs or cpu_count(), len(items) // ITEMS_PER_PROCESS)
    if processes <= 1:
        yield from map(function, items)
        return
    import joblib  # noqa: PLC0415 - heavy

    pool = joblib.Parallel(
        n_jobs=processes,
        return_as="generator",
        batch_size="auto",
        initializer=_end_with,
        initargs=(os.getpid(),),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of tasks cancelled by an interruption
        with interrupts_ignored():  # which the workers that start here inherit
            results = pool(joblib.delayed(function)(item) for item in items)
        try:
            yield from results
        except BrokenProcessPool:
            said = "one of the processes was killed, perhaps for want of memory; see --jobs"
            raise BackendError(said) from None


def _end_with(parent: int) -> None:
    """End this process once the one that started it has: a kill leaves it no time to tell."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH_S)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _on_cluster(
    function: Callable[[Item], Result], items: Sequence[Item], jobs: int | None, backend: Backend
) -> Iterator[Result]:
    """Go on block by block: joblib's Ray backend returns lists, and memory is to stay bounded."""
    import joblib  # noqa: PLC0415 - heavy

    with connected(backend, jobs or cpu_count()) as cluster:
        processes = min(jobs or cluster.processes, cluster.processes)
        with joblib.parallel_config(**cluster.options):
            workers = joblib.Parallel(
                n_jobs=processes, max_nbytes=None
            )  # no files between machines
        with workers as pool:
            for start in range(0, len(items), BLOCK * processes):
                block = items[start : start + BLOCK * processes]
                yield from pool(joblib.delayed(function)(item) for item in block)
