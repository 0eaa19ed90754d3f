"""Unions of jobs: the loads are the sums of those of the jobs, and constraints hold for each."""

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reference.strategies import clusters, graphs
from streamplace import Cluster, Constraints, Job, Jobs, Operator, Problem, StreamGraph
from streamplace.errors import InfeasibleError
from streamplace.problem.graph_checks import Firing, Multicast
from streamplace.scoring.flow import flow
from streamplace.scoring.joint import shared_multicast, union_graph
from streamplace.sim.closed_form.bottleneck import utilisations
from tests.support.graphs import chain_graph


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
