"""Repair of draft placements: few changes that make them feasible, or the reason why not."""

from collections.abc import Iterable, Sequence
from operator import le

import numpy as np

from streamplace.errors import Fault, InfeasibleError, PlacementError
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import compiled_parts
from streamplace.util.arrays import Ints

# Backtracking steps, beyond one step per unit, before giving up; a guess, not tuned.
STEPS = 100_000


def feasible(problem: Problem, draft: Ints) -> Placement:
    """Return the placement `draft`, (V,) device indices, changed where it violates a constraint.

    A unit (colocated operators) keeps the device that has most of its CPU work if it can; otherwise
    it goes to the least loaded device that accepts it. Units with the fewest choices go first. A
    depth-first search backtracks from dead ends.

    Raises
    ------
    PlacementError
        If the search gives up.
    InfeasibleError
        If the search has tried everything.
    """
    feasibility = problem.feasibility
    if feasibility.is_free or feasibility.violation(draft) is None:
        return Placement(problem, draft)
    return by_preference(problem, _preferences(problem, draft))


def by_preference(problem: Problem, preferred: list[list[int]]) -> Placement:
    """Return the placement that `assign` finds; an InfeasibleError refers to the problem."""
    try:
        on = assign(problem, preferred)
    except InfeasibleError as error:
        error.infeasible = problem.graph, problem.cluster, problem.constraints
        raise
    return Placement(problem, on[problem.feasibility.unit_of])


def feasible_ones(problem: Problem, drafts: Iterable[Ints]) -> list[Placement]:
    """Return the repaired placements of all drafts that `feasible` can repair: at least one.

    Raises
    ------
    PlacementError
        If no draft can be repaired.
    InfeasibleError
        If there is no feasible placement.
    """
    placements, failure = [], PlacementError("there are no drafts")
    for draft in drafts:
        try:
            placements.append(feasible(problem, draft))
        except PlacementError as error:
            failure = error
    if not placements:
        raise failure
    return placements


def rivals_of(groups: Iterable[Sequence[int]]) -> dict[int, set[int]]:
    """Return unit -> the other units of its groups, for `Feasibility.excluding` or `separating`."""
    rivals: dict[int, set[int]] = {}
    for group in groups:
        for unit in group:
            rivals.setdefault(unit, set()).update(set(group) - {unit})
    return rivals


def _preferences(problem: Problem, draft: Ints) -> list[list[int]]:
    """Return each unit's allowed devices, best first."""
    feasibility, work = problem.feasibility, compiled_parts(problem).work
    count = len(problem.cluster.devices)
    drawn = np.bincount(
        feasibility.unit_of.astype(np.int64) * count + draft,
        weights=work + work.sum() * 1e-12 + 1e-300,  # so that operators without cost count too
        minlength=feasibility.unit_count * count,
    ).reshape(-1, count)
    load = np.bincount(draft, weights=work, minlength=count) / problem.cluster.capacity
    emptiest = np.argsort(load, kind="stable")
    preferred = []
    for unit in range(feasibility.unit_count):
        favourite = int(drawn[unit].argmax())
        rest = [int(d) for d in emptiest if d != favourite]
        preferred.append([d for d in (favourite, *rest) if feasibility.allowed[unit, d]])
    return preferred


def assign(problem: Problem, preferred: list[list[int]], most_steps: int = STEPS) -> Ints:
    """Assign every unit one of its preferred devices, depth first; return them, (U,).

    Parameters
    ----------
    preferred
        For each unit the devices that it may go to, best first.
    most_steps
        Backtracking steps, beyond one step per unit, before giving up.

    Raises
    ------
    PlacementError
        If the search gives up.
    InfeasibleError
        If the search has tried everything.
    """
    feasibility = problem.feasibility
    needs, room, size = (
        feasibility.needs.tolist(),
        feasibility.room.tolist(),
        feasibility.relative_needs,
    )
    rivals, distant = rivals_of(feasibility.excluding), rivals_of(feasibility.separating)
    group_of = problem.cluster.group_of
    constrained = rivals.keys() | distant.keys()
    # Units with few choices first, which keeps dead ends near the root.
    order = sorted(
        range(len(preferred)),
        key=lambda u: (len(preferred[u]), u not in constrained, -size[u], u),
    )
    on = np.full(len(preferred), -1, dtype=np.int32)
    tried = [0] * len(order)
    depth, steps, furthest = 0, 0, 0
    while depth < len(order):
        unit = order[depth]
        furthest = max(furthest, depth)
        if on[unit] >= 0:  # the search backtracked to this unit: undo its last choice
            _take(room[on[unit]], [-need for need in needs[unit]])
            on[unit] = -1
        taken = {int(on[rival]) for rival in rivals.get(unit, ())}
        groups = {int(group_of[on[rival]]) for rival in distant.get(unit, ()) if on[rival] >= 0}
        choices = preferred[unit]
        while tried[depth] < len(choices):
            device = choices[tried[depth]]
            tried[depth] += 1
            if device in taken or group_of[device] in groups:
                continue
            if all(map(le, needs[unit], room[device])):
                on[unit] = device
                _take(room[device], needs[unit])
                break
        steps += 1
        if on[unit] >= 0:
            depth += 1
        elif depth == 0:
            stuck = order[furthest]
            fault = (
                f"{feasibility.rules_text}: no device is left for {feasibility.describe(stuck)}, "
                "wherever the other operators go (all combinations tried)"
            )
            names = feasibility.operators_of(stuck)
            raise InfeasibleError(Fault(fault, operators=names, of_constraints=True))
        elif steps > most_steps + len(order):
            fault = f"found no placement that obeys the limits: {feasibility.rules_text}"
            raise PlacementError(Fault(fault, of_constraints=True))
        else:
            tried[depth] = 0
            depth -= 1
    return on


def _take(room: list[float], needs: list[float]) -> None:
    for k, need in enumerate(needs):
        room[k] -= need
