"""Lower bounds on the largest load of any placement, and units that good placements keep together.

A limit is refuted if no placement has all loads within it. The bound is the largest limit that a
refutation was found for, by one of four methods; each contains those before it:

`CONTRACTION`: units that no link can part are one unit; then some unit fits nowhere, or sets of
units are too heavy, or too many, for the devices that they fit on
(`streamplace.sim.exact.contraction`).
`PARTS`: no device can hold one of the units with the most traffic, and what it takes with it
(`streamplace.sim.exact.min_cut`).
`PROBING`: what such a unit must take with it is joined to it.
`NODES`: a branch and bound on the units that remain ends (`branch_and_bound`).

All effort is counted, never timed, so that equal problems have equal bounds.
"""

from collections.abc import Callable
from functools import cached_property
from math import inf, sqrt
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.disjoint_sets import find, number_roots, unite
from streamplace.sim.exact.branch_and_bound import REFUTED, dive, hardness, refute
from streamplace.sim.exact.contraction import (
    Cheapest,
    Units,
    cheapest,
    contract,
    forbid,
    join,
    merged,
    units_of,
)
from streamplace.sim.exact.min_cut import Arcs, Cuts, arcs_of, cuts_for, least_limit
from streamplace.sim.flow import NONE, Floats, Ints
from streamplace.sim.jit import bare, inner, kernel
from streamplace.sim.search.instance import Bools, Instance, has_room, own_load, unit_load

CONTRACTION, PARTS, PROBING, NODES = range(4)
BUSIEST = 10  # units whose parts are examined; 40 refuted no more on 51 link-bound problems
# Units that are counted on each device: lighter ones fit on most devices anyway. A guess.
HEAVIEST = 64
DEEPEST = 3  # largest k of the counting argument: with more per device, total work decides. A guess
SETS = 8  # sets of devices whose capacity is compared with the work that only they can do; a guess
# Steps grow, so that few of them reach a limit that is not refuted, however far it is.
FIRST_STEP, GROWTH = 1e-3, 4.0  # first step above a refuted limit, relative to it, and its growth
# Relative distance at which the bisection ends: half of the last digit of a printed gap.
CLOSE = 5e-4
ABOVE = 1e-9  # relative distance at which a limit counts as above another one: above rounding
# At the next such limit, a refutation holds exactly, where a bisection would only come close; each
# costs an examination, so that few are made.
JUMPS = 12  # steps from a refuted limit to the next one at which something changes
ROUNDS = 40  # limits tried at most, against endless small steps
MOST_CELLS = 200_000  # units x devices that are contracted: 3,000 x 64; a contraction takes 10 ms
JOINING = 16  # arcs visited that a message counts as when units are joined, about as long
CUT_WORK = 2_000_000  # arcs visited by `PARTS`; a million take 10 to 25 ms, and users wait for it
# Units are tried by their traffic, so that those that follow are needed even less.
FAILURES = 3  # units in a row that need not be with the busy one, until no other is tried
# Probing asks for a cut for each pair of a busy unit and another one.
WORK_PER_PAIR, MOST_WORK = 300, 10_000_000  # arcs visited by `PROBING`, the former per U^2
# Ten times as many nodes close a tenth of the gap, and cost 25 to 277 ms (docs/results/search.md).
NODE_WORK, NODE_WORK_AT_ONCE = 800_000, 100_000  # units x devices x nodes; 30 million take 1 s
MOST_NODES = 3_000  # nodes of each branch and bound; more were worth little on small graphs
FEWEST_NODES = 100  # below, a search is not worth its tables
# Load / reference to begin with where work gives no bound: a ratio needs one above 0.
SMALLEST = 1e-6


class Verdict(NamedTuple):
    """What is known of the placements within a limit."""

    refuted: float  # every limit up to this one is refuted; 0: none is
    group: Ints  # (U,) groups of units that all such placements keep together
    alone: float  # the largest load of one of these groups, alone on the device that suits it best


class Effort:
    """What several examinations may cost together, and the groups that they found.

    Parameters
    ----------
    arcs
        Arcs visited at most by `PARTS` and `PROBING`.
    nodes
        Units x devices x nodes of all branch and bounds.
    """

    def __init__(self, arcs: int = 0, nodes: int = 0) -> None:
        self.arcs, self.nodes = arcs, nodes
        self.visited = np.zeros(1, np.int64)
        self.groups: list[tuple[float, Ints]] = []

    def known(self, limit: float) -> tuple[float, Ints | None]:
        """Return the smallest limit from this one for which groups are known, and the groups."""
        return min(
            (each for each in self.groups if each[0] >= limit),
            default=(inf, None),
            key=itemgetter(0),
        )


class LoadBounds:
    """Lower bounds on the largest load of any placement of an instance, relative to its reference.

    Parameters
    ----------
    identical
        (D,) see `streamplace.sim.exact.dive`.
    total
        Such a bound from the CPU work of all units together.
    """

    def __init__(self, instance: Instance, identical: Ints, total: float) -> None:
        self.instance, self.identical, self._total = instance, identical, total
        self._cells = len(instance.work) * len(instance.capacity)

    @cached_property
    def quick(self) -> float:
        """The bound by `CONTRACTION`; of single units and their total if there are too many."""
        order = np.argsort(-self.instance.capacity, kind="stable").astype(np.int32)
        least = max(self._total, largest_alone(self.instance, order))
        # Each of many limits would take more than 10 ms.
        if self._cells > MOST_CELLS:
            return least
        return self._raised(least, CONTRACTION, Effort())

    @cached_property
    def full(self) -> float:
        """The bound by all methods, with an effort that depends on the instance only."""
        least = self.quick
        if self._cells > MOST_CELLS:
            return least
        least = self._raised(least, PARTS, Effort(CUT_WORK))
        effort = self._effort(NODE_WORK)
        return self._raised(self._raised(least, PROBING, effort), NODES, effort)

    @property
    def is_loose(self) -> bool:
        """Whether `full` may be far below what `PARTS` proves where all of the network counts.

        That is so if the instance is too large, or if the proofs leave out uplinks, or all but the
        largest stream of a message.
        """
        partial = len(self.instance.up) > 0 or self.instance.multicast != NONE
        return self.counts_links and (partial or self._cells > MOST_CELLS)

    @property
    def counts_links(self) -> bool:
        """Whether streams between devices load links in the instance."""
        instance = self.instance
        network = bool(instance.gap_s.any() or instance.seconds_per_bit.any())
        return network and len(instance.capacity) > 1 and bool(instance.tuples.any())

    def examined(self, limit: float, method: int, effort: Effort) -> Verdict:
        """Examine the placements within a limit by a method."""
        return self._examined(self.instance, self._units, limit, method, effort)

    def together(self, limit: float, *, thorough: bool) -> Verdict:
        """Return what is known of the placements within a limit, with little or much effort."""
        if self._cells > MOST_CELLS:
            alone = np.arange(len(self.instance.work), dtype=np.int32)
            return Verdict(limit if limit < self.quick else 0.0, alone, self.quick)
        return self.examined(limit, PROBING if thorough else CONTRACTION, self._effort(0))

    @cached_property
    def _units(self) -> Units:
        return units_of(self.instance)

    def _effort(self, nodes: int) -> Effort:
        return Effort(min(MOST_WORK, WORK_PER_PAIR * len(self.instance.work) ** 2), nodes)

    def _raised(self, least: float, method: int, effort: Effort) -> float:
        nothing = Verdict(0.0, np.arange(len(self.instance.work), dtype=np.int32), 0.0)

        def examined(limit: float) -> Verdict:
            is_spent = method in (PARTS, PROBING) and effort.visited[0] > effort.arcs
            return nothing if is_spent else self.examined(limit, method, effort)

        return raised(least, examined)

    def _examined(
        self, instance: Instance, units: Units, limit: float, method: int, effort: Effort
    ) -> Verdict:
        devices = len(instance.capacity)
        sends = receives = devices - 1.0
        if instance.nic or instance.egress:
            sends, receives = 1.0, 1.0 if instance.nic else inf
        kinds, (known, group) = cheapest(instance), effort.known(limit)
        if group is None:
            group = np.arange(len(instance.work), dtype=np.int32)
        effort.visited[0] += units.load.size + JOINING * len(units.to)
        of_units = min(method, PROBING) if known == inf or method < NODES else CONTRACTION
        found = _examine(
            instance,
            kinds,
            units,
            group,
            limit,
            (sends, receives),
            of_units,
            effort.visited,
            effort.arcs,
        )
        verdict = Verdict(min(found[0], known), found[1], found[2])
        if verdict.refuted:
            return verdict
        if method == PROBING:
            effort.groups.append((limit, verdict.group))
        elif method == NODES and self._ended(instance, verdict.group, limit, effort):
            return verdict._replace(refuted=limit)
        return verdict

    def _ended(self, instance: Instance, group: Ints, limit: float, effort: Effort) -> bool:
        """Return whether a branch and bound refutes a limit."""
        joined = merged(instance, group)
        cells = len(joined.work) * len(joined.capacity)
        nodes = min(MOST_NODES, NODE_WORK_AT_ONCE // cells, effort.nodes // cells)
        if nodes < FEWEST_NODES:
            return False
        effort.nodes -= nodes * cells
        search = dive(joined, self.identical, limit, hardness(joined))
        return refute(joined, search, limit, nodes) == REFUTED


@kernel
def largest_alone(instance: Instance, order: Ints) -> float:
    """Return the largest load of a unit that is alone on the device that suits it best.

    Parameters
    ----------
    order
        (D,) devices, with most capacity first, on which most units need not be compared further.
    """
    largest, used = 0.0, np.zeros(instance.room.shape[1])
    for u in range(instance.work.shape[0]):
        least = np.inf
        for d in order:
            if instance.allowed[instance.row_of[u], d] and has_room(instance, used, u, d):
                least = min(least, max(unit_load(instance, u, d), own_load(instance, u, d)))
                if least <= largest:
                    break
        largest = max(largest, least)
    return largest


def raised(least: float, examined: Callable[[float], Verdict]) -> float:
    """Return a lower bound on loads that is at least `least`, another one.

    Parameters
    ----------
    examined
        Returns what is known of the placements within a limit.
    """
    low, high, step, jumps = least or SMALLEST, inf, FIRST_STEP, 0
    for _ in range(ROUNDS):
        if jumps < JUMPS and (jumps == 0 or high <= low * (1.0 + CLOSE)):
            limit, jumps = low * (1.0 + ABOVE), jumps + 1
        elif high <= low * (1.0 + CLOSE):
            break
        elif high == inf:
            limit, step = low * (1.0 + step), step * GROWTH
        else:
            limit = sqrt(low * high)
        verdict = examined(limit)
        if verdict.refuted:
            least = low = max(limit, verdict.refuted)
            jumps = jumps if verdict.refuted > limit else JUMPS
            continue
        if limit <= low * (1.0 + ABOVE):
            break
        high = limit
        least = max(least, min(limit, verdict.alone))  # groups hold within smaller limits, too
        low = max(low, least)
    return least


@kernel
def _examine(
    instance: Instance,
    cheap: Cheapest,
    units: Units,
    group: Ints,
    limit: float,
    carried: tuple[float, float],
    method: int,
    work: NDArray[np.int64],
    most: int,
) -> tuple[float, Ints, float]:
    """Return the fields of `Verdict`, from known groups; see `LoadBounds.examined`."""
    (sends, receives), until, shared = carried, np.inf, instance.multicast != NONE
    units = join(units, group, group.max() + 1, shared)
    forbid(instance, units, group)
    while True:
        units, group, parted = contract(instance, cheap, units, group, limit)
        until = min(until, parted)
        least, alone = _least_loads(units)
        lowest = alone if alone > limit else _too_full(instance, units, least, limit)
        if lowest > limit:
            return min(until, lowest), group, alone
        # Without messages between devices, cuts prove nothing further.
        if method == CONTRACTION or instance.capacity.shape[0] == 1 or units.to.shape[0] == 0:
            return 0.0, group, alone
        arcs = arcs_of(cheap, units, shared)
        cuts = cuts_for(least.shape[0], arcs.head.shape[0])
        root = np.arange(least.shape[0]).astype(np.int32)
        traffic = _traffic(arcs)
        # The heaviest are refuted most easily: they take most with them.
        for v in np.argsort(-traffic)[:BUSIEST]:
            if work[0] > most or traffic[v] <= limit * CLOSE:
                break
            lowest = least_limit(arcs, least, limit, sends, receives, v, -1, cuts, work)
            if lowest > limit:
                return min(until, lowest), group, alone
            if method == PARTS:
                continue
            parted = _probe(arcs, least, limit, carried, v, cuts, root, work, most)
            until = min(until, parted)
        left = number_roots(root)
        # Nothing has been joined, so that another turn would find the same.
        if left == root.shape[0]:
            return 0.0, group, alone
        units = join(units, root, left, shared)
        group = root[group]
        forbid(instance, units, group)


@inner
def _probe(
    arcs: Arcs,
    least: Floats,
    limit: float,
    carried: tuple[float, float],
    v: int,
    cuts: Cuts,
    root: Ints,
    work: NDArray[np.int64],
    most: int,
) -> float:
    """Unite the trees of v and of units that have to be with it, those with most traffic first.

    Return the smallest limit within which one of them may be apart.
    """
    until, failed = np.inf, 0
    possible = cuts.inside.copy()  # a part without j shows that j need not be there
    first, end = arcs.first[v], arcs.first[v + 1]
    for i in np.argsort(-(arcs.sent[first:end] + arcs.received[first:end])) + first:
        j = arcs.head[i]
        if not possible[j] or find(root, j) == find(root, v):
            continue
        if work[0] > most or failed == FAILURES:
            break
        possible[j] = False  # it is tried once
        lowest = least_limit(arcs, least, limit, carried[0], carried[1], v, j, cuts, work)
        if lowest > limit:
            until = min(until, lowest)
            unite(root, v, j)
            failed = 0
        else:
            possible &= cuts.inside
            failed += 1
    return until


@inner
def _least_loads(units: Units) -> tuple[Floats, float]:
    """Return the least CPU load of each unit, (U,), and the largest load that one has alone.

    Both are inf if the unit may run nowhere.
    """
    least, largest = np.full(units.load.shape[0], np.inf), 0.0
    for u in range(least.shape[0]):
        alone = np.inf
        for d in range(units.load.shape[1]):
            least[u] = min(least[u], units.load[u, d])
            alone = min(alone, max(units.load[u, d], units.own[u, d]))
        largest = max(largest, alone)
    return least, largest


@inner
def _traffic(arcs: Arcs) -> Floats:
    """Return what the messages of each unit load devices and links with, (U,)."""
    traffic = np.zeros(arcs.first.shape[0] - 1)
    for u in range(traffic.shape[0]):
        for i in range(arcs.first[u], arcs.first[u + 1]):
            traffic[u] += arcs.sent[i] + arcs.received[i] + arcs.cpu[i]
    return traffic


@inner
def _too_full(instance: Instance, units: Units, least: Floats, limit: float) -> float:
    """Return a limit, above the given one, that CPU loads refute; at most the given one if none."""
    heaviest = np.argsort(-least)
    crowded = _crowded(least, heaviest, instance.capacity.shape[0])
    if crowded > limit:
        return crowded
    lowest = _too_many(units, heaviest, limit)
    return lowest if lowest > limit else _too_heavy(instance, units, limit)


@bare
def _crowded(least: Floats, heaviest: NDArray[np.signedinteger], devices: int) -> float:
    """Return the load of the least k + 1 of the k * D + 1 heaviest units, the largest for any k."""
    most = 0.0
    for k in range(DEEPEST + 1):
        if k * devices < least.shape[0]:
            load = 0.0
            for i in range(k * devices - k, k * devices + 1):
                load += least[heaviest[i]]
            most = max(most, load)
    return most


@inner
def _too_many(units: Units, heaviest: NDArray[np.signedinteger], limit: float) -> float:
    """Return a limit within which devices cannot take as many of the heaviest units as there are.

    It is the smallest at which one of them takes another one; 0 if the devices can.
    """
    devices, top = units.load.shape[1], min(HEAVIEST, units.load.shape[0])
    loads = np.empty((devices, top))
    held = np.zeros(devices, np.int32)  # units that may run on each device
    for m in range(top):
        taken, until = 0, np.inf
        for d in range(devices):
            load = units.load[heaviest[m], d]
            if load < np.inf:
                i = held[d]
                while i > 0 and loads[d, i - 1] > load:
                    loads[d, i] = loads[d, i - 1]
                    i -= 1
                loads[d, i] = load
                held[d] += 1
            total = 0.0
            for i in range(held[d]):
                total += loads[d, i]
                if total > limit:
                    until = min(until, total)
                    break
                taken += 1
        if taken <= m:
            return until
    return 0.0


@inner
def _too_heavy(instance: Instance, units: Units, limit: float) -> float:
    """Return a limit within which sets of devices have too little capacity; 0 if none has.

    A set consists of the devices on which some unit fits, or of all, and has to do the work of all
    units that fit nowhere else.
    """
    count, devices = units.load.shape
    fits = np.ones((count + 1, devices), np.bool_)  # the last row stands for all devices
    until = np.inf
    for u in range(count):
        for d in range(devices):
            load = max(units.load[u, d], units.own[u, d])
            fits[u, d] = load <= limit
            if limit < load < np.inf:
                until = min(until, load)
    tried, sets = np.empty(SETS, np.int32), 0
    for u in range(count, -1, -1):
        is_known = False
        for k in range(sets):
            is_known |= bool(np.all(fits[tried[k]] == fits[u]))
        if is_known:
            continue
        if sets == SETS:
            break
        tried[sets] = u
        sets += 1
        lowest = _least_in(instance, units, fits, u)
        if lowest > limit:
            return min(until, lowest)
    return 0.0


@inner
def _least_in(instance: Instance, units: Units, fits: Bools, row: int) -> float:
    """Return the least mean load of the devices of a row of `fits`, from units that fit in it."""
    work, room = 0.0, 0.0
    for d in range(fits.shape[1]):
        if fits[row, d]:
            room += instance.capacity[d]
    for u in range(units.load.shape[0]):
        least, belongs = np.inf, True
        for d in range(fits.shape[1]):
            if fits[u, d]:
                belongs &= fits[row, d]
                least = min(least, units.load[u, d] * instance.capacity[d])
        if belongs:
            work += least
    return work / room
