"""Random problems that combine resources, memory, groups with uplinks, and every constraint."""

from dataclasses import replace

import numpy as np

from benchmarks.reference.grouped_problems import grouped_problem
from benchmarks.reference.random_problems import feasible_change
from streamplace import Cluster, Constraints, Device, Problem
from streamplace.problem.objective import Model
from streamplace.util.arrays import Bools

STREAM = 57  # separates these random numbers from those of `grouped_problem`


def resource_problem(
    seed: int, model: Model = "bottleneck", max_placements: int = 10**6
) -> Problem:
    """Return the `grouped_problem` of a seed with resources; some placement of it is feasible."""
    base = grouped_problem(seed, model, max_placements)
    return feasible_change(base, with_resources, (seed, STREAM))


def with_resources(problem: Problem, rng: np.random.Generator) -> Problem:
    """Return a problem whose operators take gpus and tenths of a licence, with memory limits."""
    takes = rng.random(2) < 0.7  # gpus, licences
    graph, _ = problem.graph.with_numbers(
        resources={v: _taken(takes, rng) for v in range(len(problem.graph.names))}
    )
    roomy = rng.random() < 0.5
    devices = [_offering(device, takes, roomy, rng) for device in problem.cluster.devices]
    return Problem(
        graph,
        Cluster(devices, problem.cluster.network),
        objective=problem.objective,
        constraints=_combined(problem.constraints, graph.names, problem.cluster.names, rng),
    )


def _taken(takes: Bools, rng: np.random.Generator) -> dict[str, float]:
    gpus, licences = float(rng.choice([0, 0, 1, 1, 2])), float(rng.integers(0, 5)) / 10
    return {"gpu": gpus * takes[0], "licence": licences * takes[1]}


def _offering(device: Device, takes: Bools, roomy: bool, rng: np.random.Generator) -> Device:
    gpus, licences = float(rng.integers(0, 6)), float(rng.integers(3, 14)) / 10
    memory = None if roomy else float(rng.integers(5, 20)) * 1e6
    offers = {"gpu": gpus * takes[0], "licence": licences * takes[1]}
    return replace(device, memory_bytes=memory, resources=offers)


def _combined(
    rules: Constraints,
    operators: tuple[str, ...],
    devices: tuple[str, ...],
    rng: np.random.Generator,
) -> Constraints:
    """Return constraints with perhaps one more pin and one more pair to colocate."""
    pins, colocate = dict(rules.pins), list(rules.colocate)
    if rng.random() < 0.3:
        pins.setdefault(str(rng.choice(operators)), str(rng.choice(devices)))
    if rng.random() < 0.3 and len(operators) > 1:
        colocate.append([str(name) for name in rng.choice(operators, size=2, replace=False)])
    return replace(rules, pins=pins, colocate=colocate)
