"""CPU times of tasks, from thread dumps.

Flink's busy time of a task includes the time that its thread waits for a core. Thread dumps have
the CPU time of every thread, without waits.
"""

import re
from collections.abc import Mapping, Sequence

import numpy as np

from streamplace.integrations.flink.thread_dumps import FEWEST, Dump, Spent
from streamplace.integrations.profiling.estimates import Estimate, slope
from streamplace.util.arrays import Floats

HELPERS = ("Legacy Source Thread - ", "Source Data Fetcher for ")
"""What the names of a source's other threads begin with, before the name of its task's thread."""


def cpu_times(title: str, hosts: Sequence[str], dumps: Sequence[Mapping[str, Dump]]) -> Estimate:
    """Return the CPU seconds per second of all subtasks of a vertex.

    Parameters
    ----------
    title
        Flink's name of the vertex, which the names of its threads begin with.
    hosts
        TaskManager of each subtask.
    dumps
        TaskManager -> its dump, one after another. Dumps before the latest start of a subtask do
        not count.
    """
    if not hosts:
        return Estimate.missing("it did not run when the measurement began")
    if len(dumps) < FEWEST:
        return Estimate.missing("there are fewer than two thread dumps; increase --seconds")
    rows = []
    for i, host in enumerate(hosts):
        thread = _thread(f"{title} ({i + 1}/{len(hosts)})#", host, dumps[-1])
        if isinstance(thread, str):
            return Estimate.missing(thread)
        rows.append(_series(*thread, host, dumps))
    return _sum(rows)


def _sum(rows: Sequence[Sequence[Spent]]) -> Estimate:
    """Return the CPU seconds per second of all subtasks, from the times of each."""
    kept = min(len(row) for row in rows)
    if kept < FEWEST:
        return Estimate.missing("a subtask was started again while it was measured")
    grown = np.diff(np.array([row[-kept:] for row in rows]), axis=1)  # (subtasks, n, 2)
    cpu_s, elapsed_s = grown[..., 0], grown[..., 1]
    if not np.all(elapsed_s > 0):
        return Estimate.missing("the clocks of the thread dumps do not go on")
    dt: Floats = elapsed_s.mean(axis=0)
    return slope((cpu_s / elapsed_s).sum(axis=0) * dt, dt)


def _thread(task: str, host: str, dump: Mapping[str, Dump]) -> tuple[str, int] | str:
    """Return name and number of the thread that runs a task, or why it is not known.

    Java prints ? for characters that its locale lacks, as in many containers.
    """
    if host not in dump:
        return f"'{task}…' did not run when the measurement began"
    exact = re.escape(task)
    printed = re.sub(r"[^\x00-\x7f]+", lambda run: f"[{run[0]}?\ufffd]+", exact)
    for text in (exact, printed):
        pattern = re.compile(text + r"\d+")
        found = [
            (name, n) for name in dump[host] if pattern.fullmatch(name) for n in dump[host][name]
        ]
        if len(found) == 1:
            return found[0]
        if found:
            return (
                f"the last thread dump of {host} has {len(found)} threads '{task}…'; names of "
                "operators have to differ, also from those of other jobs on it"
            )
    return f"the last thread dump of {host} has no thread '{task}…'; it has moved or ended"


def _series(name: str, number: int, host: str, dumps: Sequence[Mapping[str, Dump]]) -> list[Spent]:
    """Return the times of a task in the latest dumps that all have its thread.

    The CPU times of a source's other threads are added. These threads may start and end meanwhile.
    """
    kept: list[tuple[Dump, Spent]] = []
    for of_hosts in reversed(dumps):
        dump = of_hosts.get(host, {})
        own = dump.get(name, {}).get(number)
        if own is None or (kept and own.elapsed_s > kept[-1][1].elapsed_s):
            break
        kept.append((dump, own))
    helpers: dict[tuple[str, int], float] = {}
    found = []
    for dump, own in reversed(kept):
        for begin in HELPERS:
            threads = dump.get(begin + name, {})
            helpers |= {(begin, n): spent.cpu_s for n, spent in threads.items()}
        found.append(Spent(own.cpu_s + sum(helpers.values()), own.elapsed_s))
    return found
