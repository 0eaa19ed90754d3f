"""Tests for consolidation: fewer devices, then less traffic, for at most 0.1% of throughput."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reference.random_problems import feasible_placements, random_problem
from benchmarks.reference.strategies import cases
from streamplace import Cluster, Constraints, Placement, Problem, Recipe
from streamplace.placers.budget import Budget
from streamplace.placers.registry import make_placer
from streamplace.placers.search.consolidate import consolidate, fewest_devices, proven_fewest
from streamplace.problem.objective import Model
from streamplace.scoring.flow import flow
from streamplace.scoring.registry import CLOSED_FORMS
from streamplace.scoring.throughput import throughput
from tests.support.graphs import chain_graph
from tests.support.placements import placement_throughput
from tests.support.placers import seeded_rng


def crossing_bits(placement: Placement) -> float:
    """Return the bits/s that cross links."""
    arrays, on = flow(placement.problem), placement.devices
    return float(arrays.stream_bits[on[arrays.source] != on[arrays.target]].sum())


@given(st.sampled_from(CLOSED_FORMS).flatmap(cases))
def test_consolidation_loses_at_most_a_thousandth_of_throughput(
    case: tuple[Problem, list[int]],
) -> None:
    problem, devices = case
    before = Placement(problem, devices)
    after = consolidate(problem, seeded_rng(), [before], Budget(evaluations=3000))
    assert placement_throughput(after) >= 0.999 * placement_throughput(before) * (1 - 1e-9)
    assert len(after.pes) <= len(before.pes)
    if len(after.pes) == len(before.pes):
        assert crossing_bits(after) <= crossing_bits(before) * (1 + 1e-9)


@pytest.mark.parametrize("model", CLOSED_FORMS)
def test_a_graph_that_fits_on_one_device_uses_one(model: Model) -> None:
    problem = Problem(chain_graph(*[1e5] * 6), Cluster.equal(5), model=model)
    scattered = Placement(problem, [0, 1, 2, 3, 4, 0])
    after = consolidate(problem, seeded_rng(), [scattered], Budget(evaluations=10_000))
    assert len(after.pes) == 1


def test_two_devices_are_kept_if_one_is_not_enough() -> None:
    problem = Problem(chain_graph(*[6e5] * 4), Cluster.equal(5, mips=1300.0))
    after = consolidate(
        problem, seeded_rng(), [Placement(problem, [0, 1, 2, 3])], Budget(evaluations=9000)
    )
    assert len(after.pes) == 2
    assert after.devices[0] == after.devices[1] != after.devices[2] == after.devices[3]


def test_constraints_hold_while_devices_are_removed() -> None:
    rules = Constraints(pins={"a": "d3"}, exlocate=[["b", "c"]])
    problem = Problem(chain_graph(*[1e5] * 5), Cluster.equal(5), constraints=rules)
    after = consolidate(
        problem, seeded_rng(), [Placement(problem, [3, 1, 2, 0, 4])], Budget(evaluations=9000)
    )
    assert problem.feasibility.violation(after.devices) is None
    assert len(after.pes) == 2
    assert after.assignment["a"] == "d3"


@pytest.mark.parametrize("model", CLOSED_FORMS)
def test_auto_uses_the_fewest_devices(model: Model) -> None:
    """No placement within a thousandth of the best uses fewer devices."""
    for seed in range(400, 425):
        problem = random_problem(seed, model, 2000)
        rows = np.concatenate(list(feasible_placements(problem)))
        every = throughput(problem, rows)
        good = rows[every >= 0.999 * every.max()]
        fewest = min(len(set(row)) for row in good.tolist())
        found = make_placer("auto:evaluations=20000:prefer=fewest")(problem, seeded_rng())
        assert placement_throughput(found) >= 0.999 * every.max() * (1 - 1e-9)
        assert len(found.pes) == fewest, seed


def test_another_device_is_removed_if_a_pin_keeps_the_least_loaded() -> None:
    problem = Problem(chain_graph(2e5, 1e4), Cluster.equal(5), constraints=Constraints({"b": "d2"}))
    after = consolidate(
        problem, seeded_rng(), [Placement(problem, [0, 2])], Budget(evaluations=9000)
    )
    assert after.assignment == {"a": "d2", "b": "d2"}


def test_an_empty_budget_changes_nothing() -> None:
    problem = Problem(chain_graph(*[1e5] * 5), Cluster.equal(5))
    before = Placement(problem, [0, 1, 2, 3, 4])
    assert consolidate(problem, seeded_rng(), [before], Budget(seconds=0.0)).devices.tolist() == [
        0,
        1,
        2,
        3,
        4,
    ]


def test_the_cheapest_has_fewest_devices_then_least_traffic() -> None:
    problem = Problem(chain_graph(*[1e5] * 4), Cluster.equal(3))
    rows = [[0, 1, 2, 0], [0, 1, 0, 1], [0, 0, 0, 1], [0, 1, 1, 0]]
    found = [Placement(problem, row) for row in rows]
    assert fewest_devices(problem, found).devices.tolist() == [0, 0, 0, 1]


def test_few_devices_are_proven_by_their_capacity() -> None:
    problem = Problem(chain_graph(*[1e5] * 4), "3x2500", source_rate=1e4)  # 1.6 devices of work
    two, three = (Placement(problem, row) for row in ([0, 0, 1, 1], [0, 0, 1, 2]))
    one = Placement(problem, [0, 0, 0, 0])
    assert proven_fewest(problem, [one, three, two]) == 2
    assert proven_fewest(problem, [one, three]) is None, "two may do"
    assert proven_fewest(problem, [one]) is None
    light = Problem(problem.graph, "3x2500", source_rate=1e3)
    assert proven_fewest(light, [Placement(light, [0, 0, 0, 0])]) == 1


def test_auto_with_evaluations_is_deterministic() -> None:
    problem = Problem(Recipe("dream", 1, seed=9).graph(0), source_rate=2e4)
    placer = make_placer("auto:evaluations=5000")
    first, second = (placer(problem, seeded_rng()).devices.tolist() for _ in range(2))
    assert first == second
