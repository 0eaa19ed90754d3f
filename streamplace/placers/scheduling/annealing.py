"""Annealing chains on makespans, from several placements in turn."""

from itertools import count
from typing import NamedTuple

import numpy as np

from sim import work_clock
from sim.schedule.anneal import Cooling, anneal_events, anneal_fifo
from sim.schedule.fifo import FifoMemory, fifo_memory, serves
from sim.schedule.state import FIFO, Order, Run, run_state
from sim.schedule.walk import NO_LIMIT, Leaving, Shares, shape_of, walk_from
from streamplace.placers.search.annealing import Budget
from streamplace.scoring.makespan_evaluator import MakespanEvaluator
from streamplace.util.arrays import Ints
from streamplace.util.evaluation_count import count as count_evaluations

SWAPS, BLOCKS, JOINS, CRITICAL = 0.1, 0.5, 0.7, (0.6, 0.9)  # see `Shares`; chains take turns
SMALL = 30  # units up to which a graph is small
FIRST, GROWTH = 30_000, 2.0  # evaluations of the first chain, and their growth per chain
FIRST_OF_SMALL, GROWTH_OF_SMALL = 2_000, 1.3
CLIMB = 0.5  # share of the budget for the climb on graphs that are not small, up to `FIRST`
MAX_CHANGES = 20_000, 4_000  # of a chain, plus per unit
PATIENCE = 6  # chains of maximum length without improvement after which to stop
HOTTEST, WARMING, COOLING = 0.05, 2e-4, 15.0  # temperature: at most, per evaluation and unit, range
NO_HEAT = 1e-300  # a temperature at which nothing longer is accepted
REACHED = 1.0 + 1e-12  # times the bound, which counts as reaching it


class Annealed(NamedTuple):
    """The result of one chain."""

    devices: Ints  # (V,)
    makespan_s: float  # under the order of the chain, without noise
    evaluations: int


class PassAnnealer:
    """Annealing of the makespan of one problem; the memory of passes is kept between chains.

    Parameters
    ----------
    leaving
        The limit on operators that leave their devices.
    """

    def __init__(
        self, scored: MakespanEvaluator, rng: np.random.Generator, leaving: Leaving = NO_LIMIT
    ) -> None:
        self.scored, self._leaving = scored, leaving
        self._state = rng.integers(1, 2**63, size=1, dtype=np.uint64)
        tasks = scored.tasks
        self._shape = shape_of(scored.compiled.rules, tasks.source, tasks.target)
        self._serves = serves(tasks.columns)
        self._fifo: FifoMemory | None = None
        self._run: Run | None = None

    def chain(self, devices: Ints, order: Order, cooling: Cooling, enough_s: float) -> Annealed:
        """Anneal from a feasible placement, (V,), and stop at a makespan of `enough_s`."""
        tasks, rules = self.scored.tasks.columns, self.scored.compiled.rules
        walk, best = walk_from(rules, devices, self._leaving), np.empty(len(devices), np.int32)
        if order.kind == FIFO and self._serves:
            if self._fifo is None:
                self._fifo = fifo_memory(tasks)
            found, done = anneal_fifo(
                tasks, rules, self._shape, cooling, enough_s, walk, best, self._fifo, self._state
            )
        else:
            if self._run is None:
                self._run = run_state(tasks)
            found, done = anneal_events(
                tasks,
                order,
                rules,
                self._shape,
                cooling,
                enough_s,
                walk,
                best,
                self._run,
                self._state,
            )
        count_evaluations(int(done))
        return Annealed(best, float(found), int(done))


def best_of_passes(
    scored: MakespanEvaluator,
    rng: np.random.Generator,
    rows: Ints,
    budget: Budget,
    leaving: Leaving = NO_LIMIT,
) -> Ints:
    """Return the placement of shortest makespan, (V,), of those that chains of annealing find.

    On graphs that are not small, a climb from the best row comes first, since a short chain at a
    temperature may end above it. Chains then start from each row in turn, best first, and then
    alternately from the best placement so far and from the rows. With the order ``any``, they also
    take turns with the orders. With noise, they anneal makespans without noise, and the best of
    their results is taken. The search ends when the budget is spent, when the lower bound is
    reached, or after many evaluations without improvement.

    Parameters
    ----------
    rows
        (K, V) feasible placements, within the limit if there is one.
    leaving
        The limit on operators that leave their devices.
    """
    begun = work_clock.now()
    makespans = scored.makespans(rows)
    budget.charge(len(rows) * scored.passes, work_clock.now() - begun)
    rows = rows[np.argsort(makespans, kind="stable")]
    best, best_s = rows[0], float(makespans.min())
    enough_s = scored.compiled.bounds.best * REACHED
    units = len(scored.compiled.rules.row_of)
    is_small = units <= SMALL
    first, growth = (FIRST_OF_SMALL, GROWTH_OF_SMALL) if is_small else (FIRST, GROWTH)
    longest = MAX_CHANGES[0] + MAX_CHANGES[1] * units
    annealer, waited, found = PassAnnealer(scored, rng, leaving), 0, [best]
    for number in count(0 if is_small else -1):
        left = budget.left()
        if left == 0 or best_s <= enough_s or waited > PATIENCE * longest:
            break
        length = int(min(left, longest, first * growth ** min(number, 60)))
        begins_at_best = number <= 0 or (number >= len(rows) and number % 2 == 0)
        start = best if begins_at_best else rows[number % len(rows)]
        order = scored.orders[number % len(scored.orders)]
        if number < 0:
            length, order = max(1, int(min(CLIMB * left, first))), scored.best(best)[1]
        begun = work_clock.now()
        chain = annealer.chain(start, order, cooling_of(length, units, number), enough_s)
        budget.charge(chain.evaluations, work_clock.now() - begun)
        found.append(chain.devices)
        waited += length
        if chain.makespan_s < best_s:
            best, best_s, waited = chain.devices, chain.makespan_s, 0
    every = np.unique(np.stack(found), axis=0)
    return np.asarray(every[int(scored.makespans(every).argmin())])


def cooling_of(evaluations: int, units: int, number: int) -> Cooling:
    """Return the parameters of a chain: longer chains start hotter, and climbs have no heat."""
    hot = min(HOTTEST, WARMING * evaluations / units) if number >= 0 else NO_HEAT
    shares = Shares(SWAPS, BLOCKS, JOINS, CRITICAL[number % len(CRITICAL)])
    return Cooling(evaluations, hot, hot / COOLING, shares)
