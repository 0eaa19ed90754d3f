"""Coarsening: groups have the weights of their members and respect constraints."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reference.random_problems import every_placement, random_problem
from benchmarks.reference.strategies import problems
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import compiled
from streamplace.scoring.flow import flow
from streamplace.sim.closed_form.bottleneck import utilisations
from streamplace.sim.search import coarsened, inseparable, joined, joined_alike, search_state
from streamplace.sim.work import own_utilisations
from tests.support.graphs import chain_graph, preset_graph


@given(problems(max_size=12, shared=True), st.integers(1, 6), st.randoms(use_true_random=False))
def test_groups_have_the_loads_of_their_members(
    problem: Problem, fewest: int, random: object
) -> None:
    instance = compiled(problem).instance
    group = joined(instance, instance.tuples + instance.bits, np.inf, fewest)
    coarse = coarsened(instance, group)
    count, devices = len(coarse.work), len(problem.cluster.devices)
    assert sorted(set(group.tolist())) == list(range(count))
    assert count >= min(fewest, len(group))
    on = np.array([random.randrange(devices) for _ in range(count)], np.int32)  # type: ignore[attr-defined]
    expected = np.concatenate(utilisations(flow(problem), on[group]))
    load = search_state(coarse, on).load * instance.reference
    assert np.allclose(load[: len(expected)], expected, rtol=1e-9, atol=1e-12)
    own = own_utilisations(flow(problem), on[group])
    largest = [own[group == g].max() for g in range(count)] if instance.limits_operators else []
    assert np.allclose(load[len(expected) :], largest, rtol=1e-9, atol=1e-12)
    for k in range(instance.needs.shape[1]):
        used = np.bincount(on[group], instance.needs[:, k])
        assert np.allclose(np.bincount(on, coarse.needs[:, k]), used)
    for g in range(count):
        members = coarse.member[coarse.first_member[g] : coarse.first_member[g + 1]]
        assert sorted(members.tolist()) == np.flatnonzero(group == g).tolist()


def test_a_group_joins_its_heaviest_streams_first() -> None:
    """In a -> b -> c with a heavy first stream, b joins a."""
    problem = Problem(chain_graph(1e5, 1e5, 1e5, payload_bytes=1000.0), Cluster.equal(2))
    instance = compiled(problem).instance
    traffic = np.where(
        np.minimum(instance.other, np.repeat([0, 1, 2], np.diff(instance.first_end))) == 0, 9.0, 1.0
    )
    assert joined(instance, traffic, np.inf, 2).tolist() in ([0, 0, 1], [1, 1, 0])


@pytest.mark.parametrize("preset", ["layered", "series-parallel"])
def test_groups_respect_the_weight_limit(preset: str) -> None:
    problem = Problem(preset_graph(preset, 2000, 4), source_rate=1e4)
    instance = compiled(problem).instance
    heaviest = instance.work.sum() / 100
    assert instance.work.max() < heaviest
    for _ in range(6):
        group = joined(instance, instance.bits, heaviest, 10)
        instance = coarsened(instance, group)
    assert instance.work.max() <= heaviest * (1 + 1e-12)
    assert 100 <= len(instance.work) < 400


def test_units_with_different_constraints_are_not_joined() -> None:
    constraints = Constraints(pins={"a": "d0"}, exlocate=[["c", "d"]])
    problem = Problem(chain_graph(*[1e5] * 6), Cluster.equal(3), constraints=constraints)
    instance = compiled(problem).instance
    group = joined(instance, instance.bits, np.inf, 1)
    a, b, c, d, e, f = group.tolist()
    assert e == f
    assert len({a, b, c, d, e}) == 5
    coarse = coarsened(instance, group)
    rivals = coarse.rival[coarse.first_rival[c] : coarse.first_rival[c + 1]]
    assert rivals.tolist() == [d]
    assert coarse.allowed[coarse.row_of[a]].tolist() == [True, False, False]


def test_no_placement_with_lower_loads_parts_inseparable_units() -> None:
    """Every placement of small random problems is tried, at the load of each as the limit."""
    parted = 0
    for seed in range(40):
        problem = random_problem(seed, max_placements=500)
        instance = compiled(problem).instance
        first_of = problem.feasibility.first_of
        for row in np.concatenate(list(every_placement(problem))):
            on = row[first_of]
            if (on[problem.feasibility.unit_of] != row).any():
                continue  # it parts the members of a unit
            top = search_state(instance, on).load.max()
            group = inseparable(instance, top * (1.0 + 1e-9))
            for g in range(group.max() + 1):
                assert len(set(on[group == g].tolist())) == 1, (seed, row)
            parted += int(group.max()) + 1 < len(group)
    assert parted > 100


def test_joined_alike_keeps_masks_and_rivals_apart() -> None:
    graph = chain_graph(*[1.0] * 6)
    names = list(graph.names)
    constraints = Constraints(exlocate=[names[3:5]], allowed={names[1]: ["d0", "d1"]})
    problem = Problem(graph, Cluster.equal(3), constraints=constraints)
    parts = joined_alike(compiled(problem).instance, np.zeros(6, np.int32))
    assert len(set(parts.tolist())) == 4
    assert all(np.count_nonzero(parts == parts[v]) == 1 for v in (1, 3, 4))
