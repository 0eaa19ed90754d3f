"""The speed of this machine's processors, measured by work like that of stream operators."""

import json
import random
import time
import zlib
from collections import Counter
from dataclasses import dataclass
from functools import partial

from streamplace.execution.parallel import cpu_count, each

SLICE_S = 0.5  # of CPU time: some 300 rounds, so that the last one hardly matters
RECORDS = 400  # fit into a cache of 256 KiB, as the tuples of an operator do
ROUNDS_PER_MIPS = 0.24
"""Rounds per second of a core of 1 MIPS. It only sets the unit: a core of an Intel Xeon, model 207
at 2.1 GHz in a virtual machine, with Python 3.11, has 2,500 MIPS, the speed that is assumed where
none is stated (600 rounds per second of CPU time in three runs of 4 s)."""


@dataclass(frozen=True)
class Speed:
    """The speed of a core while all are busy.

    Parameters
    ----------
    mips, slowest, fastest
        The mean over all slices of all processors, and the slowest and fastest of them.
    """

    mips: float
    slowest: float
    fastest: float
    processors: int
    slices: int


def measure(seconds: float, processors: int | None = None) -> Speed:
    """Measure all processors that this process may use at the same time.

    CPU time counts, so that other processes on the machine matter little.

    Parameters
    ----------
    seconds
        How long; at least one slice is measured.
    processors
        Their number; None: all.
    """
    count = processors or cpu_count()
    slices = partial(_slices, seconds)
    found = [list(speeds) for speeds in each(slices, range(count), count, items_per_process=1)]
    everything = [speed for speeds in found for speed in speeds]
    mean = sum(everything) / len(everything)
    return Speed(mean, min(everything), max(everything), count, len(everything))


def _slices(seconds: float, _: int) -> list[float]:
    """Return the MIPS of this process in each slice."""
    records, found, until = _records(), list[float](), time.monotonic() + seconds
    while not found or time.monotonic() < until:
        began, rounds = time.process_time(), 0
        while (spent := time.process_time() - began) < SLICE_S:
            work(records)
            rounds += 1
        found.append(rounds / spent / ROUNDS_PER_MIPS)
    return found


def work(records: bytes) -> int:
    """Parse records, count and sort by key, and write and compress the result: one round."""
    rows = json.loads(records)
    counts = Counter(row["key"] for row in rows)
    rows.sort(key=lambda row: (-counts[row["key"]], row["value"]))
    return len(zlib.compress(json.dumps(rows).encode()))


def _records() -> bytes:
    """Return the same records on each machine."""
    rng = random.Random(1)
    rows = [
        {"key": f"k{rng.randrange(40)}", "value": rng.random(), "text": "x" * rng.randrange(80)}
        for _ in range(RECORDS)
    ]
    return json.dumps(rows).encode()
