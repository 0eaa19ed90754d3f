"""Placeto against the placement that it starts from."""

from collections.abc import Iterator
from functools import cache

import numpy as np
import torch

from benchmarks.hardening.campaigns.invariants.deviations import relative_excess
from benchmarks.reference.rules import obeying
from streamplace import Placement, Problem
from streamplace.errors import InfeasibleError, PlacementError
from streamplace.placers.repair import feasible
from streamplace.policy.config import PlacetoSizes
from streamplace.policy.decoding import Sampler
from streamplace.policy.placeto.network import Placeto
from streamplace.policy.refining import refined
from streamplace.scoring.registry import makespan_evaluator
from streamplace.util.arrays import Ints

FEASIBLE = "makespans: Placeto, feasible"
NOT_WORSE = "makespans: Placeto, not worse than its start"
REPEATED = "makespans: Placeto, the same placement from the same seed"
EPISODES = 2


def checks_of(problem: Problem, rng: np.random.Generator) -> Iterator[tuple[str, float]]:
    """Yield the deviation from each invariant; none if no feasible start is found."""
    devices = len(problem.cluster.devices)
    drawn = rng.integers(devices, size=len(problem.graph.names)).astype(np.int32)
    try:
        start = feasible(problem, drawn)
    except (PlacementError, InfeasibleError):
        return
    found, again = (refined_from(start) for _ in range(2))
    before, after = makespan_evaluator(problem).makespans(np.stack([start.devices, found]))
    yield FEASIBLE, 0.0 if obeying(problem, found[None])[0] else np.inf
    yield NOT_WORSE, relative_excess(float(after), float(before))
    yield REPEATED, float((found != again).mean())


def refined_from(start: Placement) -> Ints:
    """Return the placement, (V,), that Placeto with random weights makes of another one."""
    policy = network(len(start.problem.cluster.devices))
    batch = policy.batch([policy.encode(start.problem)])
    generator = torch.Generator().manual_seed(0)
    samplers = [Sampler(generator, first_is_likeliest=not number) for number in range(EPISODES)]
    with torch.no_grad():
        placed: Ints = refined(policy, batch, [start], samplers)[0]
    return placed


@cache
def network(devices: int) -> Placeto:
    """Return a network with random weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(devices)
        return Placeto(PlacetoSizes(devices=devices))
