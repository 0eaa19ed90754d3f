"""Placements that keep a limit on latency: proof by a lower bound, screen and simulation."""

from collections.abc import Iterator
from dataclasses import replace
from math import e, inf, log
from typing import NamedTuple

import numpy as np

from sim.engine import Settings
from sim.tuples import Arrivals, expected_tuples
from sim.tuples.errors import quantile
from sim.work import instructions_of
from streamplace.placers.search.balance import CARRIED
from streamplace.problem.objectives import only_throughput
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import compiled
from streamplace.scoring.registry import qualities
from streamplace.scoring.tuples import MOST_TUPLES, busiest, deployed, run_tuples
from streamplace.util.arrays import Bools, Floats
from streamplace.util.checks import finite
from streamplace.workflows.latency.answer import LatencyAnswer
from streamplace.workflows.latency.limit import LatencyLimit
from streamplace.workflows.latency.screen import ROUNDING, Screened, of_low_latency, screened

STEPS = 100  # of a bisection


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
    flow, allowed = compiled(problem).flow, _allowed(problem)
    fastest = np.full(flow.operators, np.inf)
    for d in range(flow.devices):
        on = np.full(flow.operators, d, np.int32)
        seconds = instructions_of(flow, on) / flow.capacity[d] * flow.cores[d]
        fastest = np.minimum(fastest, np.where(allowed[:, d], seconds, np.inf))
    return fastest


def least_transfers(problem: Problem) -> Floats:
    """Return the least seconds of a tuple between devices, (E,); 0 if both ends may share one."""
    flow, allowed, rules = compiled(problem).flow, _allowed(problem), problem.feasibility
    latency_s = problem.cluster.link_column("latency_s")
    rivals = {
        frozenset((a, b))
        for units in (*rules.excluding, *rules.separating)
        for a in units
        for b in units
        if a != b
    }
    least = np.zeros(len(flow.source))
    for i in range(len(least)):
        u, w = int(flow.source[i]), int(flow.target[i])
        ends = frozenset((int(rules.unit_of[u]), int(rules.unit_of[w])))
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


def _allowed(problem: Problem) -> Bools:
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


RUNS = 3  # simulations of a placement, each with its own seed
TUPLES = 5e5  # of a simulation
PHASES_S = 200.0  # simulated seconds with bursts, as far as the number of tuples allows
SETTLING = 0.1  # share of a simulation that is not measured
LEAST_SAMPLES = 1000  # tuples at sinks; of fewer, a percentile says little
NEARLY_FULL = 0.97  # utilisation above which a simulation is too short to settle
TRIED = 3  # placements that are simulated


def disproved(problem: Problem, limit: LatencyLimit) -> LatencyAnswer | None:
    """Return the answer that provably no placement keeps a limit; None without a proof.

    Raises
    ------
    UsageError
        If the objective is not `Throughput` itself.
    ProblemError
        If operators join their inputs, or streams share messages.
    """
    only_throughput(problem.objective, "a limit on latency supports only throughput")
    target = problem.target_utilisation
    deployed(problem, np.zeros(len(problem.graph.names), np.int32))  # raises if not supported
    least_used = compiled(problem).least_utilisation(links_count=True)
    # with the whole capacity in use, queues grow without limit
    is_full = least_used >= 1 if target == 1 else least_used > 1 + ROUNDING
    if is_full:
        return LatencyAnswer(limit, "infeasible", None, None, None, target)
    least = least_latency(_without_headroom(problem), limit)
    if least > limit.seconds:
        return LatencyAnswer(limit, "infeasible", None, None, least, target)
    return None


def within_limit(
    problem: Problem, start: Placement, limit: LatencyLimit, seed: int = 0
) -> tuple[Placement, LatencyAnswer]:
    """Return a placement that keeps a limit on latency if one is found, and the answer.

    The result is `start` if its estimate keeps the limit with the margin and the simulations
    confirm it. Otherwise placements of lower latency are looked for, among them those that carry as
    much as the best one. Without success, the result is the placement of the lowest simulated
    latency. A placement that is above the target utilisation counts as overloaded; the
    result is `start` if every placement found is.

    Parameters
    ----------
    start
        A feasible placement of the problem.
    seed
        Seed of the search and of the simulations.

    Raises
    ------
    UsageError, ProblemError
        See `disproved`.
    """
    proof = disproved(problem, limit)
    if proof is not None:
        return start, proof
    whole, target = _without_headroom(problem), problem.target_utilisation
    least = least_latency(whole, limit)
    first = screened(whole, start.devices, limit, target)
    best: tuple[float, Screened] | None = None
    for one in _to_simulate(problem, first, limit, seed):
        value = _simulated(whole, one, limit, seed)
        if best is None or value < best[0]:
            best = value, one
        if _confirmed(whole, one, value, limit):
            break
    if best is None:
        return start, LatencyAnswer(limit, "unproven", None, None, least, target)
    value, chosen = best
    kept = np.array_equal(chosen.devices, start.devices)
    found = start if kept else Placement(problem, chosen.devices)
    answer = LatencyAnswer(limit, "unproven", chosen.value, finite(value), least, target)
    if _confirmed(whole, chosen, value, limit):
        answer = replace(answer, answer="feasible")
    return found, answer


def _to_simulate(
    problem: Problem, first: Screened, limit: LatencyLimit, seed: int
) -> Iterator[Screened]:
    """Yield the first placement if it is promising, then better ones among those that carry most.

    Of those, the best one is always simulated, and others only if their estimate is below the
    limit.
    """
    is_promising = not first.overloaded and limit.holds(first.value)
    if is_promising:
        yield first
    rng = np.random.default_rng(seed)
    whole, target = _without_headroom(problem), problem.target_utilisation
    found = of_low_latency(whole, first.devices, limit, rng, target)
    found = [one for one in found if not one.overloaded]
    if not found:
        return
    reached = qualities(problem, [Placement(problem, one.devices) for one in found])
    carrying = np.flatnonzero(reached >= reached.max() * CARRIED)[:TRIED]
    for i, one in enumerate(found[k] for k in carrying):
        is_first = np.array_equal(one.devices, first.devices)
        if not (is_first and is_promising) and (i == 0 or one.value <= limit.seconds):
            yield one


def _confirmed(problem: Problem, one: Screened, value: float, limit: LatencyLimit) -> bool:
    """Return whether a simulated value makes a limit feasible.

    Where something is nearly full, queues grow for longer than a simulation lasts, so that the
    estimate must keep the limit as well.
    """
    if not limit.holds(value):
        return False
    fullest = busiest(problem, deployed(problem, one.devices)).utilisation
    return fullest <= NEARLY_FULL or limit.holds(one.value)


def _without_headroom(problem: Problem) -> Problem:
    """Return the problem whose devices and links work at their full speed.

    The target utilisation restricts placements, but does not make tuples slower.
    """
    objective = problem.throughput_objective
    if objective.target_utilisation == 1.0:
        return problem
    return problem.with_objective(objective.with_changes(target_utilisation=1.0))


def _simulated(problem: Problem, one: Screened, limit: LatencyLimit, seed: int) -> float:
    """Return the largest value of the limit's quantity in several simulations, in seconds.

    It is inf if too few tuples reach sinks.
    """
    placement = Placement(problem, one.devices)
    rate = expected_tuples(deployed(problem, one.devices), 1.0)
    seconds = TUPLES / rate
    if Arrivals(limit.arrivals).factors != (1.0,):
        seconds = max(seconds, min(PHASES_S, 0.99 * MOST_TUPLES / rate))
    settings = Settings(
        duration_s=seconds,
        tick_s=None,
        measure_from_s=SETTLING * seconds,
        arrivals=limit.arrivals,
        service=limit.service,
    )
    values = []
    for run in range(RUNS):
        latencies_s = run_tuples(placement, replace(settings, seed=seed + run)).latencies_s
        if len(latencies_s) < LEAST_SAMPLES:
            return inf
        if limit.share is None:
            values.append(float(latencies_s.mean()))
        else:
            values.append(quantile(latencies_s, limit.share))
    return max(values)
