"""Moves that are forced by a loss, against all placements."""

from itertools import product

import numpy as np
import pytest

from streamplace import Cluster, Constraints, Device, Operator, Placement, Problem, StreamGraph
from streamplace.errors import InfeasibleError, PlacementError
from streamplace.placers.search.migrate import stay


def after_a_loss(seed: int) -> tuple[Problem, Placement]:
    """Return a problem after the loss of a device, and the placement before it."""
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
    devices = [
        Device(f"d{d}", 1000.0, memory_bytes=float(rng.integers(12, 30)), labels=("gpu",))
        for d in range(4)
    ]
    whole = Problem(graph, Cluster(devices), constraints=rules, source_rate=100.0)
    feasible = [
        row
        for row in product(range(4), repeat=6)
        if whole.feasibility.violation(np.array(row)) is None
    ]
    old = Placement(whole, np.array(feasible[int(rng.integers(len(feasible)))], np.int32))
    return Problem(graph, Cluster(devices[:3]), constraints=rules, source_rate=100.0), old


@pytest.mark.parametrize("seed", range(60))
def test_no_placement_needs_fewer_moves(seed: int) -> None:
    try:
        problem, old = after_a_loss(seed)
        staying, _ = stay(problem, old)
    except (InfeasibleError, PlacementError):
        pytest.skip("no placement is left")
    every = [
        np.array(row)
        for row in product(range(3), repeat=6)
        if problem.feasibility.violation(np.array(row)) is None
    ]
    moves = [int((row != old.devices).sum()) for row in every]
    assert int((staying.devices != old.devices).sum()) == min(moves)
