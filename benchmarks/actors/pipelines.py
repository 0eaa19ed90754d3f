"""Pipelines of actors: the jobs of the benchmark of contention on Flink, with CPU times."""

import json
from pathlib import Path
from typing import Any

from benchmarks.contention.jobs import INSTRUCTIONS, SpinningJob

CPU_S = 0.02  # of all operators for a tuple of the source
SOURCE = "events"
SOURCE_CPU_S = 1e-4


def pipeline(job: SpinningJob) -> dict[str, Any]:
    """Return what the driver reads of a job: operator -> its inputs, CPU time and tuples out."""
    rows: dict[str, Any] = {SOURCE: {"inputs": [], "cpu_s": SOURCE_CPU_S, "out": [1, 1]}}
    for each in job.operators:
        cpu_s = each.instructions * CPU_S / INSTRUCTIONS
        rows[each.name] = {"inputs": each.inputs, "cpu_s": cpu_s, "out": [each.out, each.per]}
    return rows


def counts(job: SpinningJob) -> dict[str, int]:
    """Return operator -> the number of its actors."""
    return {SOURCE: 1} | {each.name: each.instances for each in job.operators}


def write_graph(job: SpinningJob, path: Path) -> None:
    """Write the operators and streams of a job, without the costs that a profile measures."""
    operators = [
        {"name": name, "instructions": None, "payload_bytes": 1000} for name in counts(job)
    ]
    streams = [
        {"source": source, "target": each.name, "selectivity": _selectivity(job, source)}
        for each in job.operators
        for source in each.inputs
    ]
    graph = {"format": "streamplace-graph", "version": 1, "operators": operators}
    path.write_text(json.dumps({**graph, "streams": streams}))


def _selectivity(job: SpinningJob, source: str) -> float:
    return next((each.out / each.per for each in job.operators if each.name == source), 1.0)


def work_rate(job: SpinningJob, rates: dict[str, float]) -> float:
    """Return the tuples per second of the source that the work done is worth.

    While queues fill, this is steadier than the counts of the source.
    """
    done = sum(rates[each.name] * each.instructions for each in job.operators)
    return done / sum(job.arriving[each.name] * each.instructions for each in job.operators)
