"""The number of a job or cluster that is probably in another unit than it should be."""

from dataclasses import dataclass
from math import log10

import numpy as np

from streamplace.display.text import number
from streamplace.problem.problem import Problem
from streamplace.scoring.score import ThroughputScore

IDLE, OVERLOADED = 0.01, 100.0
"""Utilisations of the bottleneck beyond which one of the numbers is named."""
DEVICE_LOADS = "instructions", "mips", "source_rate"
LINK_LOADS = "payload_bytes", "bandwidth_mbps", "source_rate"
SHORTEST_S, LONGEST_S = 1e-7, 1e2  # CPU times of a tuple
FAR = 10.0
"""How far a number lies outside its usual range if it is named at any utilisation."""


@dataclass(frozen=True)
class _Kind:
    """What numbers of one kind usually are, their unit, and one in which they are often given.

    `is_capacity` tells capacities, which lower utilisations, from loads.
    """

    least: float
    most: float
    unit: str
    other: str
    is_capacity: bool = False


# Jobs of RIoTBench, DSPBench and the Yahoo benchmark, which ship with the package, are within these
# ranges, and so are cores and networks that can be bought.
_KINDS = {
    "instructions": _Kind(1e2, 1e9, "CPU instructions per tuple", "seconds"),
    "payload_bytes": _Kind(8.0, 1e8, "bytes", "kB"),
    "mips": _Kind(1e2, 1e5, "million instructions/s of a core", "instructions/s", True),
    "bandwidth_mbps": _Kind(1.0, 1e6, "Mbit/s", "bit/s", True),
    "source_rate": _Kind(1e-1, 1e8, "tuples/s", "tuples per hour"),
}


def suspect_unit(problem: Problem, score: ThroughputScore) -> str:
    """Return a sentence on the number whose unit is probably wrong; an empty text if none is.

    That is the number that is farthest outside its usual range, if it is so by one order of
    magnitude, or if the bottleneck is used less than 1% or more than 10,000%. At such utilisations,
    it is otherwise the number that explains most of the bottleneck's.
    """
    used = score.bottleneck.utilisation
    if not used > 0.0:
        return ""
    typical = _typical(problem, score.source_rate)
    is_odd = not IDLE <= used <= OVERLOADED
    outside, name = max((_outside(_KINDS[name], value), name) for name, value in typical.items())
    if not is_odd:
        return _question(name, typical[name]) if outside >= log10(FAR) else ""
    if not outside > 0.0:
        loads = LINK_LOADS if score.bottleneck.kind in ("link", "uplink") else DEVICE_LOADS
        _, name = max((_explains(_KINDS[n], typical[n], used), n) for n in loads if n in typical)
    bottleneck = f"{score.bottleneck.kind} {score.bottleneck.name!r}"
    odd = f"the bottleneck, {bottleneck}, is used at {100.0 * used:.2g}%; check the units"
    return f"{odd}: {_question(name, typical[name])}"


def _typical(problem: Problem, source_rate: float) -> dict[str, float]:
    """Return the medians of the numbers of a problem that are positive and known, by name.

    Instructions and speeds are left out where they give a usual CPU time for a tuple.
    """
    graph, cluster = problem.graph, problem.cluster
    columns = {
        "instructions": graph.instructions,
        "payload_bytes": graph.payload_bytes,
        "mips": [device.mips for device in cluster.devices],
        "bandwidth_mbps": [cluster.network.bandwidth_mbps],
        "source_rate": [source_rate],
    }
    known = {name: np.asarray(column, float) for name, column in columns.items()}
    positive = {name: each[(each > 0.0) & np.isfinite(each)] for name, each in known.items()}
    found = {name: float(np.median(each)) for name, each in positive.items() if len(each)}
    if "instructions" in found:
        seconds = found["instructions"] / (1e6 * found["mips"])
        if SHORTEST_S <= seconds <= LONGEST_S:  # both may be in another unit, such as CPU time
            del found["instructions"], found["mips"]
    return found


def _outside(kind: _Kind, value: float) -> float:
    """Return by how many orders of magnitude a number is outside its range; negative: inside."""
    return max(log10(kind.least / value), log10(value / kind.most))


def _explains(kind: _Kind, value: float, used: float) -> float:
    """Return how many orders of magnitude beyond its middle a number moves the utilisation."""
    beyond = log10(value) - (log10(kind.least) + log10(kind.most)) / 2
    return beyond if kind.is_capacity is (used < 1.0) else -beyond


def _question(name: str, value: float) -> str:
    kind = _KINDS[name]
    return f"{name}: {number(value)} is typical; is it in {kind.other}, not {kind.unit}?"
