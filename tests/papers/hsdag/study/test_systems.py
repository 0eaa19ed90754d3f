"""Groups that are not learned: by heavy edges, by METIS, and kept together by searches."""

from itertools import pairwise

import numpy as np
import pytest

import streamplace as sp
from benchmarks.reference.graph_parsing import merged
from streamplace.papers.hsdag.features import HsdagProblem, encode
from streamplace.papers.hsdag.graphs import disjoint_union
from streamplace.papers.hsdag.sizes import HsdagSizes
from streamplace.papers.hsdag.study.registered import METIS_GROUPS, network_problem
from streamplace.papers.hsdag.study.systems import FIXED, Fixed, heavy_edge_groups, kept_together
from streamplace.placers.registry import make_placer
from streamplace.problem.grouping import Grouping
from streamplace.util.arrays import Ints
from tests.support.hsdag import pass_problem


def _encoded(problem: sp.Problem) -> HsdagProblem:
    return encode(problem, HsdagSizes())


def _sets(group_of: Ints) -> set[frozenset[int]]:
    numbers = range(int(group_of.max()) + 1)
    return {frozenset(np.flatnonzero(group_of == g).tolist()) for g in numbers}


@pytest.mark.parametrize("seed", range(4))
def test_heavy_edge_groups_are_those_of_the_plain_parser(seed: int) -> None:
    one = _encoded(pass_problem(60, seed))
    ends = [(int(a), int(b)) for a, b in one.graph.ends]
    plain = merged(one.graph.vertices, ends, one.graph.traffic.tolist(), one.least)
    assert _sets(heavy_edge_groups(one)) == {frozenset(group) for group in plain}


def _two_heavy_pairs() -> sp.Problem:
    """Return a ring-like pass in which two pairs of operators exchange nearly all bytes."""
    names = [f"o{v}" for v in range(6)]
    ends = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (3, 5), (1, 4), (2, 5)]
    large = {(0, 1), (2, 5)}
    payload = [1e6 if pair in large else 1.0 for pair in ends]
    graph = sp.StreamGraph.from_columns(
        names, np.full(6, 1e6), np.ones(6), np.array(ends), stream_payload_bytes=np.array(payload)
    )
    network = sp.Network("pair", bandwidth_mbps=500.0)
    cluster = sp.Cluster([sp.Device("a", 4000.0), sp.Device("b", 1500.0)], network)
    return sp.Problem(graph, cluster, objective=sp.Makespan())


def test_planted_heavy_edges_are_within_groups() -> None:
    problem = _two_heavy_pairs()
    one = encode(problem, HsdagSizes(chains=False, min_groups=1))
    for groups_of in FIXED.values():
        group_of = groups_of(one)[one.grouping.group_of]
        assert group_of[0] == group_of[1]
        assert group_of[2] == group_of[5]


def test_metis_makes_at_most_as_many_groups() -> None:
    one = _encoded(network_problem("inception-v3"))
    group_of = FIXED[METIS_GROUPS](one)
    counts = np.bincount(group_of)
    assert counts.all()
    assert len(counts) <= heavy_edge_groups(one).max() + 1
    assert len(group_of) == one.graph.vertices


def test_fixed_groups_are_repeated_for_copies_of_the_graph() -> None:
    one = _encoded(pass_problem(20))
    group_of = heavy_edge_groups(one)
    count = int(group_of.max()) + 1
    copies = disjoint_union([one.graph] * 3)
    made = Fixed(group_of)(copies, np.zeros(3, np.int32), None)
    expected = np.concatenate([group_of + k * count for k in range(3)])
    assert made.tolist() == expected.tolist()


def test_searches_keep_groups_together() -> None:
    problem = pass_problem(20)
    group_of = np.arange(20, dtype=np.int32) // 4
    smaller = kept_together(problem, Grouping(problem.graph, group_of))
    assert smaller is not None
    for placer in ("climb:evaluations=300", "search:evaluations=300"):
        devices = make_placer(placer)(smaller, np.random.default_rng(0)).devices
        for a, b in pairwise(range(20)):
            assert devices[a] == devices[b] or group_of[a] != group_of[b]


def test_groups_too_large_for_every_device_have_no_problem() -> None:
    graph = pass_problem(12).graph.with_numbers(memory_bytes=np.full(12, 1e6))[0]
    cluster = sp.Cluster([sp.Device(name, 1000.0, memory_bytes=7e6) for name in "ab"])
    problem = sp.Problem(graph, cluster, objective=sp.Makespan())
    assert kept_together(problem, Grouping(graph, np.zeros(12, np.int32))) is None
    assert kept_together(problem, Grouping(graph, np.arange(12) // 6)) is not None
