"""The search for the lowest largest utilisation: a pool of placements that restarts,
recombination and polishing improve.

Each round makes one placement. A restart coarsens the graph in random order, anneals the groups
from random devices, and refines them level by level. A recombination coarsens the graph inside the
parts on which two placements of the pool agree, and begins with the first of them. Polishing
anneals single units at a low temperature, with a power of utilisations so high that little but the
largest ones counts. Streams that no better placement cuts are joined first, whatever their work.

The search also decides how many devices to use: where links bind, more devices than necessary only
add traffic. Devices have one order, and a placement uses the first k of them, with k on a ladder.
"""

from collections.abc import Sequence
from math import ceil, inf
from typing import NamedTuple

import numpy as np

from sim import work_clock
from sim.search import Instance, Schedule, least_work, on_devices, search_state
from streamplace.errors import PlacementError
from streamplace.placers.repair import feasible
from streamplace.placers.search.annealing import (
    ALL_OVER,
    COARSEST,
    NEARBY,
    Annealer,
    Budget,
    levels_of,
    moved_to_allowed,
)
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import compiled
from streamplace.util.arrays import Ints

MEMBERS = 8  # placements in the pool
SHARES = 0.2, 0.1, 0.3, 0.5  # largest work of a group in turn, as a share of the mean per device
FEWEST = 30  # groups at which coarsening stops, if `COARSEST` per device are fewer
RESTARTS = 0.5  # share of all changes for restarts; the rest improves what is known
POLISH = 0.5, 0.5  # share of polishing among other rounds, and the same near the CPU bound
NEAR = 1.05  # factor on the CPU bound within which balance matters more than what is cut
SOFT, HARD, SHARP = 8, 16, (32, 128)  # powers at the coarsest level, below it, and of polishing
COARSE, SHORT = 300, 60  # changes per group at the coarsest level; in the first restart
COOL = 50  # changes per group that follow at `FINE` temperatures
EACH = 10, 5  # changes per group at each level below; in the first restart
AGAIN = 150  # changes per group at the coarsest level of a recombination
LONG, LEAD = 60, 30  # changes per unit of polishing, and of a new best placement
HOT, COLD = 0.1, 1e-3  # temperatures at the coarsest level of a restart
FINE = 2e-3, 1e-5  # temperatures below it
LEVELS = 2  # units and groups of all levels, per unit, to estimate the changes of a round
BETTER = 1.0 + 1e-9  # smallest factor on the throughput that counts as an improvement
NOTABLE = 1.0 + 1e-4  # smallest one after which a new best placement is polished
UP = 0.25  # share of recombinations on the next larger number of devices


class Member(NamedTuple):
    """A placement on the first devices of the order."""

    reached: float  # relative throughput, above 1 if there is headroom
    count: int  # number of devices that it may use
    on: Ints  # (U,) positions of the units' devices in the order


def device_order(problem: Problem) -> Ints:
    """Return the devices in the order in which the search adds them, (D,).

    The only device of some unit comes first, then groups with the fastest devices, faster devices
    of a group, and those with faster links.
    """
    instance = compiled(problem).instance
    count, group = len(instance.capacity), instance.group_of
    masks = instance.allowed[np.unique(instance.row_of)]
    needed = masks[masks.sum(axis=1) == 1].any(axis=0)
    links = instance.seconds_per_bit[: 2 * count if instance.nic else count * count]
    fastest = np.zeros(int(group.max()) + 1)
    np.maximum.at(fastest, group, instance.capacity)
    alone = len(fastest) == count  # no groups: devices are numbered
    slow = links.reshape(-1, count).sum(axis=0)
    keys = (slow, -instance.capacity, np.zeros(count) if alone else group, -fastest[group], ~needed)
    order: Ints = np.lexsort(keys).astype(np.int32)
    return order


def ladder(count: int) -> list[int]:
    """Return numbers of devices to try, from 1 to `count`, about a quarter to a half apart."""
    rungs = sorted({step << power for step in (2, 3) for power in range(count.bit_length())} | {1})
    return [*(rung for rung in rungs if rung < count), count]


class Pool:
    """The placements of a search, and what it knows of numbers of devices.

    Rounds do not depend on the limit of a search: with the same seed, a longer search repeats a
    shorter one and goes on.

    Parameters
    ----------
    problem
        A problem under ``bottleneck``.

    Attributes
    ----------
    enough
        Whether a placement has been found that no other one can beat.
    """

    def __init__(self, problem: Problem, rng: np.random.Generator) -> None:
        self.problem, self.rng = problem, rng
        self.annealer = Annealer(problem, rng)
        self.order = device_order(problem)
        self.members: list[Member] = []
        self.enough = False
        self._instances: dict[int, Instance] = {}
        self._bounds: dict[int, float] = {}
        self._leads = False  # whether the best placement is new and not yet polished
        self._changes = {True: 0, False: 0}  # tried by restarts, and by other rounds
        self._restarts = 0
        self._size: int | None = None  # number of devices of the next round, if it is a restart
        self._reached: dict[int, float] = {}  # best result of a restart by number of devices
        sizes = [count for count in ladder(len(self.order)) if count > 1]
        self._sizes = sizes
        self._sweep = sizes[::-1][::2] if len(sizes) > 4 else sizes[::-1]  # noqa: PLR2004

    def add(self, placement: Placement) -> None:
        """Add a feasible placement."""
        self._value(self._places(placement), len(self.order))

    @property
    def placements(self) -> list[Placement]:
        """The best placements found, the best first."""
        return [Placement(self.problem, self._row(one.on)) for one in self.members]

    def search(self, budget: Budget) -> None:
        """Make rounds until a placement is good enough or the next round exceeds the budget.

        The first round is always made.
        """
        if not self._restarts:
            self._on_one_device()
        units = len(self._instance(1).work)
        while not self.enough and len(self.order) > 1:
            if self._size is None and self._is_restart():
                self._size = self._chosen_size()
            groups = min(units, max(FEWEST, COARSEST * (self._size or self._best.count)))
            changes = (COARSE + COOL) * groups + EACH[0] * LEVELS * units
            if self._restarts and max(changes, LONG * units) > budget.left():
                return
            begun, self._done, size = work_clock.now(), 0, self._size
            self._round()
            self._changes[size is not None] += self._done
            budget.charge(self._done, work_clock.now() - begun)

    def _round(self) -> None:
        if self._size is not None:
            size, self._size = self._size, None
            self._restart(size)
        elif self._leads:
            self._leads = False
            self._polish(self._best, LEAD)
        elif self.rng.random() < self._share_of_polish():
            self._polish(self._drawn(3.0), LONG)
        else:
            self._recombine(self._drawn(1.5), self._drawn(1.0))

    # what is known

    @property
    def _best(self) -> Member:
        return self.members[0]

    def _instance(self, count: int) -> Instance:
        """Return the units on the first devices of the order."""
        if count not in self._instances:
            self._instances[count] = on_devices(self.annealer.instance, self.order[:count])
        return self._instances[count]

    def _value(self, on: Ints, count: int) -> None:
        top = float(search_state(self._instance(count), on).load.max())
        reached = 1.0 / (top * self.annealer.instance.reference) if top else inf
        self._keep(reached, on, count)

    def _keep(self, reached: float, on: Ints, count: int) -> None:
        """Add a placement to the pool unless it is there."""
        if self.members and reached > self._best.reached * NOTABLE:
            self._leads = True
        if any(one.reached == reached and (one.on == on).all() for one in self.members):
            return
        self.members.append(Member(reached, count, on))
        self.members.sort(key=lambda one: -one.reached)
        del self.members[MEMBERS:]

    def _possible(self, count: int) -> float:
        """Return an upper bound on the relative throughput on the first devices, by CPU work."""
        if count not in self._bounds:
            self._bounds[count] = self._bound(count)
        return self._bounds[count]

    def _bound(self, count: int) -> float:
        instance = self._instance(count)
        if not instance.allowed[instance.row_of].any(axis=1).all():
            return 0.0
        if (instance.needs.sum(axis=0) > instance.room.sum(axis=0)).any():
            return 0.0
        work = float(least_work(instance, np.arange(count)).sum()) * instance.reference
        return float(instance.capacity.sum()) / work if work else inf

    def _drawn(self, towards: float) -> Member:
        """Draw a member; higher exponents prefer better ones."""
        return self.members[int(len(self.members) * self.rng.random() ** towards)]

    # decisions

    def _is_restart(self) -> bool:
        if not self._restarts or self._sweep:
            return True
        return not self._leads and self._changes[True] < RESTARTS * sum(self._changes.values())

    def _share_of_polish(self) -> float:
        near = self._best.reached * NEAR > self._possible(len(self.order))
        return POLISH[1] if near else POLISH[0]

    def _chosen_size(self) -> int:
        """Return the number of devices of the next restart."""
        if not self._restarts:
            return len(self.order)
        while self._sweep:
            count = self._sweep.pop(0)
            if self._promising(count):
                return count
        ranked = sorted(self._reached, key=lambda count: -self._reached[count])
        good = ranked[min(len(ranked) - 1, int(self.rng.exponential(0.7)))]
        at = self._sizes.index(good) + int(self.rng.integers(-1, 2))
        count = self._sizes[min(max(at, 0), len(self._sizes) - 1)]
        return count if self._promising(count) else good

    def _promising(self, count: int) -> bool:
        return not self.members or self._possible(count) > self._best.reached * BETTER

    # rounds

    def _on_one_device(self) -> None:
        instance = self._instance(1)
        on = np.zeros(len(instance.work), np.int32)
        if self.problem.feasibility.violation(self._row(on)) is None:
            self._value(on, 1)

    def _restart(self, count: int) -> None:
        instance, first = self._instance(count), bool(self._sweep)
        share = SHARES[self._restarts % len(SHARES)]
        self._restarts += 1
        levels = self._levels(instance, share, None, self.rng.random() ** 2 if self._reached else 0.5)
        groups = len(levels.instances[-1].work)
        on = self.rng.integers(0, count, groups).astype(np.int32)
        plan = Schedule((SHORT if first else COARSE) * groups, HOT, COLD, *NEARBY, SOFT)
        on = self._chain(levels.instances[-1], moved_to_allowed(levels.instances[-1], on), plan)
        on = self._chain(levels.instances[-1], on, Schedule(COOL * groups, *FINE, *NEARBY, HARD))
        reached = self._refined(levels, on, count, EACH[first])
        self._reached[count] = max(reached, self._reached.get(count, 0.0))

    def _recombine(self, one: Member, other: Member) -> None:
        count = max(2, one.count)
        larger = [size for size in self._sizes if size > count]
        if larger and self.rng.random() < UP:
            count = larger[0]
        share = SHARES[int(self.rng.integers(len(SHARES)))]
        inside = one.on * np.int32(len(self.order)) + other.on
        levels = self._levels(self._instance(count), share, inside)
        groups = len(levels.instances[-1].work)
        hot = COLD * 10.0 ** self.rng.uniform(0.0, 2.0)
        power = SOFT if self.rng.random() < 0.5 else HARD  # noqa: PLR2004
        plan = Schedule(AGAIN * groups, hot, COLD / 2, *NEARBY, power)
        on = self._chain(levels.instances[-1], levels.up(one.on), plan)
        self._refined(levels, on, count, EACH[0])

    def _polish(self, one: Member, each: int) -> None:
        count = max(2, one.count)
        if self.rng.random() < 0.3 and self._possible(len(self.order)) > self._possible(count):  # noqa: PLR2004
            count = len(self.order)
        hot = 5e-4 if each == LEAD else 10.0 ** self.rng.uniform(-4.0, -2.7)
        power = SHARP[int(self.rng.integers(len(SHARP)))]
        instance = self._instance(count)
        plan = Schedule(each * len(one.on), hot, 1e-6, 0.4, 0.3, power)
        on = self._chain(instance, one.on, plan)
        self._keep(self._last, on, count)

    def _levels(self, instance: Instance, share: float, inside: Ints | None, aim: float = 0.0):
        count = len(instance.capacity)
        apart = inf
        if self.members:
            load = (1.0 - 1e-9) / (self._best.reached * instance.reference)
            apart = load * min(1.0, self.annealer.least / load) ** aim
        return levels_of(instance, share, inside, max(COARSEST, ceil(FEWEST / count)), self.rng, apart)

    def _refined(self, levels, on: Ints, count: int, each: int) -> float:
        """Refine a placement of the largest groups on all levels and keep it."""
        for instance, group in zip(levels.instances[-2::-1], levels.groups[::-1], strict=True):
            plan = Schedule(each * len(group), *FINE, *NEARBY, HARD)
            on = self._chain(instance, on[group], plan)
        if self.problem.feasibility.violation(self._row(on)) is not None:
            try:
                repaired = feasible(self.problem, self._row(on))
            except PlacementError:
                return 0.0
            count = len(self.order)
            on = self._places(repaired)
            on = self._chain(self._instance(count), on, Schedule(each * len(on), *FINE, *NEARBY, HARD))
        self._keep(self._last, on, count)
        return self._last

    def _chain(self, instance: Instance, on: Ints, plan: Schedule) -> Ints:
        chain = self.annealer.chain(instance, on, plan)
        self._done += chain.changes
        self._last = chain.reached
        self.enough = self.enough or chain.enough
        return chain.on

    def _places(self, placement: Placement) -> Ints:
        """Return the positions of the units' devices in the order, (U,)."""
        place_of = np.argsort(self.order).astype(np.int32)
        places: Ints = place_of[placement.devices[self.problem.feasibility.first_of]]
        return places

    def _row(self, on: Ints) -> Ints:
        return self.order[on][self.problem.feasibility.unit_of]
