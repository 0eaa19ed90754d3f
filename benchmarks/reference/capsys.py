"""CAPSys (EuroSys 2025): the costs of a plan, and the plans that its rule finds.

A plan is the number of instances of each operator on each worker. Formulas and thresholds are those
of ``scripts/caps-go`` in its repository.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Plan = NDArray[np.int64]
DIGITS = 5


@dataclass(frozen=True)
class Profile:
    """The profile of one operator: its instances, and the costs of one of them.

    Parameters
    ----------
    target
        Number of the operator that it sends to; None: none.
    forward
        Whether instances send to the one of their number.
    """

    instances: int
    compute: float
    state: float
    network: float
    target: int | None
    forward: bool


def costs(profiles: Sequence[Profile], plan: Plan) -> tuple[float, float, float]:
    """Return the largest compute, state and network cost of a worker.

    Parameters
    ----------
    plan
        (O, W) number of instances of each operator on each worker.
    """
    rows = np.array([[one.compute, one.state] for one in profiles])
    compute, state = (rows[:, k] @ plan for k in range(2))
    return float(compute.max()), float(state.max()), float(_network(profiles, plan).max())


def bounds(profiles: Sequence[Profile], workers: int, slots: int) -> NDArray[np.float64]:
    """Return the least and the largest cost of a worker, (3, 2)."""
    found = np.zeros((3, 2))
    for k, name in enumerate(("compute", "state", "network")):
        each = [(getattr(one, name), one.instances) for one in profiles]
        if name != "network":
            found[k, 0] = sum(cost * count for cost, count in each) / workers
        left = slots
        for cost, count in sorted(each, reverse=True):
            found[k, 1] += cost * min(left, count)
            left -= min(left, count)
    return found


def plans_of_rule(
    profiles: Sequence[Profile], workers: int, slots: int, share: Sequence[float], most: int
) -> list[Plan]:
    """Return plans whose costs are within the thresholds, those that no other one dominates.

    Parameters
    ----------
    share
        The thresholds of compute, state and network: shares of the way from the least to the
        largest cost.
    most
        Number of plans after which the search ends.
    """
    least, largest = bounds(profiles, workers, slots).T
    limits = np.round(least + np.array(share) * (largest - least), DIGITS)
    kept: list[tuple[tuple[float, ...], Plan]] = []
    for number, plan in enumerate(_plans(profiles, workers, slots, limits)):
        cost = tuple(round(x, 2) for x in costs(profiles, plan))
        if not any(_dominates(other, cost) or other == cost for other, _ in kept):
            kept = [(other, p) for other, p in kept if not _dominates(cost, other)]
            kept.append((cost, plan))
        if number + 1 >= most:
            break
    return [plan for _, plan in kept]


def _plans(
    profiles: Sequence[Profile], workers: int, slots: int, limits: NDArray[np.float64]
) -> Iterator[Plan]:
    plan = np.zeros((len(profiles), workers), np.int64)

    def place(o: int) -> Iterator[Plan]:
        if o == len(profiles):
            if (_network(profiles, plan) <= limits[2]).all():
                yield plan.copy()
            return
        for counts in _divided(profiles[o].instances, slots - plan.sum(axis=0), plan[:o]):
            plan[o] = counts
            used = plan[: o + 1]
            rows = np.array([[one.compute, one.state] for one in profiles[: o + 1]])
            if (rows.T @ used <= limits[:2, None]).all():
                yield from place(o + 1)
        plan[o] = 0

    yield from place(0)


def _divided(count: int, room: Plan, before: Plan) -> Iterator[tuple[int, ...]]:
    """Yield the divisions of instances among workers; equal workers have increasing numbers."""
    alike = [w > 0 and bool((before[:, w] == before[:, w - 1]).all()) for w in range(len(room))]

    def divide(w: int, left: int, counts: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if w == len(room):
            if not left:
                yield counts
            return
        lowest = counts[-1] if alike[w] else 0
        later = int(room[w + 1 :].sum())
        for own in range(max(lowest, left - later), min(int(room[w]), left) + 1):
            yield from divide(w + 1, left - own, (*counts, own))

    yield from divide(0, count, ())


def _network(profiles: Sequence[Profile], plan: Plan) -> NDArray[np.float64]:
    """Return what leaves each worker, (W,)."""
    total = np.zeros(plan.shape[1])
    for o, one in enumerate(profiles):
        if one.target is None:
            continue
        received = plan[one.target]
        if one.forward:
            total += one.network * np.maximum(plan[o] - received, 0)
        else:
            total += one.network * plan[o] * (1.0 - received / profiles[one.target].instances)
    return total


def _dominates(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a != b and all(x <= y for x, y in zip(a, b, strict=True))
