"""Unions of jobs, and their shares: by hand, and by an independent scorer with programs."""

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reference import max_min, oracle
from benchmarks.reference.random_problems import random_problem
from benchmarks.reference.strategies import clusters, graphs
from benchmarks.reference.two_jobs import two_jobs
from streamplace import Cluster, Constraints, Job, Jobs, Operator, Problem, StreamGraph
from streamplace.errors import InfeasibleError
from streamplace.jobs.joint import JointProblem, shared_multicast, union_graph
from streamplace.problem.graph_checks import Firing, Multicast
from streamplace.scoring.flow import flow
from streamplace.sim.closed_form.bottleneck import utilisations
from streamplace.sim.filling import CAPPED
from streamplace.util.arrays import Floats, Ints
from tests.support.graphs import chain_graph
from tests.support.jobs import competing_jobs
from tests.support.share import Share


def by_oracle(joint: JointProblem, devices: Ints) -> Floats:
    """Return the shares by linear programs, from loads in plain Python, (J,)."""
    rows, caps = [], []
    for problem, column in zip(joint.problems, joint.columns, strict=True):
        own = devices[column].tolist()
        on_device, on_link = oracle.utilisations(problem, own)
        rows.append({str(key): float(u) for key, u in (on_device | on_link).items()})
        busiest = map(float, oracle.own_utilisations(problem, own).values())
        caps.append(1.0 / max([1.0, *busiest]))
    names = sorted({name for row in rows for name in row})
    loads = np.array([[row.get(name, 0.0) for name in names] for row in rows])
    _, shares = max_min.shares(loads, np.array(caps), joint.least, joint.weights, joint.classes)
    return shares


@pytest.mark.parametrize("seeds", [range(20), pytest.param(range(20, 500), marks=pytest.mark.long)])
def test_shares_by_an_independent_scorer(seeds: range, share: Share) -> None:
    tried = 0
    for seed in share.of(seeds):
        jobs, cluster = two_jobs(seed)
        try:
            joint = JointProblem(jobs, cluster)
        except InfeasibleError:
            continue
        rng = np.random.default_rng(seed)
        devices = rng.integers(len(cluster.devices), size=len(joint.union.graph.names))
        found = joint.allocation(devices.astype(np.int32))
        assert found.shares == pytest.approx(by_oracle(joint, devices.astype(np.int32)), abs=1e-6)
        tried += 1
    assert tried > len(share.of(seeds)) // 2


def test_one_job_has_the_throughput_of_its_placement() -> None:
    problem = random_problem(5)
    joint = JointProblem(Jobs([Job("a", problem.graph, problem.source_rate)]), problem.cluster)
    devices = np.zeros(len(problem.graph.names), dtype=np.int32)
    alone = oracle.bottleneck(joint.problems[0], devices.tolist()) / problem.source_rate
    assert joint.allocation(devices).shares[0] == pytest.approx(float(alone))


def test_the_target_utilisation_limits_all_jobs_together() -> None:
    joint = JointProblem(competing_jobs(priority=0), Cluster.equal(1), target_utilisation=0.7)
    found = joint.allocation(np.zeros(4, dtype=np.int32))
    assert (found.shares * [0.6, 0.8]).sum() == pytest.approx(0.7)
    assert found.shares[0] == pytest.approx(found.shares[1])
    assert found.limits.tolist() == [0, 0]


def test_an_operator_with_one_core_limits_its_own_job() -> None:
    """Of four cores, the operator can use one, which is full at half of the rate."""
    jobs = Jobs([Job("a", chain_graph(5e6)), Job("b", chain_graph(1e6))])
    found = JointProblem(jobs, Cluster.parse("1x2500x4")).allocation(np.zeros(2, dtype=np.int32))
    assert found.shares == pytest.approx([0.5, 1.0])
    assert found.limits.tolist() == [CAPPED, CAPPED]


def test_jobs_that_are_not_present_load_nothing() -> None:
    joint = JointProblem(competing_jobs(), Cluster.equal(1))
    devices = np.zeros(4, dtype=np.int32)
    assert joint.allocation(devices).shares == pytest.approx([1.0, 0.5])
    assert joint.allocation(devices, np.array([False, True])).shares == pytest.approx([0.0, 1.0])


def test_vectors_of_many_placements_are_those_of_each() -> None:
    jobs, cluster = two_jobs(1)
    joint = JointProblem(jobs, cluster)
    rng = np.random.default_rng(0)
    size = len(joint.union.graph.names)
    rows = rng.integers(len(cluster.devices), size=(50, size)).astype(np.int32)
    rows[10:20, : size // 2] = rows[0, : size // 2]  # as many moves of one job do
    single = np.concatenate([joint.worth(row[None, :]) for row in rows])
    assert (joint.worth(rows) == single).all()


def test_vectors_put_minimums_first_then_priorities() -> None:
    jobs = competing_jobs(min_throughput=500.0)
    joint = JointProblem(jobs, Cluster.equal(1))
    worth = joint.worth(np.zeros((1, 4), dtype=np.int32))[0]
    assert worth[:3] == pytest.approx([1.0, 1.0, 0.5])
    assert not joint.carries_all(worth)
    roomy = JointProblem(jobs, Cluster.equal(2))
    assert roomy.carries_all(roomy.worth(np.array([[0, 0, 1, 1]], dtype=np.int32))[0])


def test_jobs_that_do_not_fit_together_are_refused() -> None:
    graph, _ = chain_graph(1e5).with_numbers(resources={0: {"gpu": 1}})
    cluster = Cluster.equal(1)
    offering = Cluster([type(cluster.devices[0])("d0", 2500, resources={"gpu": 1})])
    JointProblem(Jobs([Job("a", graph)]), offering)
    with pytest.raises(InfeasibleError, match="2 gpu"):
        JointProblem(Jobs([Job("a", graph), Job("b", graph)]), offering)


@given(st.lists(graphs(max_size=5), min_size=1, max_size=3), clusters(), st.data())
def test_loads_add_up(parts: list[StreamGraph], cluster: Cluster, data: st.DataObject) -> None:
    rates = [data.draw(st.integers(1, 20)) * 100.0 for _ in parts]
    firing: Firing = data.draw(st.sampled_from(get_args(Firing)))
    kind: Multicast = data.draw(st.sampled_from(get_args(Multicast)))
    parts = [part.with_numbers(firing=firing, multicast=kind)[0] for part in parts]
    jobs = Jobs(Job(f"j{j}", part, rates[j]) for j, part in enumerate(parts))
    problems = jobs.problems(cluster)
    device = st.integers(0, len(cluster.devices) - 1)
    placed = [np.array([data.draw(device) for _ in part.names]) for part in parts]
    loads = [utilisations(flow(p), row) for p, row in zip(problems, placed, strict=True)]
    union = Problem(union_graph(jobs, rates), cluster)
    on_device, on_link = utilisations(flow(union), np.concatenate(placed))
    assert on_device == pytest.approx(sum(each for each, _ in loads))
    assert on_link == pytest.approx(sum(each for _, each in loads))


def test_constraints_and_names() -> None:
    rules = Constraints(
        pins={"a": "d0"},
        colocate=[["a", "b"]],
        allowed={"b": ["d0", "d1"]},
    )
    graph = chain_graph(1.0, 2.0)
    jobs = Jobs([Job("x", graph, constraints=rules), Job("y", graph)])
    union = union_graph(jobs, [10.0, 0.0])
    assert union.names == ("x/a", "x/b", "y/a", "y/b")
    assert union.constraints == Constraints(
        pins={"x/a": "d0"},
        colocate=[["x/a", "x/b"]],
        allowed={"x/b": ["d0", "d1"]},
    )
    assert union.source_rate == 10.0
    assert union.source_share.tolist() == [1.0, 0.0, 0.0, 0.0]


def test_instances_stay_those_of_one_operator() -> None:
    graph = StreamGraph(
        [Operator("a[0]", 1.0, 1.0, instance_of="a"), Operator("a[1]", 1.0, 1.0, instance_of="a")],
        source_rate=1.0,
    )
    union = union_graph(Jobs([Job("x", graph), Job("y", graph)]), [1.0, 1.0])
    assert union.owners == ("x/a", "x/a", "y/a", "y/a")


def test_memory_is_shared() -> None:
    """Both jobs fit on the device alone, but not together."""
    graph = StreamGraph([Operator("a", 1.0, 1.0, memory_bytes=6e6)], source_rate=1.0)
    jobs = Jobs([Job("x", graph), Job("y", graph)])
    device = replace(Cluster.equal(1).devices[0], memory_bytes=1e7)
    jobs.problems(Cluster([device]))
    with pytest.raises(InfeasibleError, match="memory: the operators need 12 MB"):
        Problem(union_graph(jobs, [1.0, 1.0]), Cluster([device]))


def test_different_multicast_has_no_one_graph() -> None:
    plain = StreamGraph([Operator("a", 1.0, 1.0)], [], source_rate=1.0)
    shared, _ = plain.with_numbers(multicast="all")
    assert shared_multicast(Jobs([Job("x", plain), Job("y", shared)])) is None
    assert shared_multicast(Jobs([Job("x", shared), Job("y", shared)])) == "all"
