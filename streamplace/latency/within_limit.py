"""Placements that keep a limit on latency, found by estimates and confirmed by simulations."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from math import inf
from typing import ClassVar, NamedTuple, get_args

import numpy as np

from streamplace.display.text import duration, number, rounded_up
from streamplace.errors import Fault, InfeasibleError, PlacementError, StreamplaceError
from streamplace.latency.limit import LatencyAnswer, LatencyLimit
from streamplace.latency.proof import ROUNDING, least_latency, proof_of_none, without_headroom
from streamplace.latency.tuples import MOST_TUPLES, busiest, deployment_of, estimate, run_tuples
from streamplace.placers.auto import Auto, evaluations_by_default
from streamplace.placers.base import Placer
from streamplace.placers.goal import Goal, time_limit_of
from streamplace.placers.limits import MaxEvaluations
from streamplace.placers.registry import NamedPlacer, ready
from streamplace.placers.search.balance import CARRIED, Prefer, linear_problem
from streamplace.placers.search.exhaustive import feasible_rows
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import compiled
from streamplace.scoring.registry import evaluator, qualities
from streamplace.sim.engine import Settings
from streamplace.sim.tuples import Arrivals, expected_tuples
from streamplace.sim.tuples.errors import quantile
from streamplace.util.arrays import Ints, distinct_rows
from streamplace.util.checks import finite
from streamplace.util.units import parsed

RUNS = 3  # simulations of a placement, each with its own seed
TUPLES = 5e5  # of a simulation
PHASES_S = 200.0  # simulated seconds with bursts, as far as the number of tuples allows
SETTLING = 0.1  # share of a simulation that is not measured
LEAST_SAMPLES = 1000  # tuples at sinks; of fewer, a percentile says little
NEARLY_FULL = 0.97  # utilisation above which a simulation is too short to settle
TRIED = 3  # placements of the lowest estimates that are simulated
MOST_SCREENED = 2_000  # placements up to which all are screened
MOVES = 300  # per unit and start
SCREENS = 5_000  # in all, at most: about 2 s
SIZE = 1_000  # operators and streams with which a screen takes twice as long
ADVISED = 300  # operators, above which a refusal has no advice. It takes two runs of auto and one
# check: 0.9 s of CPU time with 3 operators, 1.4 s with 100, and 2.3 s with 300.
ADVICE_S = 3.0  # nor has it advice within a shorter time limit
LOWER = 0.8, 0.5  # shares of the highest source rate that are tried where it is too high
WORSE = 0.1  # share by which a move may be worse at first
NEAR = 0.5  # share of moves to the device of a neighbour
EXCHANGES, JOINS = 0.2, 0.05  # shares of moves of two units, and of all units of a device


class LatencyGoal(Goal):
    """A limit on the latency of single tuples is kept.

    Parameters
    ----------
    limit
        The limit, or its text; see `LatencyLimit.parse`.

    Raises
    ------
    UsageError
        If it is not a limit.
    """

    report: ClassVar[str] = "latency"

    def __init__(self, limit: LatencyLimit | str) -> None:
        self._limit = LatencyLimit.of(limit)

    def check(self, problem: Problem, placer: str | Placer, seed: int) -> None:
        """Refuse a problem for which limits are not supported, or are provably out of reach.

        Raises
        ------
        UsageError, ProblemError
            See `proof_of_none`.
        InfeasibleError
            If provably no placement keeps the limit.
        """
        refuse_disproved(problem, self._limit, seed, seconds=time_limit_of(placer))

    def placer(self, problem: Problem, placer: str | Placer) -> str | Placer:
        """Limit ``auto`` by changes unless it has a limit, so that no clock decides the answer."""
        chosen = ready(placer) if isinstance(placer, str) else placer
        if not isinstance(chosen, NamedPlacer) or not isinstance(chosen.placer, Auto):
            return placer
        if {"seconds", "evaluations"} & chosen.options.keys():
            return placer
        if evaluator(problem).best_possible is None:  # a change takes as long as a simulation
            return placer
        return chosen.limited(MaxEvaluations(evaluations_by_default(len(problem.graph.names))))

    def improve(
        self, problem: Problem, start: Placement, seed: int
    ) -> tuple[Placement, LatencyAnswer]:
        """Return a placement that keeps the limit if one is found; see `within_limit`."""
        return within_limit(problem, start, self._limit, seed)


def refuse_disproved(
    problem: Problem,
    limit: LatencyLimit,
    seed: int,
    verb: str = "",
    *,
    overloads: bool = True,
    seconds: float | None = None,
    asked: Problem | None = None,
) -> None:
    """Refuse a limit that provably no placement keeps, and say what a placement found keeps.

    What is kept is left out for large graphs and within a short time limit. It is a placement of
    ``auto``, which `within_limit` would try as well.

    Parameters
    ----------
    seed
        That of the caller's search and simulations, with which advice is tried.
    verb
        What the message begins with, such as a command.
    overloads
        Whether a problem of which every placement is overloaded is refused, too.
    seconds
        The time limit of the caller, None without one.
    asked
        The problem on the user's own devices, to which advice refers if a placement is found
        there; None: `problem`.

    Raises
    ------
    InfeasibleError
        If the limit is disproved.
    UsageError, ProblemError
        See `proof_of_none`.
    """
    proof = proof_of_none(problem, limit)
    if proof is None or (proof.least_s is None and not overloads):
        return
    kept = ""
    if len(problem.graph.names) <= ADVISED and (seconds is None or seconds >= ADVICE_S):
        advice = _kept_rate if proof.least_s is None else _kept_limit
        for one in (problem,) if asked is None else (asked, problem):
            with suppress(StreamplaceError):  # no placement found, or none that can be simulated
                kept = kept or advice(one, limit, seed)
    fault = f"latency limit {limit}: {proof.reason}"
    raise InfeasibleError(Fault(fault, place=(verb,) if verb else (), remedy=kept))


def _kept_limit(problem: Problem, limit: LatencyLimit, seed: int) -> str:
    """Return a higher limit that a placement found keeps, in words; empty if there is none."""
    found = _lowest(problem, limit, seed)
    if found is None:
        return ""
    seconds = max(found.value, _simulated_bounded(problem, found, limit, seed))
    if seconds == inf:
        return ""
    higher = duration(seconds * (1.0 + limit.margin), 3, rounded_up)
    higher = higher.replace(" ", "").replace(",", "")  # as the option reads it
    keeps = replace(limit, seconds=parsed(higher, "s")).holds(seconds)
    return f"a placement keeps {limit.quantity}={higher}" if keeps else ""


def _kept_rate(problem: Problem, limit: LatencyLimit, seed: int) -> str:
    """Return a lower source rate at which a placement keeps a limit, in words; else empty."""
    used = compiled(problem).least_utilisation(links_count=True)
    for share in LOWER:
        rate = float(f"{problem.source_rate / used * share:.2g}")
        objective = problem.throughput_objective.with_changes(source_rate=rate)
        slower = problem.with_objective(objective)
        found = _lowest(slower, limit, seed)
        if found is not None and limit.holds(found.value):
            keeps = limit.holds(_simulated_bounded(slower, found, limit, seed))
            return f"a placement keeps it at {number(rate)} tuples/s" if keeps else ""
    return ""


class Screened(NamedTuple):
    """A placement, (V,), and its estimate.

    The first two values order placements: whether it counts as overloaded, because queues grow or
    it is above the target utilisation; then its latency in seconds, or its largest utilisation if
    it does.
    """

    overloaded: bool
    value: float
    devices: Ints

    @property
    def order(self) -> tuple[bool, float]:
        """What to sort placements by."""
        return self.overloaded, self.value


def within_limit(
    problem: Problem, start: Placement, limit: LatencyLimit, seed: int = 0
) -> tuple[Placement, LatencyAnswer]:
    """Return a placement that keeps a limit on latency if one is found, and the answer.

    The result is `start` if its estimate keeps the limit with the margin and the simulations
    confirm it. Otherwise placements of lower latency are looked for, among them those that carry as
    much as the best one. Without success, the result is the placement of the lowest simulated
    latency. A placement that is above the target utilisation counts as overloaded; the
    result is `start` if every placement found is. No limit depends on the machine.

    Parameters
    ----------
    start
        A feasible placement of the problem.
    seed
        Seed of the search and of the simulations.

    Raises
    ------
    UsageError, ProblemError
        See `proof_of_none`.
    """
    proof = proof_of_none(problem, limit)
    if proof is not None:
        return start, proof
    whole, target = without_headroom(problem), problem.target_utilisation
    least = least_latency(whole, limit)
    first = screened(whole, start.devices, limit, target)
    best: tuple[float, float, Screened] | None = None
    simulated = set[bytes]()
    for one in _to_simulate(problem, first, limit, seed):
        if (key := one.devices.tobytes()) in simulated:
            continue
        simulated.add(key)
        value = _simulated_latency_s(whole, one, limit, seed)
        confirmed = _is_confirmed(whole, one, value, limit)
        if best is None or confirmed or (value, one.value) < best[:2]:
            best = value, one.value, one
        if confirmed:
            break
    if best is None:
        return start, LatencyAnswer(limit, "unproven", None, None, least, target)
    value, _, chosen = best
    kept = np.array_equal(chosen.devices, start.devices)
    found = start if kept else Placement(problem, chosen.devices)
    answer = LatencyAnswer(limit, "unproven", chosen.value, finite(value), least, target)
    if _is_confirmed(whole, chosen, value, limit):
        answer = replace(answer, answer="feasible")
    return found, answer


def _to_simulate(
    problem: Problem, first: Screened, limit: LatencyLimit, seed: int
) -> Iterator[Screened]:
    """Yield the first placement if it is promising, and then others that carry as much as any.

    These are the ones of the lowest estimates, those of other placers that are promising, and the
    first one in any case, since estimates may be wrong by a half.
    """

    def is_promising(one: Screened) -> bool:
        return not one.overloaded and limit.holds(one.value)

    if is_promising(first):
        yield first
    rng = np.random.default_rng(seed)
    whole, target = without_headroom(problem), problem.target_utilisation
    starts = [first, *_of_auto(problem, limit, seed)]
    found = of_low_latency(whole, [one.devices for one in starts], limit, rng, target)
    found = [one for one in found if not one.overloaded]
    if not found:
        return
    reached = qualities(problem, [Placement(problem, one.devices) for one in found])
    carrying = [found[k] for k in np.flatnonzero(reached >= reached.max() * CARRIED)]
    yield from carrying[:TRIED]
    yield from filter(is_promising, starts[1:])
    if not first.overloaded:
        yield first


def _of_auto(problem: Problem, limit: LatencyLimit, seed: int) -> list[Screened]:
    """Return what ``auto`` finds with either preference, at the limit of changes of a goal.

    Few devices may be better than low utilisations where latencies of links are long.
    """
    changes, whole = evaluations_by_default(len(problem.graph.names)), without_headroom(problem)
    linear = linear_problem(problem, problem.source_rate)
    found = []
    for prefer in get_args(Prefer):
        auto = Auto(evaluations=changes, prefer=prefer)
        with suppress(PlacementError):
            row = auto(linear, np.random.default_rng(seed)).devices
            found.append(screened(whole, row, limit, problem.target_utilisation))
    return found


def _is_confirmed(problem: Problem, one: Screened, value: float, limit: LatencyLimit) -> bool:
    """Return whether a simulated value makes a limit feasible.

    Where something is nearly full, queues grow for longer than a simulation lasts, so that the
    estimate must keep the limit as well.
    """
    if not limit.holds(value):
        return False
    fullest = busiest(problem, deployment_of(problem, one.devices)).utilisation
    return fullest <= NEARLY_FULL or limit.holds(one.value)


def _simulated_latency_s(problem: Problem, one: Screened, limit: LatencyLimit, seed: int) -> float:
    """Return the largest value of the limit's quantity in several simulations, in seconds.

    It is inf if too few tuples reach sinks.
    """
    placement = Placement(problem, one.devices)
    seconds = _duration_s(expected_tuples(deployment_of(problem, one.devices), 1.0), limit)
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


def _lowest(problem: Problem, limit: LatencyLimit, seed: int) -> Screened | None:
    """Return the lowest estimate of placements that `within_limit` tries, if any."""
    found = [one for one in _of_auto(problem, limit, seed) if not one.overloaded]
    return _sorted(found)[0] if found else None


def _simulated_bounded(problem: Problem, one: Screened, limit: LatencyLimit, seed: int) -> float:
    """Return what `_simulated_latency_s` does; inf if bursts need more than twice the tuples."""
    rate = expected_tuples(deployment_of(problem, one.devices), 1.0)
    too_many = rate * _duration_s(rate, limit) > 2 * TUPLES
    return inf if too_many else _simulated_latency_s(without_headroom(problem), one, limit, seed)


def _duration_s(rate: float, limit: LatencyLimit) -> float:
    """Return the duration of a simulation with so many tuples per second, over all operators."""
    if Arrivals(limit.arrivals).factors == (1.0,):
        return TUPLES / rate
    return max(TUPLES / rate, min(PHASES_S, 0.99 * MOST_TUPLES / rate))


def screened(
    problem: Problem, devices: Ints, limit: LatencyLimit, target_utilisation: float = 1.0
) -> Screened:
    """Return a placement with its estimate.

    Parameters
    ----------
    problem
        The problem with devices and links at their full speed.
    target_utilisation
        Everything may be used for this share of its time at most; at 1, for less, because queues
        grow without limit otherwise.
    """
    found = estimate(problem, devices, Arrivals(limit.arrivals), exponential=limit.exponential)
    if found.is_finite and target_utilisation == 1.0:
        return Screened(False, found.value(limit.quantity), devices)
    used = busiest(problem, deployment_of(problem, devices)).utilisation
    if found.is_finite and used <= target_utilisation * (1.0 + ROUNDING):
        return Screened(False, found.value(limit.quantity), devices)
    return Screened(True, used, devices)


def of_low_latency(
    problem: Problem,
    starts: Sequence[Ints],
    limit: LatencyLimit,
    rng: np.random.Generator,
    target_utilisation: float = 1.0,
) -> list[Screened]:
    """Return feasible placements of low latency, the lowest first.

    Where there are few placements, all are screened. Otherwise random moves begin at `starts`,
    (V,) each, and at the best of the placements on one device each; they end once the limit holds
    with its margin. See `screened` for the problem and the target utilisation.
    """

    def of(devices: Ints) -> Screened:
        return screened(problem, devices, limit, target_utilisation)

    every = feasible_rows(problem, most=MOST_SCREENED)
    if every is not None:
        return _sorted([of(row) for row in every])
    first = [of(row) for row in distinct_rows(starts)]
    first += _sorted([of(row) for row in _on_one_device(problem)])[:1]
    flow, units = compiled(problem).flow, problem.feasibility.unit_count
    screens = SCREENS * SIZE // (SIZE + flow.operators + len(flow.source))
    moves = min(screens // len(first), MOVES * units)
    found = [_anneal_for_limit(problem, one, limit, rng, moves, of) for one in first]
    return _sorted([*found, *first])


def _anneal_for_limit(
    problem: Problem,
    best: Screened,
    limit: LatencyLimit,
    rng: np.random.Generator,
    moves: int,
    of: Callable[[Ints], Screened],
) -> Screened:
    """Return the best placement, screened by `of`, by moves that are not much worse."""
    feasibility, now = problem.feasibility, best
    for left in range(moves, 0, -1):
        if not best.overloaded and limit.holds(best.value):
            break
        worse = 1.0 + WORSE * left / moves * rng.random()
        row = _random_move(problem, now.devices, rng)
        if (row != now.devices).any() and feasibility.violation(row) is None:
            moved = of(row)
            if (moved.overloaded, moved.value) <= (now.overloaded, now.value * worse):
                now = moved
            best = min(best, now, key=lambda one: one.order)
    return best


def _random_move(problem: Problem, devices: Ints, rng: np.random.Generator) -> Ints:
    """Return a placement, (V,), after a random move, which may be infeasible or none.

    A unit goes to a device that is allowed or to that of a neighbour, it changes places with
    another unit, or a device takes over all operators of another one.
    """
    feasibility, flow = problem.feasibility, compiled(problem).flow
    unit, kind = int(rng.integers(feasibility.unit_count)), rng.random()
    members = feasibility.unit_of == unit
    device = int(rng.choice(np.flatnonzero(feasibility.allowed[unit])))
    if kind < JOINS:
        return np.where(devices == devices[members][0], np.int32(device), devices)
    if kind < JOINS + EXCHANGES:
        others = feasibility.unit_of == int(rng.integers(feasibility.unit_count))
        device = int(devices[others][0])
        devices = np.where(others, devices[members][0], devices)
    elif rng.random() < NEAR:
        first, other = flow.ends[:2]
        v = int(rng.choice(np.flatnonzero(members)))
        near = other[first[v] : first[v + 1]]
        device = int(devices[rng.choice(near)]) if len(near) else device
    return np.where(members, np.int32(device), devices).astype(np.int32)


def _on_one_device(problem: Problem) -> list[Ints]:
    """Return the feasible placements on one device each, one for each speed and kind."""
    feasibility, cluster = problem.feasibility, problem.cluster
    rows, known = [], set[tuple[float, int, str | None]]()
    for d, device in enumerate(cluster.devices):
        row = np.full(len(problem.graph.names), d, np.int32)
        trait = device.mips, device.cores, device.kind
        if trait not in known and feasibility.violation(row) is None:
            rows.append(row)
            known.add(trait)
    return rows


def _sorted(found: Sequence[Screened]) -> list[Screened]:
    return sorted(found, key=lambda one: one.order)
