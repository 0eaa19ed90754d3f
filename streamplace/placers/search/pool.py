"""The search for the lowest largest utilisation, with a pool of placements.

Each round makes one placement. A restart coarsens the graph in random order, anneals the groups
from random devices, and refines them level by level. A recombination coarsens the graph inside the
parts on which two placements of the pool agree, and begins with the first of them. Polishing
anneals single units at a low temperature, with a power of utilisations so high that little but the
largest ones counts. Streams that no better placement cuts are joined first, whatever their work;
restarts aim below the best load and join lighter ones, too.

The search also decides how many devices to use: where links bind, more devices than necessary only
add traffic. Devices have one order, and a placement uses the first k of them, with k on a ladder.
"""

from math import ceil, inf
from typing import NamedTuple

import numpy as np

from streamplace.errors import PlacementError
from streamplace.placers.budget import Budget
from streamplace.placers.ladder import ladder
from streamplace.placers.repair import feasible
from streamplace.placers.search.annealing import (
    COARSEST,
    NEARBY,
    Annealer,
    Levels,
    levels_of,
    moved_to_allowed,
)
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import compiled
from streamplace.scoring.registry import throughput_evaluator
from streamplace.sim import work_clock
from streamplace.sim.search import Instance, Schedule, least_work, on_devices, search_state
from streamplace.util.arrays import Ints
from streamplace.util.running_search import RATE, report

# Down to `NEXT_BEST`, all numbers were chosen together on 40 problems of 100 to 3,000 operators on
# 2 to 64 devices, most with links that bind, by the geometric mean after 0.1 and 1 s; none was
# varied alone unless its line says so.
MEMBERS = 8  # placements in the pool
# With three tenths for restarts, 4 runs reached .994 of the throughput (docs/results/search.md).
RESTARTS, POLISH = 0.5, 0.5  # share of restarts in all changes, and of polishing in other rounds
# Which groups are too large depends on the graph, so that restarts take turns.
SHARES = 0.2, 0.1, 0.3, 0.5  # largest work of a group in turn, as a share of the mean per device
# On few devices, eight groups each would leave no choice.
FEWEST = 30  # groups at which coarsening stops, if `COARSEST` per device are fewer
# Low powers see more of the other loads, which a coarse placement has yet to balance; high ones see
# little but the largest load, which alone decides in the end.
SOFT, HARD, SHARP = 8, 16, (32, 128)  # powers: at the coarsest level, below it, and of polishing
# Hot, so that a restart forgets its random start and leaves the neighbourhood of what is known.
HOT, COLD = 0.1, 1e-3  # temperatures at the coarsest level of a restart
# Cold, so that what the groups have decided stays.
FINE = 2e-3, 1e-5  # temperatures below it
# A first look only compares numbers of devices, and there are many of them.
COARSE, SHORT, COOL = 300, 60, 50  # changes per group: hot; the same in a first look; then `FINE`
# Few, since levels below have many more groups and only balance what is decided.
EACH, EACH_SHORT = 10, 5  # changes per group of each level below; the same in a first look
# Half of a restart's, since it begins with a good placement.
RECOMBINED = 150  # changes per group at the coarsest level of a recombination
# What was found on few devices is a good start on more of them; most recombinations stay, since
# more devices only add traffic where links bind.
TO_LARGER = 0.25  # share of recombinations on the next larger number of devices
# A new best placement has just been annealed, and needs less.
POLISHED, POLISHED_BEST = 60, 30  # changes per unit of polishing, and of a new best placement
SWAPS_JOINS = 0.4, 0.3  # shares of both in polishing, which balances more than it joins
# Where links do not bind, the devices that are left out are free capacity.
ON_ALL_DEVICES = 0.3  # share of polishing that may use all devices
LEVELS = 2  # units and groups of all levels, per unit, if each has half as many: changes of a round
# Until a good placement is known, the load of the best one joins too little.
FIRST_AIM = 0.5  # of the first restart, when only trivial placements are known; see `_apart`
# The ranking of numbers rests on single restarts, and so is uncertain: not always the first one.
NEXT_BEST = 0.7  # mean rank of the number of devices whose neighbourhood a restart tries
# Smallest factor on the throughput that counts as an improvement; less is rounding.
BETTER = 1.0 + 1e-9
# Smallest one after which a new best placement is polished; less is not worth a round.
NOTABLE = 1.0 + 1e-4


class Member(NamedTuple):
    """A placement on the first devices of the order."""

    reached: float  # relative throughput, above 1 if there is headroom
    size: int  # number of devices that it may use
    on: Ints  # (U,) positions of the units' devices in the order


class Pool:
    """The placements of a search, and what it knows of numbers of devices.

    Rounds do not depend on the limit of a search: with the same seed, a longer search repeats a
    shorter one and goes on.

    Parameters
    ----------
    problem
        A problem under ``bottleneck``.
    rng
        Draws all rounds.
    reports
        Whether to report source rates, which say little where something else is the score.

    Attributes
    ----------
    enough
        Whether a placement has been found that no other one can beat.
    """

    def __init__(
        self, problem: Problem, rng: np.random.Generator, *, reports: bool = False
    ) -> None:
        self.problem, self.enough = problem, False
        self._rng, self._annealer, self._reports = rng, Annealer(problem, rng), reports
        self._order = device_order(problem)
        self._place_of = np.argsort(self._order).astype(np.int32)
        self._sizes = ladder(len(self._order))[1:] or [1]  # one device is tried apart
        self._members: list[Member] = []
        self._instances: dict[int, Instance] = {}  # by number of devices
        self._bounds: dict[int, float] = {}
        self._together: Ints | None = None  # (U,) groups that no better placement separates
        self._leads = False  # whether the best placement is new and not yet polished
        self._changes = {True: 0, False: 0}  # tried by restarts, and by other rounds
        self._done = 0  # changes of the present round
        self._restarts = 0
        self._reached: dict[int, float] = {}  # best result of a restart by number of devices
        self._unseen = self._sizes[::-1][::2]  # sizes of the first restarts, in turn
        self._size: int | None = None  # number of devices of the next round, if it is a restart

    @property
    def placements(self) -> list[Placement]:
        """The best placements found, the best first."""
        return [Placement(self.problem, self._row(one.on)) for one in self._members]

    def add(self, placement: Placement) -> None:
        """Add a feasible placement."""
        self._value(self._places(placement), len(self._order))

    def tighten(self) -> None:
        """Use the best bound on loads, and what it says of units that belong together."""
        scored, best = throughput_evaluator(self.problem), self._best.reached
        self._annealer.least = max(self._annealer.least, scored.load_bounds.full)
        self._together = scored.together(best * BETTER * self.problem.source_rate, thorough=True)
        near = self._load(best) <= self._annealer.least * BETTER
        self.enough = self.enough or near or self._together is None

    def search(self, budget: Budget) -> None:
        """Make rounds until a placement is good enough or the next round exceeds the budget.

        Without a good enough placement, the first round is always made.
        """
        if not self._restarts:
            self._try_one_device()
        units = len(self._instance(1).work)
        while not self.enough and len(self._order) > 1:
            if self._size is None and self._restarts_next():
                self._size = self._chosen_size()
            # A round cannot be interrupted, so that one which does not fit into the budget is not
            # begun.
            groups = min(units, max(FEWEST, COARSEST * (self._size or self._best.size)))
            changes = (COARSE + COOL) * groups + EACH * LEVELS * units
            if self._restarts and max(changes, POLISHED * units) > budget.left():
                return
            begun, self._done, restarts = work_clock.now(), 0, self._size is not None
            self._round()
            self._changes[restarts] += self._done
            budget.charge(self._done, work_clock.now() - begun)
            if self._reports:
                self._report()

    def _report(self) -> None:
        """Report the source rate that the best placement sustains, and a bound for all others."""
        offered, least = self.problem.source_rate, self._annealer.least
        most = offered / (least * self._annealer.instance.reference) if least else None
        report(RATE, offered * self._best.reached, most)

    def _round(self) -> None:
        if self._size is not None:
            size, self._size = self._size, None
            self._restart(size)
        elif self._leads:
            # Later rounds begin with the best placement, so that it is polished at once.
            self._leads = False
            # Colder than other rounds below the coarsest level: the placement is to be improved,
            # not left.
            self._polish(self._best, POLISHED_BEST, FINE[0] / 4)
        elif self._rng.random() < POLISH:
            # Better members more often, since polishing changes little; the ends of the range are
            # guesses.
            self._polish(self._drawn(3.0), POLISHED, 10.0 ** self._rng.uniform(-4.0, -2.7))
        else:
            # The second one at random, as what it has in common with the first is what matters.
            self._recombine(self._drawn(1.5), self._drawn(1.0))

    # What is known.

    @property
    def _best(self) -> Member:
        return self._members[0]

    def _drawn(self, towards: float) -> Member:
        """Draw a member; higher exponents prefer better ones."""
        return self._members[int(len(self._members) * self._rng.random() ** towards)]

    def _instance(self, count: int) -> Instance:
        """Return the units on the first devices of the order."""
        if count not in self._instances:
            self._instances[count] = on_devices(self._annealer.instance, self._order[:count])
        return self._instances[count]

    def _value(self, on: Ints, count: int) -> None:
        """Score a placement and keep it."""
        top = float(search_state(self._instance(count), on).load.max())
        self._keep(1.0 / (top * self._annealer.instance.reference) if top else inf, on, count)

    def _keep(self, reached: float, on: Ints, count: int) -> None:
        """Add a placement to the pool unless it is there."""
        self.enough = self.enough or self._load(reached) <= self._annealer.least * BETTER
        if self._members and reached > self._best.reached * NOTABLE:
            self._leads = True
        # Equal members would crowd out others, and nothing can be recombined from them.
        if any(one.reached == reached and (one.on == on).all() for one in self._members):
            return
        self._members.append(Member(reached, count, on))
        self._members.sort(key=lambda one: -one.reached)
        del self._members[MEMBERS:]

    def _load(self, reached: float) -> float:
        """Return the largest load / reference at a relative throughput."""
        return 1.0 / (reached * self._annealer.instance.reference)

    def _possible(self, count: int) -> float:
        """Return an upper bound on the relative throughput on the first devices, by CPU work."""
        if count not in self._bounds:
            instance = self._instance(count)
            able = instance.allowed[instance.row_of].any(axis=1).all()
            fits = (instance.needs.sum(axis=0) <= instance.room.sum(axis=0)).all()
            work = float(least_work(instance, np.arange(count)).sum()) * instance.reference
            most = float(instance.capacity.sum()) / work if work else inf
            self._bounds[count] = most if able and fits else 0.0
        return self._bounds[count]

    def _row(self, on: Ints) -> Ints:
        row: Ints = self._order[on][self.problem.feasibility.unit_of]
        return row

    def _places(self, placement: Placement) -> Ints:
        """Return the positions of the units' devices in the order, (U,)."""
        places: Ints = self._place_of[placement.devices[self.problem.feasibility.first_of]]
        return places

    # What to do next.

    def _restarts_next(self) -> bool:
        # Every other round depends on the number of devices, so that these looks come first.
        if not self._restarts or self._unseen:
            return True
        return not self._leads and self._changes[True] < RESTARTS * sum(self._changes.values())

    def _chosen_size(self) -> int:
        """Return the number of devices of the next restart: near one that did well before."""
        if not self._restarts:
            return self._unseen.pop(0)
        # First looks, which are short, at every other number.
        while self._unseen:
            count = self._unseen.pop(0)
            if self._promises(count):
                return count
        ranked = sorted(self._reached, key=lambda count: -self._reached[count])
        good = ranked[min(len(ranked) - 1, int(self._rng.exponential(NEXT_BEST)))]
        at = self._sizes.index(good) + int(self._rng.integers(-1, 2))
        count = self._sizes[min(max(at, 0), len(self._sizes) - 1)]
        return count if self._promises(count) else good

    def _promises(self, count: int) -> bool:
        return self._possible(count) > self._best.reached * BETTER

    def _apart(self, aim: float) -> float:
        """Return the load / reference of the streams that a round may cut.

        With an aim of 0 it is that of the best placement, since better ones cut only lighter
        streams; with 1, the lower bound.
        """
        if not self._members:
            return inf
        load = self._load(self._best.reached) / BETTER
        return load * float(min(1.0, self._annealer.least / load) ** aim)

    # Rounds.

    def _try_one_device(self) -> None:
        on = np.zeros(len(self._instance(1).work), np.int32)
        if self.problem.feasibility.violation(self._row(on)) is None:
            self._value(on, 1)

    def _restart(self, count: int) -> None:
        """Place groups at random and anneal them; refine the result."""
        short = bool(self._unseen)  # a first look at a number of devices
        # Without aims below the best load, the largest load of a grid of 3,000 operators ended at
        # 2.28 instead of 1.88.
        aim = self._rng.random() ** 2 if self._restarts else FIRST_AIM
        share = SHARES[self._restarts % len(SHARES)]
        self._restarts += 1
        levels = self._levels(count, share, None, aim)
        coarsest = levels.instances[-1]
        groups = len(coarsest.work)
        drawn = self._rng.integers(0, count, groups).astype(np.int32)
        plan = Schedule((SHORT if short else COARSE) * groups, HOT, COLD, *NEARBY, SOFT)
        on, _ = self._annealed(coarsest, moved_to_allowed(coarsest, drawn), plan)
        plan = Schedule(COOL * groups, *FINE, *NEARBY, HARD)
        reached = self._refine(levels, coarsest, on, plan, EACH_SHORT if short else EACH)
        self._reached[count] = max(reached, self._reached.get(count, 0.0))

    def _recombine(self, one: Member, other: Member) -> None:
        """Anneal one placement, moving the parts that it has in common with another one."""
        at = min(size for size in self._sizes if size >= min(max(2, one.size), len(self._order)))
        larger = [size for size in self._sizes if size > at]
        count = larger[0] if larger and self._rng.random() < TO_LARGER else at
        share = SHARES[int(self._rng.integers(len(SHARES)))]
        levels = self._levels(count, share, one.on * np.int32(len(self._order)) + other.on)
        coarsest = levels.instances[-1]
        # Drawn over two powers of ten, as the best temperature differs between problems.
        hot = COLD * 10.0 ** self._rng.uniform(0.0, 2.0)
        power = (SOFT, HARD)[int(self._rng.integers(2))]
        plan = Schedule(RECOMBINED * len(coarsest.work), hot, COLD / 2, *NEARBY, power)
        self._refine(levels, coarsest, levels.up(one.on), plan, EACH)

    def _polish(self, one: Member, each: int, hot: float) -> None:
        """Anneal single units, so that the largest loads fall."""
        count, all_of_them = min(max(2, one.size), len(self._order)), len(self._order)
        more = self._rng.random() < ON_ALL_DEVICES
        if more and self._possible(all_of_them) > self._possible(count):
            count = all_of_them
        power = SHARP[int(self._rng.integers(len(SHARP)))]
        plan = Schedule(each * len(one.on), hot, 1e-6, *SWAPS_JOINS, power)
        on, reached = self._annealed(self._instance(count), one.on, plan)
        self._keep(reached, on, count)

    def _levels(self, count: int, share: float, inside: Ints | None, aim: float = 0.0) -> Levels:
        few = max(COARSEST, ceil(FEWEST / count))
        return levels_of(
            self._instance(count), share, inside, few, self._rng, self._apart(aim), self._together
        )

    def _refine(
        self, levels: Levels, coarsest: Instance, on: Ints, plan: Schedule, each: int
    ) -> float:
        """Anneal the largest groups, then every level below; keep and value the placement."""
        count = len(coarsest.capacity)
        on, reached = self._annealed(coarsest, on, plan)
        for instance, group in zip(levels.instances[-2::-1], levels.groups[::-1], strict=True):
            on, reached = self._annealed(
                instance, on[group], Schedule(each * len(group), *FINE, *NEARBY, HARD)
            )
        # Devices of a restart are drawn by masks only, and moves do not mend what violates limits.
        # The repair may need devices that the round did not have.
        if self.problem.feasibility.violation(self._row(on)) is not None:
            try:
                on = self._places(feasible(self.problem, self._row(on)))
            except PlacementError:
                return 0.0
            count = len(self._order)
            plan = Schedule(each * len(on), *FINE, *NEARBY, HARD)
            on, reached = self._annealed(self._instance(count), on, plan)
        self._keep(reached, on, count)
        return reached

    def _annealed(self, instance: Instance, on: Ints, plan: Schedule) -> tuple[Ints, float]:
        """Return the best placement of a chain, and its relative throughput."""
        chain = self._annealer.chain(instance, on, plan)
        self._done += chain.changes
        return chain.on, chain.reached


def device_order(problem: Problem) -> Ints:
    """Return the devices in the order in which the search adds them, (D,).

    The only device of some unit comes first, then faster devices, and those with faster links.
    Where links depend on groups, the devices of a group follow one another.
    """
    instance = compiled(problem).instance
    count = len(instance.capacity)
    together = problem.cluster.network.depends_on_groups
    group = instance.group_of if together else np.zeros(count, np.int32)
    masks = instance.allowed[np.unique(instance.row_of)]
    needed = masks[masks.sum(axis=1) == 1].any(axis=0)
    links = instance.seconds_per_bit[: 2 * count if instance.nic else count * count]
    slow = links.reshape(-1, count).sum(axis=0)
    fastest = np.zeros(int(group.max()) + 1)
    np.maximum.at(fastest, group, instance.capacity)
    keys = slow, -instance.capacity, group, -fastest[group], ~needed
    order: Ints = np.lexsort(keys).astype(np.int32)
    return order
