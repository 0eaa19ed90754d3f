"""Loads of devices and links per source tuple, from which the page computes utilisations."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamplace.problem.graph import StreamGraph
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow
from streamplace.sim.closed_form.bottleneck import utilisations
from streamplace.sim.closed_form.contributions import loads_by_stream, message_sums
from streamplace.sim.work import work_of
from streamplace.util.arrays import Bools, Floats, Ints


def sums_of(placement: Placement) -> dict[str, Any]:
    """Return the loads of devices and links for one tuple at the sources.

    Returns
    -------
    dict
        ``work``: instructions on each device, D numbers; ``busy``: seconds of cores on each device
        by operators with a time for its kind, D numbers; ``operators``: number of operators on each
        device, D numbers; ``own``: for each device [instructions per core, name] of one operator:
        among those that cannot use all cores of the device, the one with the most instructions per
        core; [0, None] if there is none; ``own_busy``: the same with [seconds, name] of operators
        with a time; ``links``: [link, tuples, bits] of each link that tuples cross, numbered as in
        `Flow`; ``overheads``: [link, tuples sent, tuples received] that cost CPU time by the
        overhead of the link; ``bits``: bits that each device sends and receives, D numbers;
        ``limits``: for memory, with ``resource`` None, and for each resource, the amount ``used``
        on each device, D numbers, if operators take any.
    """
    problem, devices = placement.problem, placement.devices
    arrays = flow(problem)
    rate, count = arrays.source_rate, len(problem.cluster.devices)
    times = stated_times(problem, devices)
    timed = ~np.isnan(times)
    tuples = arrays.operator_tuples / rate
    work = np.where(timed, 0.0, work_of(arrays, devices) / rate)
    seconds = np.where(timed, times * tuples, 0.0)
    used = np.minimum(arrays.operator_cores, arrays.cores[devices])
    sums = message_sums(arrays, devices)
    occupied = np.flatnonzero(sums.tuples)
    if problem.cluster.network.kind == "free":
        occupied = occupied[occupied >= problem.cluster.own_links]
    return {
        "work": np.bincount(devices, weights=work, minlength=count).tolist(),
        "busy": np.bincount(devices, weights=seconds * used, minlength=count).tolist(),
        "operators": np.bincount(devices, minlength=count).tolist(),
        "own": _largest_own(placement, work / arrays.operator_cores),
        "own_busy": _largest_own(placement, seconds),
        "links": _rows(occupied, sums.tuples / rate, sums.bits / rate),
        "overheads": _rows(
            np.flatnonzero(sums.sent + sums.received), sums.sent / rate, sums.received / rate
        ),
        "bits": (sums.handled_bits / rate).tolist(),
        "limits": _limits(placement),
    }


def _rows(chosen: NDArray[np.integer], *columns: Floats) -> list[list[float]]:
    return [[int(i), *(float(column[i]) for column in columns)] for i in chosen]


def stated_times(problem: Problem, devices: Ints) -> Floats:
    """Return the seconds per tuple of each operator with a time for its device's kind, (V,).

    They are NaN for the other operators.
    """
    times = np.full(len(devices), np.nan)
    for v, seconds in problem.graph.seconds_on.items():
        kind = problem.cluster.devices[devices[v]].kind
        if kind is not None and (time := seconds.get(kind)) is not None:
            times[v] = time
    return times


LINKS, STREAMS = 8, 8  # of the links that are used most, and of the streams of each
SHARE_DECIMALS = 6  # more than are shown, so that they can be rounded again


def streams_on(placement: Placement) -> dict[int, dict[str, Any]]:
    """Return the streams on the links with the largest utilisations.

    Returns
    -------
    dict
        Link, numbered as in scores -> ``count``, the number of its streams; ``rows``: source,
        target and share of the link's load of the largest ones.
    """
    problem, devices = placement.problem, placement.devices
    arrays = flow(problem)
    used = utilisations(arrays, devices)[1]
    busiest = np.argsort(-used, kind="stable")[:LINKS].tolist()
    loads = {link: loads_by_stream(arrays, devices, arrays.devices + link) for link in busiest}
    return {link: _largest(problem.graph, loads[link]) for link in busiest if used[link] > 0}


def _largest(graph: StreamGraph, loads: Floats) -> dict[str, Any]:
    """Return the number of streams with loads, (E,), and the largest ones with their shares."""
    shares = loads / loads.sum()
    rows = [
        (
            graph.names[graph.stream_source[e]],
            graph.names[graph.stream_target[e]],
            round(float(shares[e]), SHARE_DECIMALS),
        )
        for e in np.argsort(-shares, kind="stable")[:STREAMS].tolist()
        if shares[e] > 0
    ]
    return {"count": int(np.count_nonzero(shares)), "rows": rows}


def irreplaceable(problem: Problem) -> list[int]:
    """Return the devices without which some operator can run nowhere, by rules and limits."""
    masks, _ = problem.feasibility.unit_masks
    found: list[int] = np.flatnonzero(masks[masks.sum(axis=1) == 1].any(axis=0)).tolist()
    return found


def heaviest_work(problem: Problem) -> list[tuple[float, float]]:
    """Return [cores, instructions for one source tuple] of the heaviest operators.

    There is one for each number of cores that operators can use. Operators with times by kind of
    device are left out.
    """
    arrays, plain = flow(problem), _without_times(problem)
    return [
        (float(c), float(work.max() / arrays.source_rate))
        for c in np.unique(arrays.operator_cores)
        if len(work := arrays.work[plain & (arrays.operator_cores == c)])
    ]


def plain_work(problem: Problem) -> float:
    """Return the instructions, for one source tuple, of all operators without times by kind."""
    arrays = flow(problem)
    return float(arrays.work[_without_times(problem)].sum() / arrays.source_rate)


def _without_times(problem: Problem) -> Bools:
    plain = np.ones(len(problem.graph.names), dtype=np.bool_)
    plain[list(problem.graph.seconds_on)] = False
    return plain


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


def _largest_own(placement: Placement, values: Floats) -> list[tuple[float, str | None]]:
    """Return the largest value, (V,), of operators that cannot use all cores of each device."""
    arrays, devices = flow(placement.problem), placement.devices
    largest: list[tuple[float, str | None]] = [(0.0, None)] * arrays.devices
    limited = arrays.operator_cores < arrays.cores[devices]
    # ascending, so that a larger operator replaces a smaller one; of equal ones, the first is last
    for v in np.argsort(-values, kind="stable")[::-1].tolist():
        if limited[v] and values[v] > 0:
            largest[devices[v]] = (float(values[v]), placement.problem.graph.names[v])
    return largest
