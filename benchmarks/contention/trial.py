"""One trial: a job runs on limited TaskManagers, and its throughput is measured."""

import time
from collections import Counter
from pathlib import Path
from typing import Any

from local_flink import FlinkError
from submitted import Submitted

from benchmarks.contention.cluster import LimitedFlink
from benchmarks.contention.jobs import SpinningJob
from benchmarks.contention.placing import DEFAULTS, ENDLESS, Placed

COMPILE_S = 5.0  # without limits, so that Java compiles the code that it runs
SETTLE_S = 12.0  # until buffers are full
MEASURED_S = 20.0
SINK, SOURCE = "sink", "events"


def run(flink: LimitedFlink, jar: Path, job: SpinningJob, placed: Placed | None) -> dict[str, Any]:
    """Run a job from the start, as Flink or a placement distributes it.

    Returns
    -------
    row
        Source tuples/s, from the counts of the source and of the sink, and operator -> TaskManager
        -> number of instances.

    Raises
    ------
    FlinkError
        If an instance does not run where it was placed, or has another number.
    """
    submitted = Submitted(flink, jar, job.arguments(ENDLESS))
    flink.limit(False)
    id_ = submitted.start(DEFAULTS | ({"streamplace.mapping": placed.mapping} if placed else {}))
    try:
        where = submitted.where(id_)
        _check(job, where, placed)
        time.sleep(COMPILE_S)
        flink.limit(True)
        time.sleep(SETTLE_S)
        begin, before = flink.records(id_)
        time.sleep(MEASURED_S)
        end, after = flink.records(id_)
    finally:
        flink.limit(False)
        submitted.cancel()
    spent = end - begin
    read = sum(after[name][0] - before[name][0] for name in after if name.startswith(SINK))
    written = sum(after[name][1] - before[name][1] for name in after if SOURCE in name)
    return {
        "source": written / spent / _readers(job),
        "sink": read / spent / job.sink_share,
        "where": {name: dict(on) for name, on in where.items()},
    }


def _readers(job: SpinningJob) -> int:
    """Return the number of operators that read the source, each of which gets every tuple."""
    return sum(SOURCE in each.inputs for each in job.operators)


def _check(job: SpinningJob, where: dict[str, Counter[str]], placed: Placed | None) -> None:
    for each in job.operators:
        found = where[each.name]
        if found.total() != each.instances:
            raise FlinkError(f"{each.name}: {found.total()} instances instead of {each.instances}")
        if placed and found != placed.instances[each.name]:
            raise FlinkError(f"{each.name}: placed {placed.instances[each.name]}, runs on {found}")
