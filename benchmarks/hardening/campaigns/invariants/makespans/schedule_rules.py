"""Rules that every schedule obeys: inputs arrive first, and cores and channels are not shared."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from math import inf

from streamplace.scoring.makespan_score import MakespanScore

Span = tuple[float, float, float]
"""Start and end in seconds, and what is used from one to the other."""


def late_inputs(score: MakespanScore) -> float:
    """Return by how much, as a share of the makespan, an operator starts before an input is there.

    Messages may not start before their producers end, nor arrive before they start. The result is
    infinite if a stream between devices brings no message, or another one does.
    """
    table = score.timetable
    tasks, run, on = table.tasks, table.run, table.devices
    worst = 0.0
    for e, (source, target) in enumerate(zip(tasks.source, tasks.target, strict=True)):
        k = int(run.delivery[e])
        sends = on[source] != on[target] and not tasks.silent[e]
        if sends != (k >= 0):
            return inf
        moments = [float(table.end[source])]
        if sends:
            if (tasks.source[k], on[tasks.target[k]]) != (source, on[target]):
                return inf
            moments += [float(run.begin[run.message[k]]), float(run.arrival[k])]
        moments.append(float(table.start[target]))
        worst = max(worst, *(a - b for a, b in pairwise(moments)))
    return worst / table.makespan if worst else 0.0


def wrong_messages(score: MakespanScore) -> float:
    """Return the number of messages that a schedule has too many or too few.

    A producer sends one message per stream, per receiving device or in all, as the graph's
    `multicast` says, and each arrives once at each of its devices.
    """
    graph, table = score.problem.graph, score.timetable
    tasks, on = table.tasks, table.devices
    crossing = [
        (e, int(source), int(on[target]))
        for e, (source, target) in enumerate(zip(tasks.source, tasks.target, strict=True))
        if on[source] != on[target] and not tasks.silent[e]
    ]
    by_device = {(source, d) for _, source, d in crossing}
    deliveries = len(crossing) if graph.multicast == "none" else len(by_device)
    sent = len({source for source, _ in by_device}) if graph.multicast == "all" else deliveries
    found = {int(table.run.message[k]) for k in score.deliveries}
    return float(abs(len(score.deliveries) - deliveries) + abs(len(found) - sent))


def overused_cores(score: MakespanScore) -> float:
    """Return the number of cores of a device that operators use or rest beyond those it has."""
    table, worst = score.timetable, 0.0
    tasks, run = table.tasks, table.run
    spans: defaultdict[int, list[Span]] = defaultdict(list)
    for v, d in enumerate(table.devices.tolist()):
        rest = float(tasks.startup_s[d]) if run.duration[v] else 0.0
        cores = min(int(tasks.cores[v]), int(tasks.device_cores[d]))
        spans[d].append((float(table.start[v]), float(table.end[v]) + rest, cores))
    for d, used in spans.items():
        worst = max(worst, most_at_once(used) - float(tasks.device_cores[d]))
    return worst


def shared_channels(score: MakespanScore) -> float:
    """Return the number of messages that use a channel together with another one."""
    network, run = score.problem.cluster.network.kind, score.timetable.run
    if network == "free":
        return 0.0
    tasks, on = score.timetable.tasks, score.timetable.devices
    spans: defaultdict[tuple[int, ...], set[tuple[int, Span]]] = defaultdict(set)
    for k in score.deliveries:
        m, a, b = int(run.message[k]), int(on[tasks.source[k]]), int(on[tasks.target[k]])
        begin = float(run.begin[m])
        span = (begin, begin + float(run.transfer[m] + run.gap[m]), 1.0)
        spans[(a, b) if network == "pair" else (a,)].add((m, span))
    return max((most_at_once(one for _, one in used) - 1.0 for used in spans.values()), default=0.0)


def most_at_once(spans: Iterable[Span]) -> float:
    """Return the largest sum of what is used at one moment; ends come before starts."""
    used = most = 0.0
    for _, change in sorted(_changes(spans)):
        used += change
        most = max(most, used)
    return most


def _changes(spans: Iterable[Span]) -> Iterator[tuple[float, float]]:
    for start, end, use in spans:
        if end > start:
            yield start, use
            yield end, -use
