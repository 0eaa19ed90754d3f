"""The source rate that devices sustain: the best placement that a search finds, and a bound."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sim.closed_form.bottleneck import worst_utilisation
from streamplace.placers.search.annealing import Budget
from streamplace.placers.search.balance import CARRIED, overloaded
from streamplace.placers.search.chains import best_of_chains, starts
from streamplace.placers.search.exhaustive import feasible_rows
from streamplace.problem.objective import MAX_RATE
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow
from streamplace.scoring.registry import throughput_evaluator
from streamplace.scoring.throughput import ceiling, throughput_where_scored
from streamplace.util.arrays import Ints

FEW_PLACEMENTS = 5_000  # if there are at most this many, all are tried, perhaps in the engine


class Sustained(NamedTuple):
    """What the best placement found sustains.

    Attributes
    ----------
    placement
        The placement whose largest utilisation under ``bottleneck`` is the lowest.
    carrying
        The placement with the highest throughput at the problem's source rate.
    max_source_rate, bound
        Tuples/s at which the first device or link of `placement` is full, and an upper bound for
        any placement; both are at most `MAX_RATE`.
    relative_throughput
        That of `carrying`, under the problem's model.
    is_best
        Whether all placements were tried, so that none has a higher rate or throughput.
    """

    placement: Placement
    carrying: Placement
    max_source_rate: float
    bound: float
    relative_throughput: float
    is_best: bool = False

    @property
    def carries_all(self) -> bool:
        """Whether everything offered is carried, up to rounding."""
        return self.relative_throughput >= CARRIED


def sustained(
    problem: Problem,
    rng: np.random.Generator,
    known: Sequence[Ints],
    budget: Budget,
    *,
    enough: bool = False,
    quick: bool = False,
) -> Sustained:
    """Search for the placement that sustains the highest source rate; if these are few, in all.

    Parameters
    ----------
    known
        Placements to start from, (V,) each, besides those of fast placers; infeasible ones are
        left out.
    enough
        Whether to stop once the problem's source rate is sustained.
    quick
        Whether to start from `known` only, if one of them is feasible.

    Raises
    ------
    PlacementError, InfeasibleError
        If no feasible placement is found.
    """
    rate, loaded = problem.source_rate, overloaded(problem)
    rows = [row for row in known if loaded.feasibility.violation(row) is None]
    wanted = rate / loaded.source_rate if enough else None
    if enough and rows:
        reached = throughput_where_scored(problem, np.stack(rows)) / rate
        if reached.max() >= CARRIED:
            return _of(problem, loaded, rows[int(reached.argmax())])
    every = feasible_rows(loaded, most=FEW_PLACEMENTS)
    if every is not None and len(every):
        return _of_all(problem, loaded, every)
    if not (quick and rows):
        rows += starts(loaded, rng, None)
    best = best_of_chains(loaded, rng, rows, budget.share(0.5), wanted).devices
    found = _of(problem, loaded, best)
    if not throughput_evaluator(problem).linear and not found.carries_all:
        chosen = best_of_chains(problem, rng, [best, *rows], budget)
        relative = float(throughput_where_scored(problem, chosen.devices[None])[0]) / rate
        found = found._replace(carrying=chosen, relative_throughput=relative)
    return found


def _of_all(problem: Problem, loaded: Problem, every: Ints) -> Sustained:
    """Return what the best of all placements, (K, V), sustains."""
    found = _of(problem, loaded, every[int(worst_utilisation(flow(loaded), every).argmin())])
    if not throughput_evaluator(problem).linear and not found.carries_all:
        reached = throughput_where_scored(problem, every)
        carrying = Placement(problem, every[int(reached.argmax())])
        relative = float(reached.max()) / problem.source_rate
        found = found._replace(carrying=carrying, relative_throughput=relative)
    return found._replace(bound=found.max_source_rate, is_best=True)


def _of(problem: Problem, loaded: Problem, devices: Ints) -> Sustained:
    """Return what one placement, (V,), sustains."""
    worst = float(worst_utilisation(flow(loaded), devices)[0])
    highest = MAX_RATE if worst * MAX_RATE <= loaded.source_rate else loaded.source_rate / worst
    relative = min(1.0, highest / problem.source_rate)
    if not throughput_evaluator(problem).linear and relative < CARRIED:
        relative = float(throughput_where_scored(problem, devices[None])[0]) / problem.source_rate
    placement = Placement(problem, devices)
    bound = min(loaded.source_rate, ceiling(loaded))
    return Sustained(placement, placement, highest, bound, relative)
