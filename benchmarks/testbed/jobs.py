"""A scaled problem and a placement, as what each device is told."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.testbed.scaling import Scaled
from benchmarks.testbed.wiring import address
from streamplace.scoring.flow import flow

QUEUE, SHORTEST = 8, 2
"""Tuples that wait on a stream at most, those on their way included; see `queues`."""
BACKLOG_S = 0.5  # seconds' worth of tuples that a source may catch up with


def phases(selectivities: list[float]) -> list[float]:
    """Return where the streams of an operator begin, so that they take turns: 1/3, 1/3, 1/3
    is one tuple to each in turn.
    """
    found, sum_ = [], 0.0
    for selectivity in selectivities:
        found.append(sum_ % 1.0)
        sum_ += selectivity
    return found


def queues(scaled: Scaled, most: int) -> list[int]:
    """Return how many tuples each stream holds, (E,): as in the engine, `most` on an operator's
    busiest input, on the others as much less as they are offered less. Else full queues would
    let what is taken from each drift from what is offered.
    """
    target = scaled.problem.graph.stream_target
    tuples = flow(scaled.problem).stream_tuples
    busiest = np.zeros(len(scaled.problem.graph.names))
    np.maximum.at(busiest, target, tuples)
    share = tuples / np.maximum(busiest[target], 1e-300)
    return [max(SHORTEST, round(most * s)) for s in share.tolist()]


def documents(
    scaled: Scaled, devices: NDArray[np.integer], number: int, seconds: float, queue: int = QUEUE
) -> tuple[list[dict[str, Any]], list[list[int]]]:
    """Return what each device is told, and which operators it has.

    Parameters
    ----------
    devices
        (V,) device of each operator.
    number
        Of the job: streams of another that failed are told from it.
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
    told, placed = [], []
    for d in range(count):
        here = np.flatnonzero(devices == d).tolist()
        operators = [
            {
                "cost_ns": float(graph.instructions[v]),
                "rate": float(rates[v]),
                "backlog": max(1.0, BACKLOG_S * float(rates[v])),
                "inputs": np.flatnonzero(target == v).tolist(),
                "outputs": outputs[v],
            }
            for v in here
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
        told.append(
            {"number": number, "seconds": seconds, "operators": operators, "streams": streams}
        )
        placed.append(here)
    return told, placed
