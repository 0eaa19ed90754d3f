"""The same function over many items, on several processes, results in order."""

import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

ITEMS_PER_PROCESS = 32  # fewer are done before a process has started


def cpu_count() -> int:
    """Return the number of processors this process may use."""
    import joblib  # noqa: PLC0415 - heavy

    return int(joblib.cpu_count())


def each(
    function: Callable[[Item], Result], items: Sequence[Item], jobs: int | None = None
) -> Iterator[Result]:
    """Yield function(item) for every item, in order.

    Parameters
    ----------
    jobs
        Processes; None: as many as processors. Few items are done in this one.
    """
    processes = min(jobs or cpu_count(), len(items) // ITEMS_PER_PROCESS)
    if processes <= 1:
        yield from map(function, items)
        return
    import joblib  # noqa: PLC0415 - heavy

    pool = joblib.Parallel(n_jobs=processes, return_as="generator", batch_size="auto")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of tasks cancelled by an interruption
        with _interrupts_ignored():  # which the workers that start here inherit
            results = pool(joblib.delayed(function)(item) for item in items)
        yield from results


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Let a Ctrl-C pass by: a terminal sends it to every process, and one is to answer it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
