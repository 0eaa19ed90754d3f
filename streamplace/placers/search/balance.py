"""Balance: the lowest utilisations if nothing limits a job, and choices between equal ones."""

from collections.abc import Sequence
from itertools import islice
from typing import Literal, cast, get_args

import numpy as np

from streamplace.errors import Fault, UnsuitableError, UsageError
from streamplace.placers.budget import Budget
from streamplace.placers.search.annealing import Annealer
from streamplace.placers.search.chains import best_of_chains
from streamplace.placers.search.exhaustive import feasible_rows
from streamplace.placers.trivial import on_one_device
from streamplace.problem.objective import MAX_RATE, MIN_VALUE, Objective, Throughput
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow
from streamplace.scoring.registry import qualities, qualities_of_rows
from streamplace.scoring.throughput import ceiling
from streamplace.sim import work_clock
from streamplace.sim.closed_form.bottleneck import utilisations
from streamplace.sim.search import search_state, spread
from streamplace.sim.work import own_utilisations
from streamplace.util.arrays import Floats, Ints

Prefer = Literal["balance", "fewest"]
"""What is improved once everything offered is carried, or one operator alone limits throughput:
utilisations, the largest first, or the number of devices and then the traffic between them."""

# Share of the bound on the sustained rate at which its search ends; a guess, not tuned.
NEAR_BOUND = 1.0 / 1.01
# As fine as rounding allows: where all are known, the order is exact. A power of two divides
# without rounding.
EQUAL = 2.0**-30  # step, relative to the largest utilisation, by which all placements are compared
# Finer differences are chance of a search, for which traffic would be too high a price. A guess;
# not tuned.
STEP = 1e-3  # the same for placements that a search found; within a step, traffic decides
# Relative throughput from which everything counts as carried; the rest is rounding.
CARRIED = 1.0 - 1e-9
# Of the search, at most: headroom is worth less than a quick answer; a guess, not tuned.
MOST_SECONDS = 0.1
SHARE = 0.5  # of the remaining budget, at most, since `spread` follows; a guess
STARTS = 4  # the search starts from this many of the best placements; a guess, not tuned
# Twelve took a third of the time of `auto` on graphs small enough to try all placements.
SPREAD_STARTS = 6  # further loads are lowered from this many of the best placements
# Changes tried to lower further loads, plus per unit: an ms with 16 units; a guess.
SPREAD = 2_000, 500
# Trying all is exact, and quicker than lowering loads by a search: with 5,000, exchanges counted
# apart and twice `SPREAD_STARTS`, `auto` took 1.8 times as long on the nine real topologies, on
# three devices.
FEW_PLACEMENTS = 30_000  # if there are at most this many, up to exchanges, all are tried
MAX_CELLS = 4_000_000  # placements x devices and links, beyond which comparing all takes seconds
# Of the operators of two devices, at most: each step scores up to `TRIED` placements; a guess.
EXCHANGES = 100
# Exchanges whose utilisations are compared, in each step: a score and a sort each; a guess.
TRIED = 50
# Difference, relative to the largest utilisation, below which two count as equal: rounding.
SAME = 1e-9
MAX_EXCHANGES = 4_000_000  # times operators, streams and devices, beyond which they take seconds


def ties(problem: Problem, rows: Ints) -> tuple[Floats, Floats]:
    """Return the streams that join groups of devices, and the price of the used devices, (K,) each.

    Both are 0 where no device is in a group, and unless every device has a price.

    Parameters
    ----------
    rows
        (K, V) devices of placements.
    """
    cluster, arrays, zero = problem.cluster, flow(problem), np.zeros(len(rows))
    joining, price = zero, zero
    if cluster.groups:
        on = cluster.group_of[rows]
        joining = (on[:, arrays.source] != on[:, arrays.target]).sum(axis=1).astype(np.float64)
    prices = [device.price for device in cluster.devices]
    if None not in prices:
        used = np.zeros((len(rows), len(prices)))
        used[np.arange(len(rows))[:, None], rows] = 1.0
        price = used @ np.array(prices, dtype=np.float64)
    return joining, price


def settled(problem: Problem, placements: Sequence[Placement]) -> Placement:
    """Return the best of equally good placements by `ties`, after exchanges that improve it.

    Two devices of equal speed exchange all their operators, or one takes those of the other, as
    long as that is better, satisfies the constraints and raises no utilisation. The first placement
    is the result under other objectives than throughput.
    """
    first = placements[0]
    equal = len({device.price for device in problem.cluster.devices}) == 1
    # Without groups, and with equal prices, no exchange can be better.
    if not problem.objective.follows_loads or (equal and not problem.cluster.groups):
        return first
    rows = np.stack([placement.devices for placement in placements])
    best = int(np.lexsort(ties(problem, rows)[::-1])[0])
    row, steps = rows[best], 0
    while steps < EXCHANGES and (better := _best_exchange(problem, row)) is not None:
        row, steps = better, steps + 1
    return placements[best] if steps == 0 else Placement(problem, row)


def _best_exchange(problem: Problem, devices: Ints) -> Ints | None:
    """Return the best placement after one exchange; None if none of the most promising will do."""
    speed, used = problem.cluster.capacity, np.unique(devices)
    first, second = np.meshgrid(used, np.arange(len(speed)), indexing="ij")
    once = ~np.isin(second, used) | (first < second)
    # On devices of unequal speed, an exchange would change loads.
    of_equal = once & (speed[first] == speed[second])
    first, second = first[of_equal][:, None], second[of_equal][:, None]
    arrays = flow(problem)
    if len(first) * (len(devices) + len(arrays.source) + len(speed)) > MAX_EXCHANGES:
        return None
    rows = np.where(devices == first, second, np.where(devices == second, first, devices)).astype(
        devices.dtype
    )
    joining, price = ties(problem, rows)
    (now_joining,), (now_price,) = ties(problem, devices[None])
    cheaper = price < now_price * (1.0 - SAME)
    better = (joining < now_joining) | ((joining == now_joining) & cheaper)
    before = _loads(problem, devices)
    for i in [i for i in np.lexsort((price, joining)).tolist() if better[i]][:TRIED]:
        if problem.feasibility.violation(rows[i]) is None:
            change = _loads(problem, rows[i]) - before
            unequal = np.flatnonzero(np.abs(change) > SAME * before[0])
            if not len(unequal) or change[unequal[0]] < 0.0:
                found: Ints = rows[i]
                return found
    return None


def _loads(problem: Problem, devices: Ints) -> Floats:
    """Return all utilisations of a placement, the largest first, after the largest of operators."""
    arrays = flow(problem)
    shared = np.concatenate(utilisations(arrays, devices))
    largest = max(float(shared.max()), float(own_utilisations(arrays, devices).max()))
    return np.concatenate(([largest], -np.sort(-shared)))


def carries_all(problem: Problem, placements: Sequence[Placement]) -> bool:
    """Return whether a placement carries everything that the sources offer.

    The result is False for a custom objective.
    """
    if not problem.objective.follows_loads:
        return False
    return bool(qualities(problem, placements).max() >= CARRIED)


def may_spread(problem: Problem, placements: Sequence[Placement]) -> bool:
    """Return whether devices and links do not limit the best placement, so that load may spread.

    It carries everything, or under ``bottleneck`` an operator limits it that fills none of them.
    """
    if carries_all(problem, placements):
        return True
    objective = cast("Throughput", problem.objective)
    if not objective.follows_loads or objective.model != "bottleneck":
        return False
    best = placements[int(qualities(problem, placements).argmax())].devices
    arrays = flow(problem)
    shared = max(float(each.max(initial=0.0)) for each in utilisations(arrays, best))
    return float(own_utilisations(arrays, best).max()) > shared * (1.0 + EQUAL)


def balanced(
    problem: Problem,
    rng: np.random.Generator,
    placements: Sequence[Placement],
    budget: Budget,
    *,
    search: bool = True,
) -> Placement:
    """Return a placement with low utilisations, the largest first.

    Utilisations are those of the model ``bottleneck`` at the highest source rate. Of two
    placements, the better one has the lower largest utilisation; if these are equal, the lower
    second largest one of a device or link, and so on; if all are equal, the better one by `ties`,
    and then the one with less traffic. If there are few placements, the result is the best of all.
    Otherwise the search for the lowest largest utilisation ends within 1% of the lower bound, or
    after 0.1 s, and single moves and swaps then lower the others.

    Parameters
    ----------
    search
        Whether to search; otherwise the largest utilisation is that of one of the placements, or
        what moves and swaps make of it.
    """
    loaded = overloaded(problem)
    every = feasible_rows(loaded, most=FEW_PLACEMENTS, distinct=True)
    # All placements are known, so that the order of all utilisations is exact.
    if every is not None:
        reached = qualities_of_rows(loaded, every)
        every = every[reached >= reached.max() * CARRIED]
        if len(every) * _entries(loaded) <= MAX_CELLS:
            return Placement(problem, every[_best_balanced(loaded, every, EQUAL)])
    known = [Placement(loaded, placement.devices) for placement in placements]
    known += [Placement(loaded, row) for row in islice(on_one_device(loaded), STARTS)]
    reached = qualities(loaded, known)
    if search and reached.max() < NEAR_BOUND:
        rows = [known[i].devices for i in np.argsort(-reached, kind="stable")[:STARTS]]
        share = budget.share(SHARE).within(MOST_SECONDS)
        known.append(best_of_chains(loaded, rng, rows, share, wanted=NEAR_BOUND))
        reached = qualities(loaded, known)
    order = np.argsort(-reached, kind="stable")[:SPREAD_STARTS]
    found = lowered(loaded, rng, np.stack([known[i].devices for i in order]), budget)
    return Placement(problem, found[_best_balanced(loaded, found, STEP)])


def most_balanced(problem: Problem, placements: Sequence[Placement]) -> Placement:
    """Return the placement that `balanced` would choose, without a search for others."""
    carrying = np.flatnonzero(qualities(problem, placements) >= CARRIED)
    rows = np.stack([placements[i].devices for i in carrying.tolist()])
    return Placement(problem, rows[_best_balanced(overloaded(problem), rows, STEP)])


def more_balanced(problem: Problem, devices: Ints, than: Ints) -> bool:
    """Return whether a placement, (V,), is better than another in the order of `balanced`.

    Utilisations that differ by less than a thousandth of the largest one count as equal.
    """
    loaded = overloaded(problem)
    loads, others = _balance(loaded, np.stack([devices, than]))
    margin = np.append(np.full(len(loads), STEP * loads[0].min()), SAME * others.max(axis=1))
    lower, higher = np.concatenate([loads, others]).T
    unequal = np.flatnonzero(np.abs(higher - lower) > margin)
    return len(unequal) > 0 and bool(lower[unequal[0]] < higher[unequal[0]])


def overloaded(problem: Problem) -> Problem:
    """Return the problem under ``bottleneck`` at the lowest rate that is above every bound.

    Relative throughput is then inverse to the largest utilisation, and at most 1. The rate is one
    that an objective can have, so that it is `MAX_RATE` if no bound is known or nothing limits the
    source rate.
    """
    full = ceiling(linear_problem(problem, problem.source_rate))
    return linear_problem(problem, min(max(full, MIN_VALUE), MAX_RATE))


def balances(prefer: Prefer | None, start: Placement | None) -> bool:
    """Return whether to balance: unless something else is preferred or there is a placement."""
    return prefer == "balance" or (prefer is None and start is None)


def check_prefer(placer: str, prefer: str | None) -> None:
    """Raise UsageError if a placer's preference is unknown."""
    choices = get_args(Prefer)
    if prefer is not None and prefer not in choices:
        message = f"prefer must be {' or '.join(choices)} (got {prefer!r})"
        raise UsageError(Fault(message, place=(placer,)))


def refuse_preference(placer: str, prefer: str | None, objective: Objective) -> None:
    """Raise UnsuitableError if there is a preference under an objective without source rates."""
    if prefer is not None and not objective.has_rates:
        supported = f"supports only throughput, not {objective.quantity}"
        raise UnsuitableError(f"{placer}: the preference {prefer!r} {supported}")


def lowered(loaded: Problem, rng: np.random.Generator, rows: Ints, budget: Budget) -> Ints:
    """Return placements, (K, V), whose utilisations are at most as high as those of `rows`.

    Single moves and swaps lower the largest utilisation that they change, in whole steps.
    """
    annealer, feasibility = Annealer(loaded, rng), loaded.feasibility
    most = SPREAD[0] + SPREAD[1] * feasibility.unit_count
    found: list[Ints] = []
    for number, row in enumerate(rows):
        if budget.left() == 0:
            return np.stack([*found, *rows[number:]])
        now = search_state(annealer.instance, row[feasibility.first_of])
        changes = min(budget.left() // (len(rows) - number), most)
        begun = work_clock.now()
        spread(annealer.instance, now, annealer.rng_state, changes, STEP)
        budget.charge(changes, work_clock.now() - begun)
        found.append(now.on[feasibility.unit_of])
    return np.stack(found)


def _best_balanced(loaded: Problem, rows: Ints, step: float) -> int:
    """Return the index of the best of some placements, (K, V) devices."""
    loads, others = _balance(loaded, rows)
    least = max(float(loads[0].min()), MIN_VALUE)
    steps = np.rint(loads[0] / (EQUAL * least)), *np.rint(loads[1:] / (step * least))
    return int(np.lexsort([*steps, *others][::-1])[0])


def _balance(loaded: Problem, rows: Ints) -> tuple[Floats, Floats]:
    """Return what is to be low in placements, (K, V), the most important first.

    Returns
    -------
    (loads + 1, K) the largest utilisation, also of an operator, and then those of devices and links
    in falling order; (3, K) streams that join groups, price, and bits between devices.
    """
    arrays = flow(loaded)
    loads = np.empty((len(rows), 1 + _entries(loaded)))
    for i, row in enumerate(rows):
        loads[i, 1:] = -np.sort(-np.concatenate(utilisations(arrays, row)))
        loads[i, 0] = max(loads[i, 1], own_utilisations(arrays, row).max())
    crossing = rows[:, arrays.source] != rows[:, arrays.target]
    return loads.T, np.stack([*ties(loaded, rows), crossing @ arrays.stream_bits])


def _entries(problem: Problem) -> int:
    """Return the number of devices and links, which have a utilisation each."""
    arrays = flow(problem)
    return arrays.devices + len(arrays.gap_s)


def linear_problem(problem: Problem, rate: float) -> Problem:
    """Return the problem at a source rate, under the model whose loads are linear in the rate."""
    return problem.with_objective(problem.throughput_objective.with_changes(rate, "bottleneck"))
