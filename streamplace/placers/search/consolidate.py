"""Consolidation: fewer devices, then less traffic, at a cost of at most 0.1% throughput."""

from collections.abc import Sequence

import numpy as np

from streamplace.placers.budget import Budget
from streamplace.placers.search.annealing import Annealer, moved_to_allowed, schedule
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow
from streamplace.scoring.registry import qualities
from streamplace.sim import work_clock
from streamplace.sim.columns import read_only
from streamplace.sim.search import (
    Instance,
    least_work,
    reduce_traffic,
    search_state,
    work_on_devices,
)
from streamplace.util.arrays import Ints

# Where `fewest` is asked for, a device less is worth a thousandth of the throughput. A guess; not
# tuned.
AS_GOOD = 1.0 - 1e-3  # share of the best throughput that counts as equally good
UP_TO_ROUNDING = 1.0 - 1e-9  # the score sums loads in another order than the chain
CHAIN = 2_000, 500  # changes tried to remove one device, plus a number per unit; a guess, not tuned
TRAFFIC = 1_000, 100  # changes tried to reduce traffic, plus a number per unit; a guess, not tuned


def fewest_devices(
    problem: Problem, placements: Sequence[Placement], as_good: float = AS_GOOD
) -> Placement:
    """Return the best placement with fewest devices, then least traffic, then most throughput.

    Parameters
    ----------
    as_good
        Share of the best relative throughput that counts as equally good.
    """
    reached = qualities(problem, placements)

    def cost(i: int) -> tuple[float, float, float]:
        return *size_of(problem, placements[i].devices), -float(reached[i])

    good = np.flatnonzero(reached >= as_good * reached.max())
    return placements[min(good.tolist(), key=cost)]


def proven_fewest(problem: Problem, placements: Sequence[Placement]) -> int | None:
    """Return the fewest devices on which one of the placements carries everything, if proven.

    The proof is that no fewer devices have room for the work of all operators. None: none of them
    carries everything, or fewer devices may do.
    """
    if not problem.objective.follows_loads:
        return None
    arrays, least = flow(problem), 1
    if not len(arrays.timed):  # their work differs between devices
        room = np.sort(arrays.capacity)[::-1].cumsum()
        least += int(np.count_nonzero(room < arrays.work.sum() * UP_TO_ROUNDING))
    # only these are scored, which takes long on large graphs
    on_least = [each for each in placements if len(np.unique(each.devices)) == least]
    carries = bool(on_least) and qualities(problem, on_least).max() >= UP_TO_ROUNDING
    return least if carries else None


def size_of(problem: Problem, devices: Ints) -> tuple[float, float]:
    """Return the number of devices of a placement, (V,), and the bits between them per tuple."""
    arrays = flow(problem)
    crossing = devices[arrays.source] != devices[arrays.target]
    return float(len(np.unique(devices))), float(arrays.stream_bits[crossing].sum())


def consolidate(
    problem: Problem,
    rng: np.random.Generator,
    placements: Sequence[Placement],
    budget: Budget,
    as_good: float = AS_GOOD,
) -> Placement:
    """Return the best placement on the fewest devices, reduced further while the budget lasts.

    Parameters
    ----------
    as_good
        Share of the best relative throughput that counts as equally good.
    """
    required = as_good * float(qualities(problem, placements).max())
    best, annealer = fewest_devices(problem, placements, as_good), Annealer(problem, rng)
    while (fewer := _with_one_fewer(problem, annealer, best, required, budget)) is not None:
        best = fewer
    on = best.devices[problem.feasibility.first_of]
    instance = _only(annealer.instance, np.unique(on))
    if not (load := required * instance.reference):
        return best  # the throughput is 0, so there is no load limit to keep to
    limit = 1.0 / load
    now = search_state(instance, on)
    changes = TRAFFIC[0] + TRAFFIC[1] * len(on)
    reduce_traffic(instance, now, annealer.rng_state, min(budget.left(), changes), limit)
    reduced = Placement(problem, now.on[problem.feasibility.unit_of])
    # Under `path-average`, loads within the limit do not decide alone.
    return reduced if qualities(problem, [reduced])[0] >= required * UP_TO_ROUNDING else best


def _with_one_fewer(
    problem: Problem, annealer: Annealer, best: Placement, required: float, budget: Budget
) -> Placement | None:
    """Return a placement of the required quality on one device fewer, or None if none is found.

    Each used device is tried for removal in turn, the least loaded first.
    """
    instance, on = annealer.instance, best.devices[problem.feasibility.first_of]
    used = np.unique(on)
    work = work_on_devices(instance, on)
    load = np.bincount(on, weights=work, minlength=len(instance.capacity))
    # What is on the least loaded device fits into the others most easily.
    for d in used[load[used].argsort(kind="stable")]:
        kept = used[used != d]
        if len(kept) == 0 or budget.left() == 0:
            return None
        least = least_work(instance, kept).sum()
        lower_bound = instance.reference * least / instance.capacity[kept].sum()
        # The work alone is too much for the other devices, so that a chain would be in vain.
        if lower_bound * required * UP_TO_ROUNDING > 1.0:
            continue
        fewer = _on_these(problem, annealer, on, kept, required, budget)
        if fewer is not None:
            return fewer
    return None


def _on_these(
    problem: Problem,
    annealer: Annealer,
    on: Ints,
    kept: Ints,
    required: float,
    budget: Budget,
) -> Placement | None:
    """Return a placement of the required quality on the devices `kept`, or None if none is found.

    Parameters
    ----------
    on
        (U,) devices of units in the initial placement.
    """
    feasibility = problem.feasibility
    fewer = _only(annealer.instance, kept)
    if not fewer.allowed[fewer.row_of].any(axis=1).all():
        return None
    start = moved_to_allowed(fewer, on)
    if feasibility.violation(start[feasibility.unit_of]) is not None:
        return None
    changes = min(budget.left(), CHAIN[0] + CHAIN[1] * len(on))
    begun = work_clock.now()
    chain = annealer.chain(fewer, start, schedule(changes, len(on)), required)
    budget.charge(chain.changes, work_clock.now() - begun)
    placement = Placement(problem, chain.on[feasibility.unit_of])
    return placement if qualities(problem, [placement])[0] >= required * UP_TO_ROUNDING else None


def _only(instance: Instance, devices: Ints) -> Instance:
    """Return the instance with only these devices allowed."""
    mask = np.zeros(len(instance.capacity), dtype=np.bool_)
    mask[devices] = True
    return instance._replace(allowed=read_only(instance.allowed & mask))
