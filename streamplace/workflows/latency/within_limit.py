"""Placements that keep a limit on latency: proof, screen and simulation in one function."""

from collections.abc import Iterator
from dataclasses import replace
from math import inf

import numpy as np

from sim.engine import Settings
from sim.tuples import Arrivals, expected_tuples
from sim.tuples.errors import quantile
from streamplace.placers.search.balance import CARRIED
from streamplace.problem.objectives import only_throughput
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import compiled
from streamplace.scoring.quality import qualities
from streamplace.scoring.tuples import MOST_TUPLES, busiest, deployed, run_tuples
from streamplace.util.checks import finite
from streamplace.workflows.latency.answer import LatencyAnswer
from streamplace.workflows.latency.least import least_latency
from streamplace.workflows.latency.limit import LatencyLimit
from streamplace.workflows.latency.screen import ROUNDING, Screened, of_low_latency, screened

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
