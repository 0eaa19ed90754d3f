"""Moves that are forced by a loss, against all placements."""

import numpy as np
import pytest

from benchmarks.reference.random_problems import feasible_placements
from streamplace import Cluster, Constraints, Device, Operator, Placement, Problem, StreamGraph
from streamplace.errors import InfeasibleError, PlacementError
from streamplace.workflows.migrate import migrate
from tests.support.graphs import chain_graph
from tests.support.share import Share


def after_a_loss(seed: int) -> tuple[Problem, Placement]:
    """Return a problem after the loss of a device, and the placement before it.

    In some problems the colocated operators were apart before.
    """
    rng = np.random.default_rng(seed)
    names = [f"o{v}" for v in range(6)]
    labels = [("gpu",) if rng.random() < 0.15 else () for _ in names]
    rows = [
        Operator(name, 1e5, 1.0, float(rng.integers(0, 10)), label)
        for name, label in zip(names, labels, strict=True)
    ]
    rules = Constraints(
        colocate=[names[:2]] if rng.random() < 0.4 else [],
        exlocate=[names[3:5]] if rng.random() < 0.4 else [],
    )
    graph = StreamGraph(rows, [(names[0], v) for v in names[1:]])
    gpu = [("gpu",) if rng.random() < 0.6 else () for _ in range(4)]
    devices = [
        Device(f"d{d}", 1000.0, memory_bytes=float(rng.integers(12, 30)), labels=gpu[d])
        for d in range(4)
    ]
    before = Constraints(exlocate=rules.exlocate) if rng.random() < 0.5 else rules
    whole = Problem(graph, Cluster(devices), constraints=before, source_rate=100.0)
    feasible = np.concatenate(list(feasible_placements(whole)))
    old = Placement(whole, feasible[int(rng.integers(len(feasible)))])
    return Problem(graph, Cluster(devices[:3]), constraints=rules, source_rate=100.0), old


def check_moves(seed: int) -> bool:
    """Check the forced moves of a problem against all placements; return whether there are any."""
    try:
        problem, old = after_a_loss(seed)
        found = migrate(problem, old, max_moves=seed % 3)
    except (InfeasibleError, PlacementError, ValueError):  # no placement before or after the loss
        return False
    rows = np.concatenate(list(feasible_placements(problem)))
    moved = rows != old.devices
    assert found.fewest == moved.sum(axis=1).min()
    assert len(found.forced) + len(found.chosen) <= found.fewest + seed % 3
    names = problem.graph.names
    leaving = {names[v] for v in np.flatnonzero(found.result.placement.devices != old.devices)}
    always = {names[v] for v in np.flatnonzero(moved.all(axis=0))}
    assert {move.operator for move in found.forced} == always
    assert {move.operator for move in found.chosen} == leaving - always
    return True


def test_every_forced_move_is_necessary() -> None:
    assert sum(check_moves(seed) for seed in range(60)) >= 40


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_every_forced_move_of_a_thousand_losses_is_necessary(part: int, share: Share) -> None:
    seeds = range(100 + 350 * part, 100 + 350 * (part + 1))
    assert sum(check_moves(seed) for seed in share.of(seeds)) >= share.least(250)


def test_one_of_two_colocated_operators_has_to_move() -> None:
    """Neither of the two has to move, but one of them does, and it counts."""
    graph = chain_graph(1e5, 1e5, 1e5)
    old = Placement(Problem(graph, Cluster.equal(2)), [0, 1, 1])
    problem = Problem(graph, Cluster.equal(2), constraints=Constraints(colocate=[["a", "b"]]))
    found = migrate(problem, old, max_moves=0)
    assert not found.forced
    assert len(found.chosen) == found.fewest == 1
    assert "(at least 1 necessary for constraints, memory and resources)" in found.headline
