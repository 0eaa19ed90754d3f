"""The source rate that devices sustain: the best placement that a search finds, and a bound."""

from collections.abc import Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from streamplace.errors import PlacementError
from streamplace.placers.auto import Auto
from streamplace.placers.budget import Budget
from streamplace.placers.search.balance import CARRIED, overloaded
from streamplace.placers.search.chains import best_of_chains
from streamplace.placers.search.exhaustive import feasible_rows
from streamplace.placers.search.multilevel import Multilevel
from streamplace.placers.trivial import Greedy
from streamplace.problem.objective import MAX_RATE
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow
from streamplace.scoring.registry import throughput_evaluator
from streamplace.scoring.throughput import ceiling, throughput_where_scored
from streamplace.sim.closed_form.bottleneck import worst_utilisation
from streamplace.util.arrays import Floats, Ints

FEW_PLACEMENTS = 5_000  # if there are at most this many, all are tried
BESIDE_AUTO = Greedy(), Multilevel()  # tried first where one that carries everything is enough
AGAIN = 4  # times as many changes where the first search does not carry everything
MOST_AGAIN = 4_000_000  # changes of that second search, unless the first one had more


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

    The placer `Auto` has the same problem, generator and limits as in `place`, so that the result
    is not below that of `place`, nor below `known` placements.

    Parameters
    ----------
    known
        Placements that count too, (V,) each; infeasible ones are left out.
    enough
        Whether to stop once the problem's source rate is sustained.
    quick
        Whether a short search from `known` replaces `Auto`, if one of them is feasible.

    Raises
    ------
    PlacementError, InfeasibleError
        If no feasible placement is found.
    """
    loaded = overloaded(problem)
    rows = [row for row in known if loaded.feasibility.violation(row) is None]
    if enough and (carrying := _carrying(problem, rows)) is not None:
        return _of(problem, loaded, carrying)
    every = feasible_rows(loaded, most=FEW_PLACEMENTS)
    if every is not None and len(every):
        found = _of_best(problem, loaded, every)
        return found._replace(bound=found.max_source_rate, is_best=True)
    if quick and rows:
        wanted = problem.source_rate / loaded.source_rate if enough else None
        rows.append(best_of_chains(loaded, rng, rows, budget.share(0.5), wanted).devices)
        if not throughput_evaluator(problem).linear:
            rows.append(best_of_chains(problem, rng, rows[-1:] + rows[:-1], budget).devices)
    else:
        rows += _placed(problem, rng, budget, rows, enough=enough)
    return _of_best(problem, loaded, np.stack(rows))


def _placed(
    problem: Problem, rng: np.random.Generator, budget: Budget, rows: list[Ints], *, enough: bool
) -> list[Ints]:
    """Return the placements of `Auto`; if one that carries everything is enough, quick ones first.

    Raises
    ------
    PlacementError, InfeasibleError
        If none was found, and there are no `rows`.
    """
    share = 1.0 if throughput_evaluator(problem).linear else 0.5

    def left() -> float | None:
        return None if budget.seconds is None else share * max(0.0, budget.seconds_left())

    evaluations = None if budget.evaluations is None else max(1, budget.evaluations_left())
    auto, found, failure = Auto(left(), evaluations, "balance"), list[Ints](), None
    again = list[Auto]()  # where the bound allows more than was found
    if enough or ceiling(problem) >= problem.source_rate * CARRIED:
        more = evaluations and max(evaluations, min(AGAIN * evaluations, MOST_AGAIN))
        if more:  # with a limit on time only, the first run has had it
            again.append(replace(auto, evaluations=more))
    for number, each in enumerate((*BESIDE_AUTO, auto) if enough else (auto, *BESIDE_AUTO, *again)):
        placer, start = each, None
        if isinstance(each, Auto):
            if number and found and left() == 0.0:  # it would take seconds on large graphs
                break
            placer = replace(each, seconds=left())
        if number and (found or rows):
            both = np.stack([*found, *rows])
            start = Placement(problem, both[int(_relative(problem, both).argmax())])
        try:
            found.append(placer(problem, deepcopy(rng), start).devices)
        except PlacementError as error:
            failure = error
        if _carrying(problem, found[-1:]) is not None:
            break
    if not throughput_evaluator(problem).linear and not enough:
        with suppress(PlacementError):
            found.append(auto(overloaded(problem), deepcopy(rng)).devices)
    if failure is not None and not found and not rows:
        raise failure
    return found


def _carrying(problem: Problem, rows: Sequence[Ints]) -> Ints | None:
    """Return the placement that carries most, (V,), if it carries everything; None otherwise."""
    if not rows:
        return None
    reached = _relative(problem, np.stack(rows))
    return rows[int(reached.argmax())] if reached.max() >= CARRIED else None


def _relative(problem: Problem, rows: Ints) -> Floats:
    """Return the relative throughput of placements, (K,); negative for one without a score."""
    return throughput_where_scored(problem, rows) / problem.source_rate


def _of_best(problem: Problem, loaded: Problem, rows: Ints) -> Sustained:
    """Return what the best of some placements, (K, V), sustains and carries."""
    found = _of(problem, loaded, rows[int(worst_utilisation(flow(loaded), rows).argmin())])
    if not throughput_evaluator(problem).linear and not found.carries_all:
        reached = _relative(problem, rows)
        carrying = Placement(problem, rows[int(reached.argmax())])
        found = found._replace(carrying=carrying, relative_throughput=float(reached.max()))
    return found


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
