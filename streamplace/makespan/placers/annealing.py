"""Annealing chains on makespans, from several placements in turn."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import NamedTuple

import numpy as np

from streamplace.makespan.evaluator import MakespanEvaluator
from streamplace.makespan.placers.passes import pass_evaluator, shortest
from streamplace.makespan.placers.portfolio import Tries, portfolio
from streamplace.placers.budget import Budget
from streamplace.placers.search.climb import climb_by_moves
from streamplace.placers.search.current import Current
from streamplace.placers.search.exhaustive import MOST_PARTIAL, ROUNDING, feasible_rows
from streamplace.placers.search.nearby import SAME
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.sim import work_clock
from streamplace.sim.schedule.anneal import (
    NO_LIMIT,
    Cooling,
    Leaving,
    Shares,
    Walk,
    anneal_events,
    anneal_fifo,
    shape_of,
    walk_from,
)
from streamplace.sim.schedule.fifo import FifoMemory, fifo_memory, serves
from streamplace.sim.schedule.moved_paths import paths_of
from streamplace.sim.schedule.state import FIFO, Order, Run, run_state
from streamplace.util.arrays import Floats, Ints, distinct_rows
from streamplace.util.running_search import count as count_evaluations

FEWEST = 200  # placements that are all tried, however large the graph is; a guess, not tuned
# Operators and streams x placements x passes up to which more are tried; a guess.
MAX_PARTS = 4_000_000
# A climb moves single units, as its name says to users.
MOVES = Shares(swaps=0.0, blocks=0.0, joins=0.0, critical=0.0)
# Half of the changes move connected blocks, since a single operator that moves pays for messages on
# both sides. The shares were not tuned one by one.
SWAPS, BLOCKS, JOINS, CRITICAL = 0.1, 0.5, 0.7, (0.6, 0.9)  # see `Shares`; chains take turns
# On few units, chains end soon and differ by their starts, so that all of these have their turn
# (docs/results/makespan.md: from which one each starts does not matter much).
SMALL = 30  # units up to which a graph is small
# Short at first, so that a good placement is known early.
FIRST = 20, 300, 3_000  # evaluations of the first chain: per unit, at least, at most
# Of chains, since longer ones find more once short ones find nothing; a guess, not tuned.
GROWTH = 1.5
CLIMBS = 5  # parts of the first climb, after each of which another search may be better
# Of a chain, plus per unit; beyond, more chains gain more, as under throughput.
MAX_CHANGES = 20_000, 4_000
PATIENCE = 6  # chains of maximum length without improvement after which to stop; a guess, not tuned
# Short chains begin colder, since they have no time to mend what heat destroys; not tuned one by
# one.
HOTTEST, WARMING, COOLING = 0.05, 2e-4, 15.0  # temperature: at most, per evaluation and unit, range
NO_HEAT = 1e-300  # a temperature at which nothing longer is accepted
SLICE = 300_000  # operators and streams of the evaluations between two looks at the clock: some ms
SLOWER = 8  # times that evaluations on the event engine take longer, about
# Evaluations between two looks, at least, as the first one is of the start and finds nothing.
LEAST = 16
REACHED = 1.0 + 1e-12  # times the bound, which counts as reaching it; more is rounding


@dataclass(frozen=True)
class PassMoves:
    """The search for moves that shorten the makespan; see `Nearby`.

    The value of a placement is the share by which it shortens the makespan of `staying`.

    Parameters
    ----------
    rng
        Seeds all chains.
    staying
        (V,) the placement after the fewest necessary moves.
    """

    current: Current
    rng: np.random.Generator
    staying: Ints

    def value(self, rows: Ints) -> Floats:
        """Return the share by which placements shorten the makespan, (K,) for (K, V)."""
        makespans = self._scored.makespans(rows)
        if self._staying_s == 0.0:
            return np.where(makespans > 0.0, -np.inf, 0.0)
        return 1.0 - makespans / self._staying_s

    @property
    def highest_value(self) -> float:
        """The value of a placement whose makespan is the lower bound; with noise, 1."""
        bound_s = self._scored.bound_s
        if self._staying_s == 0.0:
            return 0.0
        return 1.0 - (bound_s or 0.0) / self._staying_s

    @property
    def gain(self) -> float:
        """The smallest difference of values that counts."""
        return SAME

    def all_within(self, migration_cost: Floats, limit: float) -> Ints | None:
        """Return all feasible placements, (K, V), whose moves cost at most `limit`."""
        parts = len(self.staying) + len(self._scored.tasks.source)
        few = min(MOST_PARTIAL, max(FEWEST, MAX_PARTS // (parts * self._scored.passes)))
        costs = self.current.unit_costs(migration_cost)
        rows = feasible_rows(self.current.problem, costs, limit, few)
        return rows if rows is not None and len(rows) else None

    def annealed(
        self, rows: list[Ints], migration_cost: Floats, limit: float, budget: Budget
    ) -> Ints:
        """Return the best placement found, (V,), whose moves cost at most `limit`."""
        most = limit + ROUNDING * (1.0 + limit)
        home = self.current.devices.astype(np.int32)
        leaving = Leaving(home, migration_cost.astype(np.float64), most)
        return best_of_passes(self._scored, self.rng, np.stack(rows), budget, leaving)

    def unlimited(self, staying: Ints, budget: Budget) -> Ints:
        """Return the best placement found, (V,), with any number of moves."""
        problem = self.current.problem
        rows = portfolio(problem, self.rng, Placement(problem, staying))
        return best_of_passes(self._scored, self.rng, rows, budget)

    @cached_property
    def _scored(self) -> MakespanEvaluator:
        return pass_evaluator(self.current.problem, "migrate")

    @cached_property
    def _staying_s(self) -> float:
        return float(self._scored.makespans(self.staying)[0])


def climb_pass(problem: Problem, rng: np.random.Generator, devices: Ints, budget: Budget) -> Ints:
    """Return a placement, (V,), that is reached from a feasible one by moves of single units.

    With the order ``any``, the climb takes place under the order that is best for the start.
    """
    if problem.makespan_objective.noise:  # a pass may end early by chance, so its mean counts
        return climb_by_moves(problem, rng, devices, budget)
    scored = pass_evaluator(problem, "climb")
    cooling = Cooling(budget.evaluations_left(), NO_HEAT, NO_HEAT, MOVES)
    enough_s = scored.compiled.bounds.best * REACHED
    annealer = PassAnnealer(scored, rng)
    return annealer.chain(devices, scored.best(devices)[1], cooling, enough_s, budget).devices


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
        self._size = tasks.operators + len(tasks.source)
        self._paths = paths_of(tasks)
        self._fifo: FifoMemory | None = None
        self._run: Run | None = None
        self._per_second = dict[bool, float]()  # evaluations, on the fast engine and on the other

    def chain(
        self, devices: Ints, order: Order, cooling: Cooling, enough_s: float, budget: Budget
    ) -> Annealed:
        """Anneal from a feasible placement, (V,), and stop at a makespan of `enough_s`.

        If the budget ends before, the result is the best placement so far. The clock only stops
        the chain; until then it does the same with every limit on time. As its end comes near,
        fewer evaluations are made between two looks at it.
        """
        walk, row = walk_from(self.scored.compiled.rules, devices, self._leaving), devices.copy()
        best, best_s, done = devices, np.inf, 0
        is_fast = self._is_fast(order)
        usual = max(LEAST, SLICE // ((1 if is_fast else SLOWER) * self._size))
        while (left := min(budget.evaluations_left(), cooling.evaluations - done)) > 0:
            if budget.left() == 0:
                break
            in_time = max(LEAST, budget.seconds_left() * self._per_second.get(is_fast, np.inf))
            part = part_of(cooling, done, int(min(usual, left, in_time)))
            begun = work_clock.now()
            found, evaluations = self._anneal(order, part, enough_s, walk, row)
            seconds = work_clock.now() - begun
            budget.charge(evaluations, seconds)
            self._per_second[is_fast] = evaluations / seconds
            done += evaluations
            if found < best_s:
                best, best_s = row.copy(), found
            if evaluations < part.evaluations or best_s <= enough_s:
                break
        count_evaluations(done)
        return Annealed(best, best_s, done)

    def _anneal(
        self, order: Order, cooling: Cooling, enough_s: float, walk: Walk, best: Ints
    ) -> tuple[float, int]:
        """Go on with a walk; return the best makespan in seconds, and the evaluations."""
        tasks, rules = self.scored.tasks.columns, self.scored.compiled.rules
        state = self._state
        if self._is_fast(order):
            if self._fifo is None:
                self._fifo = fifo_memory(tasks)
            memory = self._fifo
            found, done = anneal_fifo(
                tasks, rules, self._shape, cooling, enough_s, walk, best, memory, self._paths, state
            )
        else:
            if self._run is None:
                self._run = run_state(tasks)
            run = self._run
            found, done = anneal_events(
                tasks,
                order,
                rules,
                self._shape,
                cooling,
                enough_s,
                walk,
                best,
                run,
                self._paths,
                state,
            )
        return float(found), int(done)

    def _is_fast(self, order: Order) -> bool:
        return order.kind == FIFO and self._serves


class Step(NamedTuple):
    """A step of a search."""

    rows: list[Ints]  # new placements, each (V,)
    ahead: int  # evaluations that the next step may take
    proven: bool = False  # whether no placement is shorter than the best of them


def best_of_passes(
    scored: MakespanEvaluator,
    rng: np.random.Generator,
    rows: Ints,
    budget: Budget,
    leaving: Leaving = NO_LIMIT,
    more: Sequence[Tries] = (),
) -> Ints:
    """Return the placement of shortest makespan, (V,), of those that `annealed_passes` finds."""
    steps = annealed_passes(scored, rng, rows, budget, leaving, more)
    every = distinct_rows(row for step in steps for row in step.rows)
    return np.asarray(every[shortest(scored, every)])


def annealed_passes(
    scored: MakespanEvaluator,
    rng: np.random.Generator,
    rows: Ints,
    budget: Budget,
    leaving: Leaving = NO_LIMIT,
    more: Sequence[Tries] = (),
) -> Iterator[Step]:
    """Yield the best of the given placements, and then what each chain of annealing finds.

    On graphs that are not small, a climb from the best row comes first, in several parts, since a
    short chain at a temperature may end above it. Chains start from the best placement so far; on
    small graphs, they start from each row in turn, best first, and then alternately from the best
    placement so far and from the rows. With the order ``any``, they also take turns with the
    orders. With noise, they anneal makespans without noise. The search ends when the budget is
    spent, when the lower bound is reached, or after many evaluations without improvement.

    The lengths of chains do not depend on the budget. With the same seed, a longer search therefore
    repeats a shorter one and goes on.

    Parameters
    ----------
    rows
        (K, V) feasible placements, within the limit if there is one.
    leaving
        The limit on operators that leave their devices.
    more
        Placers whose placements become further rows before each chain.
    """
    begun = work_clock.now()
    makespans = scored.makespans(rows)
    budget.charge(len(rows) * scored.passes, work_clock.now() - begun)
    rows = rows[np.argsort(makespans, kind="stable")]
    best, best_s = rows[0], float(makespans.min())
    enough_s = scored.compiled.bounds.best * REACHED
    units = len(scored.compiled.rules.row_of)
    is_small = units <= SMALL
    per_unit, least, most = FIRST
    first, longest = (
        min(max(least, per_unit * units), most),
        MAX_CHANGES[0] + MAX_CHANGES[1] * units,
    )
    annealer, waited, found = PassAnnealer(scored, rng, leaving), 0, [best]
    for number in count(0 if is_small else -CLIMBS):
        length = first // CLIMBS
        # Climbs (negative numbers) do not anneal: a short chain with heat may end above its start.
        if number >= 0:
            # The power has a limit, or it overflows in long searches.
            length = int(min(longest, first * GROWTH ** min(number, 60)))
        yield Step(found, length)
        if budget.left() == 0 or best_s <= enough_s or waited > PATIENCE * longest:
            break
        found = []
        for tries in more:
            tried = tries.best(scored, rng, length if number > 0 else least, budget)
            rows = np.vstack([rows, tried])
            found.extend(tried)
            if len(tried) and (tried_s := float(scored.makespans(tried)[0])) < best_s:
                best, best_s, waited = tried[0], tried_s, 0
        is_from_row = is_small and number > 0 and (number < len(rows) or number % 2 == 1)
        turn = number if number < len(rows) else number // 2  # as every second chain is from best
        start = rows[turn % len(rows)] if is_from_row else best
        order = scored.orders[number % len(scored.orders)] if number >= 0 else scored.best(best)[1]
        chain = annealer.chain(start, order, cooling_of(length, units, number), enough_s, budget)
        found.append(chain.devices)
        waited += length
        if chain.makespan_s < best_s:
            best, best_s, waited = chain.devices, chain.makespan_s, 0


def cooling_of(evaluations: int, units: int, number: int) -> Cooling:
    """Return the parameters of a chain: longer chains start hotter, and climbs have no heat."""
    hot = min(HOTTEST, WARMING * evaluations / units) if number >= 0 else NO_HEAT
    shares = Shares(SWAPS, BLOCKS, JOINS, CRITICAL[number % len(CRITICAL)])
    return Cooling(evaluations, hot, hot / COOLING, shares)


def part_of(cooling: Cooling, begin: int, evaluations: int) -> Cooling:
    """Return the parameters of a part of a chain, after a number of its evaluations."""
    heat = [
        cooling.hot * (cooling.cold / cooling.hot) ** (done / cooling.evaluations)
        for done in (begin, begin + evaluations)
    ]
    return Cooling(evaluations, heat[0], heat[1], cooling.shares)
