"""Jobs of the devices: the part of a placed, scaled problem that each device runs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.testbed.scaling import Scaled
from benchmarks.testbed.wiring import address
from streamplace.scoring.flow import flow

QUEUE, MIN_QUEUE = 8, 2
"""Largest and smallest limit of a stream's queue, in tuples queued and in flight; see `queues`."""
BACKLOG_S = 0.5  # a source may catch up with the tuples of this many seconds


def phases(selectivities: list[float]) -> list[float]:
    """Return the initial phases of an operator's output streams, which make them take turns.

    With selectivities 1/3, 1/3, 1/3 each stream gets one tuple in turn.
    """
    phases, sum_ = [], 0.0
    for selectivity in selectivities:
        phases.append(sum_ % 1.0)
        sum_ += selectivity
    return phases


def queues(scaled: Scaled, limit: int) -> list[int]:
    """Return the number of tuples that each stream may hold, (E,).

    As in the engine, an operator's busiest input may hold `limit`, and the others less, in
    proportion to their rates. With equal limits, full queues would change the ratio in which an
    operator takes tuples from its inputs.
    """
    target = scaled.problem.graph.stream_target
    tuples = flow(scaled.problem).stream_tuples
    busiest = np.zeros(len(scaled.problem.graph.names))
    np.maximum.at(busiest, target, tuples)
    share = tuples / np.maximum(busiest[target], 1e-300)
    return [max(MIN_QUEUE, round(limit * s)) for s in share.tolist()]


def documents(
    scaled: Scaled, devices: NDArray[np.integer], number: int, seconds: float, queue: int = QUEUE
) -> tuple[list[dict[str, Any]], list[list[int]]]:
    """Return the job of each device, and the operators on it, (D,) each.

    Parameters
    ----------
    devices
        (V,) device of each operator.
    number
        Number of the job, which distinguishes its connections from those of an earlier, failed job.
    seconds
        Length of the run.
    """
    problem = scaled.problem
    graph, count = problem.graph, len(problem.cluster.devices)
    source, target = graph.stream_source, graph.stream_target
    outputs: list[list[tuple[int, float, float]]] = []
    for v in range(len(graph.names)):
        own = np.flatnonzero(source == v).tolist()
        chosen = graph.selectivity[own].tolist()
        outputs.append(list(zip(own, chosen, phases(chosen), strict=True)))
    rates = graph.source_share * problem.source_rate
    limits = queues(scaled, queue)
    jobs, placed = [], []
    for d in range(count):
        own_operators = np.flatnonzero(devices == d).tolist()
        operators = [
            {
                "cost_ns": float(graph.instructions[v]),
                "rate": float(rates[v]),
                "backlog": max(1.0, BACKLOG_S * float(rates[v])),
                "inputs": np.flatnonzero(target == v).tolist(),
                "outputs": outputs[v],
            }
            for v in own_operators
        ]
        streams = []
        for e, size in enumerate(scaled.tuple_bytes):
            a, b = int(devices[source[e]]), int(devices[target[e]])
            if d not in (a, b):
                continue
            stream: dict[str, Any] = {"number": e, "bytes": size, "limit": limits[e]}
            if a != b:
                stream |= {"to": address(b)} if d == a else {"remote_source": True}
            streams.append(stream)
        jobs.append(
            {"number": number, "seconds": seconds, "operators": operators, "streams": streams}
        )
        placed.append(own_operators)
    return jobs, placed
