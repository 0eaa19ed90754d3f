"""Devices offered to the next operator, against an independent check of complete placements."""

import numpy as np
import pytest

import streamplace as sp
from benchmarks.reference.random_problems import feasible_placements
from benchmarks.reference.resource_problems import resource_problem
from benchmarks.reference.rules import obeying
from streamplace.scoring.rules import rules_of
from streamplace.sim.rules import nothing_placed_in, offer, offer_each, put_each, put_in

ROWS = 4


@pytest.mark.parametrize("seed", range(12))
def test_feasible_placements_are_offered(seed: int) -> None:
    """The devices of the last operator are exactly those with which the placement is feasible."""
    problem = resource_problem(seed, max_placements=500)
    feasible = np.concatenate(list(feasible_placements(problem)))
    rng = np.random.default_rng(seed)
    rows = feasible[rng.integers(len(feasible), size=ROWS)]
    order = rng.permutation(len(problem.graph.names)).tolist()
    devices = len(problem.cluster.devices)
    rules = rules_of(problem.feasibility, problem.cluster)
    placed, offered = nothing_placed_in(rules, ROWS), np.empty((ROWS, devices), np.bool_)
    for v in order:
        offer(rules, placed, v, offered)
        assert offered[np.arange(ROWS), rows[:, v]].all()
        put_in(rules, placed, v, rows[:, v])
    for row, found in zip(rows, offered, strict=True):
        complete = np.repeat(row[None], devices, axis=0)
        complete[:, order[-1]] = np.arange(devices)
        assert found.tolist() == obeying(problem, complete).tolist()


def test_the_mask_is_offered_where_nothing_is_left() -> None:
    """After a and b, no device has room for c, which only the first two devices may run."""
    needs = {"a": 2.0, "b": 2.0, "c": 3.0}
    graph = sp.StreamGraph([sp.Operator(n, 1e6, 0.0, memory_bytes=m) for n, m in needs.items()])
    rooms = {"big": 3.0, "large": 4.0, "small": 2.0}
    cluster = sp.Cluster([sp.Device(n, 1.0, memory_bytes=m) for n, m in rooms.items()])
    problem = sp.Problem(graph, cluster, source_rate=1.0)
    rules = rules_of(problem.feasibility, cluster)
    placed, offered = nothing_placed_in(rules, 2), np.empty((2, 3), np.bool_)
    for v, devices in enumerate(([0, 2], [1, 1])):
        put_in(rules, placed, v, np.array(devices, np.int32))
    offer(rules, placed, 2, offered)
    assert offered.tolist() == [[True, True, False], [True, False, False]]


@pytest.mark.parametrize("seed", range(6))
def test_each_placement_may_have_its_own_operator(seed: int) -> None:
    """Rows that place operators in different orders are offered what each would be alone."""
    problem = resource_problem(seed, max_placements=500)
    rng = np.random.default_rng(seed)
    rules = rules_of(problem.feasibility, problem.cluster)
    shape = (ROWS, len(problem.cluster.devices))
    orders = np.stack([rng.permutation(len(problem.graph.names)) for _ in range(ROWS)])
    together = nothing_placed_in(rules, ROWS)
    alone = [nothing_placed_in(rules, 1) for _ in range(ROWS)]
    for operators in orders.T.astype(np.int32):
        offered = np.empty(shape, np.bool_)
        offer_each(rules, together, operators, offered)
        chosen = np.array([rng.choice(np.flatnonzero(row)) for row in offered], np.int32)
        for s, v in enumerate(operators.tolist()):
            own = np.empty((1, shape[1]), np.bool_)
            offer(rules, alone[s], v, own)
            assert own[0].tolist() == offered[s].tolist()
            put_in(rules, alone[s], v, chosen[[s]])
        put_each(rules, together, operators, chosen)
