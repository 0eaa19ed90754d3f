"""One trial: a job runs on limited TaskManagers, and its throughput is measured."""

import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scripting import ScriptError
from submitted import Submitted

from benchmarks.contention.cluster import LimitedFlink
from benchmarks.contention.jobs import SpinningJob
from benchmarks.contention.placing import DEFAULTS, ENDLESS, Placed

COMPILE_S = 15.0  # without limits, so that Java compiles the code that it runs
SETTLE_S = 10.0  # until buffers are full
MEASURED_S = 20.0
SINK, SOURCE = "sink", "events"


def run(flink: LimitedFlink, jar: Path, job: SpinningJob, placed: Placed | None) -> dict[str, Any]:
    """Run a job from the start, as Flink or a placement distributes it.

    Returns
    -------
    row
        Source tuples/s, from the work done, the counts of the source and those of the sink; and
        operator -> TaskManager -> number of instances.

    Raises
    ------
    ScriptError
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
    read = {name: after[name][0] - before[name][0] for name in after}
    written = sum(after[name][1] - before[name][1] for name in after if SOURCE in name)
    return {
        "work": done(job, read) / spent,
        "source": written / spent,
        "sink": sum(n for name, n in read.items() if name.startswith(SINK))
        / spent
        / job.sink_share,
        "where": {name: dict(on) for name, on in where.items()},
    }


def done(job: SpinningJob, read: Mapping[str, float]) -> float:
    """Return the instructions that operators executed, over those for a tuple of the source.

    While buffers fill or empty, this is steadier than the counts of the source and of the sink.
    """
    executed = sum(read[each.name] * each.instructions for each in job.operators)
    return executed / sum(job.arriving[each.name] * each.instructions for each in job.operators)


def _check(job: SpinningJob, where: dict[str, Counter[str]], placed: Placed | None) -> None:
    for each in job.operators:
        found = where[each.name]
        if found.total() != each.instances:
            raise ScriptError(f"{each.name}: {found.total()} instances instead of {each.instances}")
        if placed and found != placed.instances[each.name]:
            raise ScriptError(f"{each.name}: placed {placed.instances[each.name]}, runs on {found}")
