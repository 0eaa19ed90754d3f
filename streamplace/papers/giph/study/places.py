"""Clusters in which every device keeps its place, for policies with an output per device."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from streamplace.learning.policy.base import Refiner
from streamplace.papers.giph.study.episodes import Episode, episodes
from streamplace.problem.cluster import Cluster
from streamplace.problem.device import Device
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Ints


def places_of(problems: Sequence[Problem]) -> list[Device]:
    """Return as many devices as the largest cluster has: those that most clusters have."""
    known = {device.name: device for one in problems for device in one.cluster.devices}
    times = Counter(device.name for one in problems for device in one.cluster.devices)
    largest = max(len(one.cluster.devices) for one in problems)
    return [known[name] for name, _ in times.most_common(largest)]


def in_place(problem: Problem, places: Sequence[Device]) -> Problem:
    """Return a problem on the same devices, in the places of those with the same name.

    Without places, and where all devices are in place, it is the problem itself. A device with
    another name takes the first free place. In the other places are devices without
    labels, on which no operator may run whose devices or labels are constrained; the released code
    of GiPH represents devices that have left in the same way.
    """
    present = {device.name: device for device in problem.cluster.devices}
    named = [place.name for place in places]
    if not named or named == list(present):
        return problem
    others = iter([device for name, device in present.items() if name not in {*named}])
    devices = [
        present.get(place.name) or next(others, None) or replace(place, labels=())
        for place in places
    ]
    cluster = Cluster(devices, problem.cluster.network)
    return Problem(problem.graph, cluster, objective=problem.objective)


def episodes_in_place(
    policy: Refiner[Any, Any],
    problems: Sequence[Problem],
    starts: Sequence[Ints],
    places: Sequence[Device],
    per_operator: float,
    seed: int,
) -> list[Episode]:
    """Return an episode on each problem with its devices in place; see `episodes`.

    Starts and best placements, (V,), refer to the devices of the problems themselves.
    """
    placed = [in_place(problem, places) for problem in problems]
    moved = [_moved(*each) for each in zip(starts, problems, placed, strict=True)]
    found = episodes(policy, placed, moved, per_operator, seed)
    return [
        replace(one, best=_moved(one.best, after, before))
        for one, before, after in zip(found, problems, placed, strict=True)
    ]


def _moved(devices: Ints, before: Problem, after: Problem) -> Ints:
    """Return a placement, (V,), with the devices of another problem by their names."""
    if after is before:
        return devices
    index = after.cluster.index
    numbers = [index.get(device.name, -1) for device in before.cluster.devices]
    return np.array(numbers, np.int32)[devices]
