"""Proofs that no placement keeps a limit on latency, by a lower bound on it."""

from math import e, log
from typing import NamedTuple

import numpy as np

from streamplace.latency.limit import LatencyAnswer, LatencyLimit
from streamplace.latency.tuples import deployment_of
from streamplace.problem.objectives import only_throughput
from streamplace.problem.problem import Problem
from streamplace.scoring.arrays import check_sinks
from streamplace.scoring.compiled import compiled
from streamplace.sim.work import instructions_of
from streamplace.util.arrays import Bools, Floats

STEPS = 100  # of a bisection
ROUNDING = 1e-9  # relative error of utilisations


def proof_of_none(problem: Problem, limit: LatencyLimit) -> LatencyAnswer | None:
    """Return the answer that provably no placement keeps a limit; None without a proof.

    Raises
    ------
    UsageError
        If the objective is not `Throughput` itself.
    ProblemError
        If operators join their inputs, or streams share messages.
    GraphError
        If no tuple ever reaches a sink.
    """
    only_throughput(problem.objective, "a limit on latency supports only throughput")
    target = problem.target_utilisation
    deployment_of(problem, np.zeros(len(problem.graph.names), np.int32))  # raises if not supported
    check_sinks(compiled(problem).flow)
    least_used = compiled(problem).least_utilisation(links_count=True)
    # with the whole capacity in use, queues grow without limit
    is_full = least_used >= 1 if target == 1 else least_used > 1 + ROUNDING
    if is_full:
        return LatencyAnswer(limit, "infeasible", None, None, None, target)
    least = least_latency(without_headroom(problem), limit)
    if least > limit.seconds:
        return LatencyAnswer(limit, "infeasible", None, None, least, target)
    return None


def least_latency(problem: Problem, limit: LatencyLimit) -> float:
    """Return seconds that the limit's quantity exceeds or equals under every placement.

    Every operator takes the mean service of the fastest device that may run it, and a stream takes
    time only if its ends can never share a device. The mean over the tuples of sinks is exact for
    these times. A percentile is at least x if more than the rest of the tuples is later than x: a
    tuple is at least as late as the shortest path to its sink. With exponential services, whose
    sums have a log-concave density, the mean m of a path is exceeded with probability at least 1/e
    (Bobkov 2003), a smaller time r m with at least 1 - r e^(1 - r) (Chernoff's bound), and any time
    x with at least e^(-x / s), where s is the longest service that no path to the sink avoids.
    """
    flow = compiled(problem).flow
    services, transfers = fastest_services(problem), least_transfers(problem)
    rate = flow.source_tuples.astype(np.float64)
    total, shortest = rate * services, np.where(rate > 0, services, np.inf)
    longest = shortest.copy()
    for i in np.flatnonzero(flow.stream_tuples > 0).tolist():
        u, w, tuples = int(flow.source[i]), int(flow.target[i]), float(flow.stream_tuples[i])
        way = total[u] / rate[u] + transfers[i]
        rate[w] += tuples
        total[w] += tuples * (way + services[w])
        shortest[w] = min(shortest[w], shortest[u] + transfers[i] + services[w])
        longest[w] = min(longest[w], max(longest[u], services[w]))
    sinks = flow.sinks[rate[flow.sinks] > 0]
    if limit.share is None:
        return float(total[sinks].sum() / rate[sinks].sum())
    sure = _Sure(rate[sinks] / rate[sinks].sum(), shortest[sinks], longest[sinks])
    return sure.percentile(limit.share, exponential=limit.exponential)


def fastest_services(problem: Problem) -> Floats:
    """Return the mean seconds of each operator's tuple on the fastest device allowed, (V,)."""
    flow, allowed = compiled(problem).flow, _allowed_devices(problem)
    fastest = np.full(flow.operators, np.inf)
    for d in range(flow.devices):
        on = np.full(flow.operators, d, np.int32)
        seconds = instructions_of(flow, on) / flow.capacity[d] * flow.cores[d]
        fastest = np.minimum(fastest, np.where(allowed[:, d], seconds, np.inf))
    return fastest


def least_transfers(problem: Problem) -> Floats:
    """Return the least seconds of a tuple between devices, (E,); 0 if both ends may share one."""
    flow, allowed, feasibility = (
        compiled(problem).flow,
        _allowed_devices(problem),
        problem.feasibility,
    )
    latency_s = problem.cluster.link_column("latency_s")
    rivals = {
        frozenset((a, b))
        for units in (*feasibility.excluding, *feasibility.separating)
        for a in units
        for b in units
        if a != b
    }
    least = np.zeros(len(flow.source))
    for i in range(len(least)):
        u, w = int(flow.source[i]), int(flow.target[i])
        ends = frozenset((int(feasibility.unit_of[u]), int(feasibility.unit_of[w])))
        if ends not in rivals and (allowed[u] & allowed[w]).any():
            continue
        a, b = (column.ravel() for column in np.meshgrid(*map(np.flatnonzero, allowed[[u, w]])))
        a, b = a[a != b], b[a != b]
        if not len(a):
            continue  # no placement is feasible
        own = a * flow.devices + b
        first, last = (a, flow.devices + b) if flow.nic else (own, own)
        busy = [
            flow.gap_s[link] + flow.bits[i] * flow.seconds_per_bit[link] for link in (first, last)
        ]
        seconds = busy[0] + busy[1] if flow.nic else busy[0]
        least[i] = (seconds + np.maximum(latency_s[first], latency_s[last])).min()
    return least


def _allowed_devices(problem: Problem) -> Bools:
    """Return the devices that may run each operator, (V, D)."""
    masks, row_of = problem.feasibility.masks
    return masks[row_of]


class _Sure(NamedTuple):
    """What no placement avoids on the way to each sink, in seconds."""

    weights: Floats  # (sinks,) shares of the tuples
    shortest: Floats  # (sinks,) mean time of the shortest path without waits
    longest: Floats  # (sinks,) mean of the longest service that no path avoids

    def percentile(self, share: float, *, exponential: bool) -> float:
        """Return the largest time that provably more than the rest of the tuples exceeds."""
        low, high = 0.0, float(self.shortest.max())
        if exponential:
            high = max(high, -float(self.longest.max()) * log(1.0 - share))
        for _ in range(STEPS):
            middle = (low + high) / 2
            late = float(self.weights @ self.later(middle, exponential=exponential))
            low, high = (middle, high) if late > 1.0 - share else (low, middle)
        return low

    def later(self, x: float, *, exponential: bool) -> Floats:
        """Return lower bounds on the shares of tuples later than x at each sink, (sinks,)."""
        below = x < self.shortest
        if not exponential:
            return below.astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            r = np.where(below, x / self.shortest, 1.0)
            alone = np.where(self.longest > 0, np.exp(-x / self.longest), 0.0)
        of_sum = np.where(below, np.maximum(1.0 / e, 1.0 - r * np.exp(1.0 - r)), 0.0)
        return np.maximum(of_sum, alone)


def without_headroom(problem: Problem) -> Problem:
    """Return the problem whose devices and links work at their full speed.

    The target utilisation restricts placements, but does not make tuples slower.
    """
    objective = problem.throughput_objective
    if objective.target_utilisation == 1.0:
        return problem
    return problem.with_objective(objective.with_changes(target_utilisation=1.0))
