"""Annealing chains from several placements in turn, until a budget is spent."""

from contextlib import suppress
from itertools import count
from typing import Any

import numpy as np

from streamplace.errors import PlacementError
from streamplace.placers.base import Placer
from streamplace.placers.budget import Budget
from streamplace.placers.partition.metis import Metis, MetisRecursive
from streamplace.placers.registry import placer_of
from streamplace.placers.repair import feasible
from streamplace.placers.search.annealing import Annealer, schedule
from streamplace.placers.trivial import Greedy, RoundRobin, Single
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import qualities, qualities_of_rows, throughput_evaluator
from streamplace.sim import work_clock
from streamplace.util.arrays import Ints, distinct_rows
from streamplace.util.running_search import RATE, report

# Smallest factor that counts in a climb: below it, rounding of sums could make it circle.
IMPROVED = 1.0 + 1e-9
# A step scores every move of every unit, which grows with the square of the graph. The limit is a
# guess; not tuned.
MAX_SCORED = 4_000_000  # operators x placements that one step may score
# Smallest factor that counts as an improvement, after which the search goes on.
BETTER = 1.0 + 1e-6
# Changes of the first chain, which measures the time per change: some .2 ms at 100 ns each.
PROBE = 2_000
FIRST = 100  # changes per unit from which later chains grow: `THOROUGH` ones from the second on
# Lengths do not depend on the limit, so that a longer search repeats a shorter one and is hardly
# ever worse. The pace of growth is a guess; not tuned.
DOUBLING = 4  # the length of chains doubles every this many chains
MAX_CHANGES = 20_000, 4_000  # of a chain, plus per unit; beyond, more chains gain more
# Share of the budget for annealing when single moves on the score follow; a guess, not tuned.
ANNEALED = 0.5
CONTIGUOUS = "contiguous"
"""The placer to run first on graphs that it splits well."""
FEW_TO_SPLIT = 20_000  # operators up to which a split takes a second at most
# Small graphs would otherwise repeat the same optimum until the budget ends. A guess; not tuned.
PATIENCE = 6  # chains of maximum length without improvement after which to stop


def climb(problem: Problem, start: Placement, budget: Budget) -> Placement:
    """Return a placement that no move of one unit improves, or the last one when the budget ends.

    If one step would score too many placements, return `start`.
    """
    feasibility = problem.feasibility
    units, targets = np.nonzero(feasibility.allowed)
    if len(units) * len(start.devices) > MAX_SCORED:
        return start
    moves = feasibility.unit_of == units[:, None]
    best, reached = start, float(qualities_of_rows(problem, start.devices[None])[0])
    while budget.left() > 0:
        begun = work_clock.now()
        rows = np.where(moves, targets[:, None].astype(np.int32), best.devices)
        scored = qualities_of_rows(problem, rows)
        budget.charge(len(rows), work_clock.now() - begun)
        order = np.argsort(-scored, kind="stable")
        better = order[: np.count_nonzero(scored > reached * IMPROVED)]
        chosen = next((i for i in better if feasibility.violation(rows[i]) is None), None)
        if chosen is None:
            break
        best, reached = Placement(problem, rows[chosen]), float(scored[chosen])
    return best


def starts(problem: Problem, rng: np.random.Generator, start: Placement | None) -> list[Ints]:
    """Return feasible initial placements, (V,) each: at least one."""
    placers: tuple[Placer, ...] = (MetisRecursive(), Metis(), Greedy(), Single())
    if splits_well(problem):
        with work_clock.loading():
            placers = (placer_of(CONTIGUOUS), *placers)
    rows = [] if start is None else [feasible(problem, start.devices).devices]
    for placer in placers:
        with suppress(PlacementError):
            rows.append(placer(problem, rng).devices)
    return rows or [RoundRobin()(problem, rng).devices]


def splits_well(problem: Problem) -> bool:
    """Return whether a search starts from a contiguous split.

    This holds for graphs of the firing rule ``all``, such as neural networks, on which single moves
    of operators along a chain of layers gain nothing until many of them have moved.
    """
    return problem.graph.firing == "all" and len(problem.graph.names) <= FEW_TO_SPLIT


def best_of_chains(
    problem: Problem,
    rng: np.random.Generator,
    rows: list[Ints],
    budget: Budget,
    wanted: float | None = None,
    **limits: Any,
) -> Placement:
    """Anneal from each row, (V,), in turn, until the budget is spent or the bound is reached.

    The search also ends after many changes without improvement, which is typical of small graphs.
    With several source rates, each chain uses one of them, in turn. If the chains anneal a
    substitute for the score, single moves on the score itself follow while the budget lasts.

    Parameters
    ----------
    wanted
        Relative throughput at which to stop; None: the bound.
    limits
        Fields of `streamplace.sim.search.Instance` that limit moves: `current_device`,
        `migration_cost` and `migration_budget`.
    """
    scored = throughput_evaluator(problem)
    climbs = scored.climbs and not limits
    chain_budget = budget.share(ANNEALED) if climbs else budget
    annealers = [Annealer(case, rng) for case in scored.cases]
    units, first_of = problem.feasibility.unit_count, problem.feasibility.first_of
    max_changes = MAX_CHANGES[0] + MAX_CHANGES[1] * units
    first = max(PROBE, FIRST * units)
    best, waited = 0.0, 0
    candidates = list(rows)
    for number in count():
        left = chain_budget.left()
        if left == 0:
            break
        # The power has a limit, or it overflows in long searches.
        grown = PROBE if number == 0 else int(first * 2 ** min(number / DOUBLING, 60))
        plan = schedule(min(left, grown, max_changes), units)
        begun = work_clock.now()
        start = rows[number % len(rows)][first_of]
        annealer = annealers[number % len(annealers)]
        chain = annealer.chain(annealer.instance._replace(**limits), start, plan, wanted)
        chain_budget.charge(chain.changes, work_clock.now() - begun)
        candidates.append(chain.on[problem.feasibility.unit_of])
        waited += plan.steps
        if chain.reached > best * BETTER:
            best, waited = chain.reached, 0
        if not scored.climbs:
            report(RATE, problem.source_rate * best)
        # With several rates, or a substitute for the score, a chain at its own bound need not be
        # the best.
        is_best = chain.enough and len(annealers) == 1 and not scored.climbs
        if waited > PATIENCE * max_changes or is_best:
            break
    placements = [Placement(problem, row) for row in distinct_rows(candidates)]
    chosen = placements[int(qualities(problem, placements).argmax())]
    return climb(problem, chosen, budget) if climbs else chosen
