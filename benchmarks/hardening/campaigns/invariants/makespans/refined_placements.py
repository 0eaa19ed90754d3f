"""Policies that refine placements against the placement that they start from."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import torch

from benchmarks.hardening.campaigns.invariants.deviations import relative_excess
from benchmarks.reference.rules import obeying
from streamplace import Placement, Problem
from streamplace.errors import InfeasibleError, PlacementError
from streamplace.placers.repair import feasible
from streamplace.policy.base import Refiner, refiner
from streamplace.policy.decoding import Sampler
from streamplace.policy.refining import refined
from streamplace.policy.registry import make_policy, policy_section
from streamplace.scoring.registry import makespan_evaluator
from streamplace.util.arrays import Ints

FEASIBLE = "makespans: {}, feasible"
NOT_WORSE = "makespans: {}, not worse than its start"
REPEATED = "makespans: {}, the same placement from the same seed"
KINDS = {"Placeto": "placeto", "GiPH": "giph", "rebuild": "rebuild", "HSDAG": "hsdag"}
FIXED = ("placeto", "hsdag")
"""The kind of each system, and those that fit one number of devices."""
ROWS = tuple(row.format(name) for name in KINDS for row in (FEASIBLE, NOT_WORSE, REPEATED))
EPISODES = 2


def checks_of(problem: Problem, rng: np.random.Generator) -> Iterator[tuple[str, float]]:
    """Yield the deviation from each invariant; none if no feasible start is found."""
    devices = len(problem.cluster.devices)
    drawn = rng.integers(devices, size=len(problem.graph.names)).astype(np.int32)
    try:
        start = feasible(problem, drawn)
    except (PlacementError, InfeasibleError):
        return
    for name, kind in KINDS.items():
        found, again = (refined_from(start, kind) for _ in range(2))
        before, after = makespan_evaluator(problem).makespans(np.stack([start.devices, found]))
        yield FEASIBLE.format(name), 0.0 if obeying(problem, found[None])[0] else np.inf
        yield NOT_WORSE.format(name), relative_excess(float(after), float(before))
        yield REPEATED.format(name), float((found != again).mean())


def refined_from(start: Placement, kind: str) -> Ints:
    """Return the placement, (V,), that a policy with random weights makes of another one."""
    policy = network(kind, len(start.problem.cluster.devices))
    batch = policy.batch([policy.encode(start.problem)])
    generator = torch.Generator().manual_seed(0)
    samplers = [Sampler(generator, first_is_likeliest=not number) for number in range(EPISODES)]
    with torch.no_grad():
        placed: Ints = refined(policy, batch, [start], samplers)[0]
    return placed


@cache
def network(kind: str, devices: int) -> Refiner[Any, Any]:
    """Return a network with random weights; some fit one number of devices."""
    sizes = {"devices": devices} if kind in FIXED else {}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(devices)
        return refiner(make_policy(policy_section({"kind": kind, "sizes": sizes})))
