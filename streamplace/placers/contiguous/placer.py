"""Contiguous splits as a placer, for pipelines such as the layers of a neural network."""

from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np

from streamplace.errors import Fault, UsageError
from streamplace.placers.base import THROUGHPUT, BasePlacer
from streamplace.placers.contiguous.costs import Classes, classes_of, costs_of
from streamplace.placers.contiguous.precedence import (
    Precedence,
    all_closed_sets,
    orders,
    precedence,
    prefixes,
)
from streamplace.placers.repair import feasible_ones
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import compiled
from streamplace.scoring.registry import qualities
from streamplace.sim.contiguous import Lattice, Split, split
from streamplace.sim.flow import NONE
from streamplace.util.arrays import Bools, Ints

IDEALS = 5_000  # closed sets up to which the split is the best of all; a guess, not tuned
# Pieces examined for all closed sets before orders must do; a guess, not tuned.
MOST_STEPS = 20_000_000
NO_LIMIT = 2**62  # of pieces: prefixes of an order are few
# Blocks of consecutive items that an order is split between; pieces grow with their square.
MOST_BLOCKS = 2_000
MOST_DEVICES = 1_000  # the fastest; a row of the programme for each. A guess
MOST_CELLS = 4_000_000  # closed sets x states of devices, which are kept in memory: 64 MB


@dataclass(frozen=True)
class Contiguous(BasePlacer):
    """Split the graph into contiguous pieces, one per device, by dynamic programming.

    The largest load of a device is minimised: its CPU work, with that of messages, and the load of
    its network interface, which is taken as a mean link of the device. Pieces follow one another:
    no stream leads from a later piece to an earlier one. Where the sets of operators that have all
    their predecessors (ideals) are few, the split is the best of all (Tarnawski et al. 2020), also
    of those that obey limits, pins and `exlocate`. Under `apart_groups`, and of messages that more
    than one device receives, it may not be the best. Otherwise, it is the best along several
    topological orders.

    Parameters
    ----------
    ideals
        Largest number of ideals to go over; with more of them, orders are split.
    """

    name: ClassVar[str] = "contiguous"
    objectives: ClassVar[frozenset[str]] = THROUGHPUT
    ideals: int = IDEALS

    def __post_init__(self) -> None:
        if self.ideals < 1:
            fault = f"ideals must be at least 1 (got {self.ideals})"
            raise UsageError(Fault(fault, place=(self.name,)))

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the placement, repaired where constraints require it."""
        items = precedence(compiled(problem).flow, problem.feasibility.unit_of)
        # Which size a receiver gets depends on what other pieces receive, so both are tried.
        sizes = (False,) if compiled(problem).flow.multicast == NONE else (False, True)
        drafts: list[Ints] = []
        for limited in (True, False):  # unless a contiguous split satisfies the constraints
            for by_size in sizes if not drafts else ():
                drafts += self._drafts(problem, items, limited, by_size)
        placements = feasible_ones(problem, drafts)
        return placements[int(qualities(problem, placements).argmax())]

    def _drafts(
        self, problem: Problem, items: Precedence, limited: bool, by_size: bool
    ) -> list[Ints]:
        """Return placements, (V,) each, the best first; none if no split is possible."""
        classes = classes_of(problem, min(len(items), MOST_BLOCKS), MOST_DEVICES)
        found: list[tuple[float, Ints]] = []
        for order in orders(items):
            item_of = _blocks(items, order, classes.moves.states)[items.item_of]
            costs = costs_of(problem, item_of, classes, limited=limited, by_size=by_size)
            chain = prefixes(range(int(item_of.max()) + 1))
            result = split(costs, chain, classes.moves, _least(found), NO_LIMIT)
            found += _best_split(result, chain, classes, item_of)
        lattice = all_closed_sets(items, min(self.ideals, MOST_CELLS // classes.moves.states))
        if lattice is not None:
            costs = costs_of(problem, items.item_of, classes, limited=limited, by_size=by_size)
            result = split(costs, lattice, classes.moves, _least(found), MOST_STEPS)
            if result.steps >= 0:
                found += _best_split(result, lattice, classes, items.item_of)
        found.sort(key=lambda one: one[0])
        return [draft for _, draft in found]


def _least(found: list[tuple[float, Ints]]) -> float:
    """Return the smallest of the largest loads found so far."""
    return min((worst for worst, _ in found), default=inf)


def _blocks(items: Precedence, order: list[int], states: int) -> Ints:
    """Return the block of each item: consecutive items of an order, if there are many."""
    blocks = max(1, min(len(order), MOST_BLOCKS, MOST_CELLS // states))
    block = np.zeros(len(items), np.int32)
    block[order] = np.arange(len(order)) * blocks // len(order)
    return block


def _best_split(
    result: Split, lattice: Lattice, classes: Classes, item_of: Ints
) -> list[tuple[float, Ints]]:
    """Return the largest load of the best split and its placement, (V,); none if there is none."""
    last = len(lattice.first) - 2
    state = int(result.load[last].argmin())
    worst = float(result.load[last, state])
    if worst == inf:
        return []
    device, used = np.zeros(int(item_of.max()) + 1, np.int32), [0] * len(classes.devices)
    here = last
    while here > 0:
        move, source = int(result.by[here, state]), int(result.source[here, state])
        if move < 0:
            state -= 1
            continue
        c = int(classes.class_of_move[move])
        device[_inside(lattice, here) & ~_inside(lattice, source)] = classes.devices[c][used[c]]
        used[c] += 1
        here, state = source, int(classes.moves.before[move])
    return [(worst, device[item_of])]


def _inside(lattice: Lattice, one: int) -> Bools:
    """Return whether each item is in a closed set, (I,) bool."""
    inside = np.zeros(int(lattice.item.max()) + 1, dtype=np.bool_)
    entry_to = np.zeros(len(lattice.first) - 1, np.int64)
    entry_to[lattice.to] = np.arange(len(lattice.to))
    while one > 0:
        entry = entry_to[one]
        inside[lattice.item[entry]] = True
        one = int(np.searchsorted(lattice.first, entry, side="right")) - 1
    return inside
