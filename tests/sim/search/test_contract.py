"""Contraction: groups weigh what their members weigh, wherever they are placed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reference.strategies import problems
from sim.bottleneck import utilisations
from sim.search import contracted, joined, world
from streamplace.cluster import Cluster
from streamplace.constraints import Constraints
from streamplace.flows import flow
from streamplace.generate import Recipe
from streamplace.instances import instance_of
from streamplace.problem import Problem
from tests.placers.jobs import pipeline


@given(problems(max_size=12), st.integers(1, 6), st.randoms(use_true_random=False))
def test_groups_load_what_their_members_load(problem: Problem, fewest: int, random: object) -> None:
    job = instance_of(problem)
    group = joined(job, job.tuples + job.bits, np.inf, fewest)
    coarse = contracted(job, group)
    count, devices = len(coarse.work), len(problem.cluster.devices)
    assert sorted(set(group.tolist())) == list(range(count))
    assert count >= min(fewest, len(group))
    on = np.array([random.randrange(devices) for _ in range(count)], np.int32)  # type: ignore[attr-defined]
    expected = np.concatenate(utilisations(flow(problem), on[group]))
    assert np.allclose(world(coarse, on).load * job.reference, expected, rtol=1e-9, atol=1e-12)
    assert np.allclose(np.bincount(on, coarse.memory), np.bincount(on[group], job.memory))
    for g in range(count):
        members = coarse.member[coarse.first_member[g] : coarse.first_member[g + 1]]
        assert sorted(members.tolist()) == np.flatnonzero(group == g).tolist()


def test_a_group_joins_its_heaviest_streams_first() -> None:
    """Of a -> b -> c with a heavy and a light stream, b goes with a."""
    problem = Problem(pipeline(1e5, 1e5, 1e5, payload_bytes=1000.0), Cluster.equal(2))
    job = instance_of(problem)
    traffic = np.where(
        np.minimum(job.other, np.repeat([0, 1, 2], np.diff(job.first_end))) == 0, 9.0, 1.0
    )
    assert joined(job, traffic, np.inf, 2).tolist() in ([0, 0, 1], [1, 1, 0])


@pytest.mark.parametrize("preset", ["layered", "series-parallel"])
def test_no_group_is_heavier_than_told(preset: str) -> None:
    problem = Problem(Recipe(preset, 1, range(2000, 2001), 4).graph(0), source_rate=1e4)
    job = instance_of(problem)
    heaviest = job.work.sum() / 100
    assert job.work.max() < heaviest
    for _ in range(6):
        group = joined(job, job.bits, heaviest, 10)
        job = contracted(job, group)
    assert job.work.max() <= heaviest * (1 + 1e-12)
    assert 100 <= len(job.work) < 400


def test_units_that_constraints_tell_apart_stay_apart() -> None:
    rules = Constraints(pins={"a": "d0"}, exlocate=[["c", "d"]])
    problem = Problem(pipeline(*[1e5] * 6), Cluster.equal(3), constraints=rules)
    job = instance_of(problem)
    group = joined(job, job.bits, np.inf, 1)
    a, b, c, d, e, f = group.tolist()
    assert e == f
    assert len({a, b, c, d, e}) == 5
    coarse = contracted(job, group)
    rivals = coarse.rival[coarse.first_rival[c] : coarse.first_rival[c + 1]]
    assert rivals.tolist() == [d]
    assert coarse.allowed[coarse.row_of[a]].tolist() == [True, False, False]
