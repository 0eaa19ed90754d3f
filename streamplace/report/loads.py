"""Loads of devices and links per source tuple, from which the page computes utilisations."""

from typing import Any

import numpy as np

from sim.links import all_crossed
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow
from streamplace.util.arrays import Floats


def sums_of(placement: Placement) -> dict[str, Any]:
    """Return the loads of devices and links for one tuple at the sources.

    Returns
    -------
    dict
        ``work``: instructions on each device, D numbers; ``operators``: number of operators on each
        device, D numbers; ``own``: for each device [instructions per core, name] of one operator:
        among those that cannot use all cores of the device, the one with the most instructions per
        core; [0, None] if there is none; ``links``: [link, tuples, bits] of each link that tuples
        cross, numbered as in `Flow`; ``limits``: for memory, with ``resource`` None, and for each
        resource, the amount ``used`` on each device, D numbers, if operators take any.
    """
    arrays, devices = flow(placement.problem), placement.devices
    rate, count = arrays.source_rate, len(placement.problem.cluster.devices)
    work = np.bincount(devices, weights=arrays.work, minlength=count) / rate
    link_count = len(arrays.gap_s)
    tuples, bits = np.zeros((2, link_count))
    for link in all_crossed(arrays, devices):
        crosses = link >= 0
        np.add.at(tuples, link[crosses], arrays.stream_tuples[crosses] / rate)
        np.add.at(bits, link[crosses], arrays.stream_bits[crosses] / rate)
    return {
        "work": work.tolist(),
        "operators": np.bincount(devices, minlength=count).tolist(),
        "own": _largest_own(placement),
        "links": [[int(i), float(tuples[i]), float(bits[i])] for i in np.flatnonzero(tuples)],
        "limits": _limits(placement),
    }


def heaviest_work(problem: Problem) -> list[tuple[float, float]]:
    """Return [cores, instructions for one source tuple] of the heaviest operators.

    There is one for each number of cores that operators can use.
    """
    arrays = flow(problem)
    return [
        (float(c), float(arrays.work[arrays.operator_cores == c].max() / arrays.source_rate))
        for c in np.unique(arrays.operator_cores)
    ]


def _limits(placement: Placement) -> list[dict[str, Any]]:
    """Return the memory and resources used on each device, without those that nothing takes."""
    graph, count = placement.problem.graph, len(placement.problem.cluster.devices)
    taken: dict[str | None, Floats] = {None: graph.memory_bytes}
    taken |= {name: graph.resource(name) for name in graph.resource_names}
    return [
        {"resource": name, "used": np.bincount(placement.devices, column, count).tolist()}
        for name, column in taken.items()
        if column.any()
    ]


def _largest_own(placement: Placement) -> list[tuple[float, str | None]]:
    arrays, devices = flow(placement.problem), placement.devices
    largest: list[tuple[float, str | None]] = [(0.0, None)] * arrays.devices
    per_core = arrays.work / arrays.operator_cores / arrays.source_rate
    limited = arrays.operator_cores < arrays.cores[devices]
    # ascending, so that a larger operator replaces a smaller one; of equal ones, the first is last
    for v in np.argsort(-per_core, kind="stable")[::-1].tolist():
        if limited[v] and per_core[v] > 0:
            largest[devices[v]] = (float(per_core[v]), placement.problem.graph.names[v])
    return largest
