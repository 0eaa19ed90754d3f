"""The number of a job or cluster that is probably in another unit than it should be."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, log10

import numpy as np

from streamplace.display.text import number
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.problem.problem import Problem
from streamplace.scoring.score import ThroughputScore
from streamplace.util.arrays import Floats

IDLE, OVERLOADED = 0.01, 100.0
"""Utilisations of the bottleneck beyond which one of the numbers is named."""
CPU = "instructions", "mips"
SHORTEST_S, LONGEST_S = 1e-7, 1.0
"""CPU times of a tuple beyond which most operators of a real job are not."""
LEAST_TOGETHER_S = 1e-6
"""CPU time of a tuple in all operators together, from which short times of most of them are
usual: in neural networks and large generated graphs, but not in jobs with times as instructions."""
APART = 100.0  # largest quotient of the speeds of devices that are often in one cluster
SIGNS = 2  # that the instructions or speeds are in another unit; each alone has other causes
FAR, FAR_ALONE = 10.0, 1e3
"""How far a typical number, and one among usual ones, lies outside its range if it is named at any
utilisation."""


@dataclass(frozen=True)
class _Kind:
    """What numbers of one kind usually are, their unit, and one in which they are often given."""

    least: float
    most: float
    unit: str
    other: str


OF_DEVICES = "memory_bytes of devices"
# Jobs of RIoTBench, DSPBench and the Yahoo benchmark, which ship with the package, are within these
# ranges, and so are cores and networks that can be bought.
_KINDS = {
    "instructions": _Kind(1e2, 1e9, "CPU instructions per tuple", "seconds or microseconds"),
    "payload_bytes": _Kind(8.0, 1e8, "bytes", "kB"),
    "memory_bytes": _Kind(1e2, 1e14, "bytes", "GB"),
    "mips": _Kind(1e2, 1e5, "million instructions/s of a core", "instructions/s"),
    OF_DEVICES: _Kind(1e6, 1e15, "bytes", "GB"),
    "bandwidth_mbps": _Kind(1.0, 1e6, "Mbit/s", "bit/s"),
    "source_rate": _Kind(1e-1, 1e8, "tuples/s", "tuples per hour"),
}


def suspect_of(problem: Problem, score: ThroughputScore) -> str:
    """Return the sentence of `suspect_unit` about a scored placement of a problem."""
    return suspect_unit(problem.graph, problem.cluster, score.source_rate, score)


def suspect_unit(
    graph: StreamGraph, cluster: Cluster, source_rate: float, score: ThroughputScore | None = None
) -> str:
    """Return a sentence on the number whose unit is probably wrong; an empty text if none is.

    That is the instructions or the speeds of devices if two signs say so: most CPU times of a tuple
    are not between 100 ns and 1 s (short ones count only if all together are below 1 µs), speeds of
    one cluster differ by a factor of more than 100, or all devices are idle or one of them has a
    hundred times too much to do. Else, it is the number whose typical value is farthest outside its
    usual range, if it is so by one order of magnitude, or else a single one that is outside by
    three. If the bottleneck is used less than 1% or more than 10,000%, it is any number outside its
    range, first a single one.

    Parameters
    ----------
    source_rate
        Tuples/s.
    score
        The score of a placement; None: utilisations are not known.
    """
    used = inf if score is None else score.bottleneck.utilisation
    if not used > 0.0:
        return ""
    if question := _of_cpu(graph, cluster, score):
        return question
    typical = _typical(graph, cluster, source_rate)
    outside, name = max((_outside(_KINDS[n], x), n) for n, x in typical.items())
    question = _question(name, typical[name]) if outside >= log10(FAR) else ""
    question = question or _single(graph, cluster)
    if score is None or IDLE <= used <= OVERLOADED:
        return question
    question = question or _single(graph, cluster, 1.0)
    if not question and outside > 0.0:
        question = _question(name, typical[name])
    if not question:
        return ""
    of = f"{score.bottleneck.label()} {score.bottleneck.name!r}"
    return f"the {of} is used at {100.0 * used:.2g}%; check the units: {question}"


def _of_cpu(graph: StreamGraph, cluster: Cluster, score: ThroughputScore | None) -> str:
    """Return the signs that instructions or speeds are in another unit; nothing for one alone."""
    typical = _medians({"instructions": graph.instructions, "mips": _speeds(cluster)})
    if len(typical) < len(CPU):
        return ""
    signs, slowest, fastest = [], _speeds(cluster).min(), _speeds(cluster).max()
    speed = 1e6 * typical["mips"]
    seconds, together = (
        typical["instructions"] / speed,
        float(np.nansum(graph.instructions)) / speed,
    )
    if seconds > LONGEST_S or (seconds < SHORTEST_S and together < LEAST_TOGETHER_S):
        signs.append(f"a tuple takes about {seconds:.2g} s of CPU time")
    if fastest > APART * slowest:
        signs.append(f"the mips of devices are from {number(slowest)} to {number(fastest)}")
    if score is not None and (used := [device.utilisation for device in score.devices]):
        if max(used) < IDLE:
            signs.append(f"no device is used more than {100.0 * max(used):.2g}%")
        elif max(used) > OVERLOADED:
            signs.append(f"a device is used at {100.0 * max(used):.2g}%")
    if len(signs) < SIGNS:
        return ""
    name = max(CPU, key=lambda name: _outside(_KINDS[name], typical[name]))
    question = _single(graph, cluster)
    if not question and name == "mips" and fastest > APART * slowest:
        away = np.abs(np.log10(_speeds(cluster) / typical["mips"]))
        farthest = cluster.devices[int(away.argmax())]
        question = _unlike(name, farthest.name, farthest.mips)
    question = question or _question(name, typical[name])
    return f"{'; '.join(signs)}; check the units: {question}"


def _typical(graph: StreamGraph, cluster: Cluster, source_rate: float) -> dict[str, float]:
    """Return the medians of the numbers besides `CPU` that are positive and known, by name."""
    return _medians(
        {
            "payload_bytes": graph.payload_bytes,
            "memory_bytes": graph.memory_bytes,
            OF_DEVICES: _memory(cluster),
            "bandwidth_mbps": np.array([cluster.network.bandwidth_mbps], float),
            "source_rate": np.array([source_rate]),
        }
    )


def _single(graph: StreamGraph, cluster: Cluster, far: float = FAR_ALONE) -> str:
    """Return a question about one operator or device whose number is unlike those of the others.

    Instructions count as CPU times on a typical device, and speeds as multiples of it.

    Parameters
    ----------
    far
        How far the number lies outside its range, at least.
    """
    speeds = _speeds(cluster)
    speed = 1e6 * float(np.median(speeds))
    times = _Kind(SHORTEST_S * speed, LONGEST_S * speed, "", "")
    like = _Kind(1e-6 * speed / FAR, 1e-6 * speed * FAR, "", "")
    names = [device.name for device in cluster.devices]
    asked = (
        ("instructions", graph.instructions, graph.names, times),
        ("payload_bytes", graph.payload_bytes, graph.names, _KINDS["payload_bytes"]),
        ("mips", speeds, names, like),
        (OF_DEVICES, _memory(cluster), names, _KINDS[OF_DEVICES]),
    )
    outside, name, owner, value = max(
        (
            (_outside(usual, value), name, owner, value)
            for name, column, owners, usual in asked
            for value, owner in _set_apart(column, owners)
        ),
        default=(0.0, "", "", 0.0),
    )
    if not outside > 0.0 or outside < log10(far):
        return ""
    return _unlike(name, owner, value)


def _speeds(cluster: Cluster) -> Floats:
    return np.array([device.mips for device in cluster.devices])


def _memory(cluster: Cluster) -> Floats:
    return np.array([device.memory_bytes or 0.0 for device in cluster.devices])


def _medians(columns: dict[str, Floats]) -> dict[str, float]:
    """Return the median of the positive and finite numbers of each column that has any."""
    known = {name: each[(each > 0.0) & np.isfinite(each)] for name, each in columns.items()}
    return {name: float(np.median(each)) for name, each in known.items() if len(each)}


def _set_apart(column: Floats, owners: Iterable[str]) -> list[tuple[float, str]]:
    """Return the least and the largest number that a gap parts from most others, with owners.

    Only positive and finite numbers count. Without a gap, a least number is one of many that become
    smaller and smaller, as in large generated graphs.
    """
    places = np.flatnonzero((column > 0.0) & np.isfinite(column))
    order = places[np.argsort(column[places], kind="stable")]
    steps, middle = np.diff(np.log10(column[order])), len(order) // 2
    named = list(owners) if len(order) else []
    sides = ((order[:1], steps[:middle]), (order[-1:], steps[middle - 1 if middle else 0 :]))
    return [
        (float(column[i]), named[i])
        for ends, gaps in sides
        for i in ends
        if gaps.max(initial=0.0) >= log10(FAR_ALONE)
    ]


def _outside(kind: _Kind, value: float) -> float:
    """Return by how many orders of magnitude a number is outside its range; negative: inside."""
    return max(log10(kind.least / value), log10(value / kind.most))


def _unlike(name: str, owner: str, value: float) -> str:
    kind, of = _KINDS[name], f"{name.partition(' ')[0]} of {owner!r}"
    what = f"{of}: {number(value)} is unlike the others"
    return f"{what}; is it in {kind.other}, not {kind.unit}?"


def _question(name: str, value: float) -> str:
    kind = _KINDS[name]
    about = f"{name}: the values are about {number(value)}"
    return f"{about}; are they in {kind.other}, not {kind.unit}?"
