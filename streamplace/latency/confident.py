"""Search for a placement that carries the source rate under as many draws of the costs as possible.

Candidates come from three sources: the initial placements, searches of the problem whose costs are
higher by a share of their standard errors, and annealing of the draws themselves. They are compared
on more draws than those that annealing used.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from streamplace.latency.sampled import CostDraws, carried_share, draws_within, utilisation_at
from streamplace.placers.budget import Budget, budget_of
from streamplace.placers.search.annealing import schedule
from streamplace.placers.search.chains import best_of_chains
from streamplace.placers.search.exhaustive import feasible_rows
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.problem.uncertainty import Uncertainty
from streamplace.scoring.compiled import compiled
from streamplace.scoring.flow import flow
from streamplace.sim.search import Instance, search_state
from streamplace.sim.search.anneal_samples import (
    SampledLoads,
    anneal_samples,
    sampled_loads,
    sampled_state,
)
from streamplace.util.arrays import Floats, Ints, distinct_rows

# Costs that are all higher lead to placements with reserves where the costs are uncertain; how much
# reserve is best depends on the job, so that several are tried.
INFLATED = (0.25, 0.5, 1.0, 1.5)  # standard errors that are added to all costs, one after another
# Of the search of each such problem: a few ms, since annealing on draws follows; a guess.
CHANGES = 20_000
CHAINS = 8  # of annealing on draws; a guess, not tuned
# A ramp replaces the step at full, which has no slope; broader ones found worse placements.
RAMPS = (0.97, 0.9)  # utilisations from which draws have excess, relative to full, in turn
# Of a chain on draws, each of which adds a row of draws per load; guesses, not tuned.
MAX_STEPS, MIN_STEPS = 40_000, 2_000
STEPS_PER_UNIT = 400  # a guess, not tuned
# Of the whole search, at most: what `--confidence` may add to a placer; a guess, not tuned.
MOST_SECONDS = 2.0
# Annealing on all draws would take 16 times as long; candidates are compared on more, because those
# that fit the draws of annealing by chance would win there.
ANNEALED, COMPARED = 256, 4_096  # draws for annealing and for comparing candidates
# Draws x (resources + streams + operators) of annealing, 160 MB: more may not fit into memory.
MAX_ELEMENTS = 20_000_000
# Paired standard errors by which a candidate must be better, since the best of many looks better
# than it is.
SURE = 2.0
# If there are at most this many placements, all are compared, which is exact; a guess.
FEW_PLACEMENTS = 2_000
MAX_COMPARED = 1_000_000_000  # placements x draws x (operators + streams), which take seconds


@dataclass(frozen=True, eq=False)
class Compared:
    """Candidates with their largest utilisations in S draws, the initial placement first.

    Parameters
    ----------
    rows
        (K, V) devices.
    utilisation
        (K, S) largest utilisation in each draw.
    """

    rows: Ints
    utilisation: Floats

    def best(self, confidence: float) -> int:
        """Return the index of the candidate that carries the source rate in the most draws.

        Among equals, it is the one that sustains the highest rate with the probability asked for.
        The initial placement wins unless another one is better beyond chance.
        """
        shares = carried_share(self.utilisation)
        order = np.lexsort((utilisation_at(self.utilisation, confidence), -shares))
        best = int(order[0])
        if shares[best] > 0.0 and _equal_by_chance(self.utilisation[[0, best]]):
            return 0
        return best

    def chosen(self, confidence: float) -> Ints:
        """Return the devices, (V,), of the candidate that `best` names."""
        row: Ints = self.rows[self.best(confidence)]
        return row


def confident_rows(
    problem: Problem,
    uncertainty: Uncertainty,
    confidence: float,
    start: Placement,
    seed: int,
) -> Ints:
    """Return the devices, (V,), of the best placement found; at least as good as `start`.

    Parameters
    ----------
    confidence
        The probability asked for, which decides between placements that carry the source rate in
        equally many draws.
    start
        The placement to improve, which stays unless another one is better beyond chance.
    seed
        Seeds all draws and the search.
    """
    compared = draws_within(problem, uncertainty, COMPARED)
    draws = CostDraws(problem, uncertainty, (seed, 1), compared)
    rng = np.random.default_rng((seed, 2))
    elements = len(problem.graph.names) + len(problem.graph.stream_source)
    most = min(FEW_PLACEMENTS, MAX_COMPARED // (compared * elements))
    every = feasible_rows(problem, most=most)
    if every is not None:
        known = np.concatenate([start.devices[None], every])
        return _chosen(draws, known, confidence)
    with budget_of(None, None, MOST_SECONDS) as budget:
        rows = [start.devices, *_of_inflated(problem, uncertainty, start, rng, budget)]
        return _anneal_for_confidence(problem, draws, rows, confidence, rng, budget)


def _chosen(draws: CostDraws, rows: Ints, confidence: float) -> Ints:
    return Compared(rows, draws.utilisation(rows)).chosen(confidence)


def _of_inflated(
    problem: Problem,
    uncertainty: Uncertainty,
    start: Placement,
    rng: np.random.Generator,
    budget: Budget,
) -> list[Ints]:
    """Return the best placements found where all costs are higher by some standard errors."""
    graph, found = problem.graph, []
    for errors in INFLATED:
        if budget.seconds_left() <= 0:
            break
        dearer, _ = graph.with_numbers(
            instructions=graph.instructions + errors * graph.instructions_se,
            selectivity=graph.selectivity + errors * graph.selectivity_se,
        )
        inflated = Problem(
            dearer,
            problem.cluster,
            constraints=problem.constraints,
            objective=problem.throughput_objective.with_changes(problem.source_rate, "bottleneck"),
        )
        own = Budget(budget.seconds_left(), CHANGES)
        found.append(best_of_chains(inflated, rng, [start.devices], own).devices)
    return found


def _anneal_for_confidence(
    problem: Problem,
    draws: CostDraws,
    rows: Sequence[Ints],
    confidence: float,
    rng: np.random.Generator,
    budget: Budget,
) -> Ints:
    """Return the best of several placements, (V,) each, and of those that annealing finds."""
    instance, feasibility = compiled(problem).instance, problem.feasibility
    known = distinct_rows(rows)
    known = np.concatenate([rows[0][None], known])
    utilisation = draws.utilisation(known)
    some = CostDraws(problem, draws.uncertainty, (*draws.seed, 1), ANNEALED)
    if not _is_small(problem, instance):
        return Compared(known, utilisation).chosen(confidence)
    loads = sampled_loads(flow(problem), feasibility.unit_of, instance, some.loads())
    units = feasibility.unit_count
    steps = min(MAX_STEPS, max(MIN_STEPS, STEPS_PER_UNIT * units))
    annealing = _Annealing(instance, loads, rng.integers(1, 2**63, size=1, dtype=np.uint64))
    for chain in range(CHAINS):
        if budget.seconds_left() <= 0:
            break
        shares = carried_share(utilisation)
        levels = utilisation_at(utilisation, confidence)
        order = np.lexsort((levels, -shares))
        # Everything is carried in every draw.
        if shares[order[0]] >= 1.0:
            break
        # If nothing is carried in any draw, all candidates have the same share: the excess then
        # counts from the utilisation that is reached with the probability asked for.
        full = 1.0 if shares[order[0]] > 0.0 else float(levels[order[0]])
        # Every other chain begins elsewhere than at the best one, to leave its neighbourhood.
        begin = known[order[0 if chain % 2 == 0 else min(chain, len(order) - 1)]]
        on = annealing.chain(
            begin[feasibility.first_of], steps, RAMPS[chain % len(RAMPS)] * full, full
        )
        row = on[feasibility.unit_of][None]
        known = np.concatenate([known, row])
        utilisation = np.concatenate([utilisation, draws.utilisation(row)])
    return Compared(known, utilisation).chosen(confidence)


@dataclass(frozen=True, eq=False)
class _Annealing:
    """Annealing chains on draws of the loads of an instance."""

    instance: Instance
    loads: SampledLoads
    rng_state: np.ndarray[tuple[int], np.dtype[np.uint64]]

    def chain(self, on: Ints, steps: int, least: float, full: float) -> Ints:
        """Return the best devices of units, (U,), that a chain from `on` finds."""
        state = search_state(self.instance, on)
        anneal_samples(
            self.instance,
            self.loads,
            state,
            sampled_state(self.instance, self.loads),
            self.rng_state,
            schedule(steps, len(on)),
            least,
            full,
        )
        return state.best


def _is_small(problem: Problem, instance: Instance) -> bool:
    """Return whether the loads of all draws for annealing fit into memory."""
    resources = len(instance.capacity) + len(instance.gap_s) + len(instance.work)
    graph = problem.graph
    elements = 2 * resources + len(graph.names) + 2 * len(graph.stream_source)
    return ANNEALED * elements <= MAX_ELEMENTS


def _equal_by_chance(utilisation: Floats) -> bool:
    """Return whether two placements, (2, S), carry the source rate in equally many draws.

    The draws are the same for both, so only those in which they differ count (McNemar's test).
    """
    first, second = (carried_share(each[:, None]) for each in utilisation)
    gained = float(np.sum(second > first))
    lost = float(np.sum(first > second))
    return gained - lost <= SURE * sqrt(gained + lost)
