"""Fusing of operators into PEs."""

import numpy as np

from streamplace import Constraints, Operator, Problem, Stream, StreamGraph
from streamplace.placers.partition.fuser import Fuser, fuse
from tests.support.graphs import chain_graph

NO_RULES = Constraints()


def test_a_pipeline_is_cut_into_chains_from_its_source() -> None:
    # a opens a chain, which b and c join until it has 6 / 2 = 3 operators; the sink opens the next
    # chain because it is the most prominent operator, and its neighbours e and d join it
    assert fuse(chain_graph(*[1.0] * 6), NO_RULES, 2).tolist() == [0, 0, 0, 1, 1, 1]


def test_the_fuser_counts_operators_not_work_or_bytes() -> None:
    light = fuse(chain_graph(*[1.0] * 6), NO_RULES, 2)
    heavy = fuse(chain_graph(1e9, 1.0, 1.0, 1.0, 1.0, 1.0, payload_bytes=1e9), NO_RULES, 2)
    assert light.tolist() == heavy.tolist()


def test_each_operator_is_alone_with_as_many_pes_as_operators() -> None:
    assert sorted(fuse(chain_graph(*[1.0] * 4), NO_RULES, 4).tolist()) == [0, 1, 2, 3]


def test_a_chain_prefers_operators_that_its_pe_feeds() -> None:
    # target: ceil(7 / 2) = 4 operators. From s the chain takes x, then y (each has one stream from
    # the PE; ties go by the graph's order), then p before z, since p now has two streams from it
    names = ["s", "x", "y", "z", "p", "q", "t"]
    streams = [("s", "x"), ("s", "y"), ("s", "z"), ("x", "p"), ("y", "p"), ("z", "q")]
    streams += [("p", "t"), ("q", "t")]
    graph = StreamGraph(
        [Operator(n, 1.0, 1.0) for n in names], [Stream(a, b) for a, b in streams], source_rate=1.0
    )
    assert fuse(graph, NO_RULES, 2).tolist() == [0, 0, 0, 1, 0, 1, 1]


def test_colocation_and_exlocation_hold_while_pes_fill() -> None:
    graph = chain_graph(*[1.0] * 6)
    rules = Constraints(colocate=[["a", "f"]], exlocate=[["b", "c"]])
    part_of = fuse(graph, rules, 3)
    assert part_of[0] == part_of[5]
    assert part_of[1] != part_of[2]
    placement = Fuser(parts=3)(Problem(graph, constraints=rules), np.random.default_rng(0))
    assert placement.problem.feasibility.violation(placement.devices) is None
