"""Fused graphs: work is conserved, few operators are left, and there is no cycle."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.testbed.passes.third_stage.fusing import fused
from streamplace import Recipe, StreamGraph


@given(seed=st.integers(0, 50), operators=st.integers(4, 30), most=st.integers(1, 20))
def test_fusion_conserves_work(seed: int, operators: int, most: int) -> None:
    """A cycle would be refused by the graph; fusion stops only where every end has company."""
    graph = Recipe("layered", 1, range(operators, operators + 1), seed).graph(0)
    small = fused(graph, most)
    assert small.instructions.sum() == pytest.approx(graph.instructions.sum(), rel=1e-9)
    assert set(small.names) <= set(graph.names)
    if len(small.names) > most:
        outputs, inputs = (np.bincount(x) for x in (small.stream_source, small.stream_target))
        pairs = zip(small.stream_source, small.stream_target, strict=True)
        assert all(outputs[v] > 1 and inputs[w] > 1 for v, w in pairs)
    assert len(fused(graph, operators).names) == operators


def test_an_output_for_two_operators_of_a_group_is_sent_once() -> None:
    """The two light consumers of a become one operator, and then send one message each."""
    ends = [(0, 1), (0, 2), (1, 2), (2, 3)]
    sizes = [5.0, 5.0, 1.0, 7.0]
    graph = StreamGraph.from_columns(
        "abcd", [9, 1, 2, 9], [0] * 4, ends, stream_payload_bytes=sizes, firing="all"
    )
    small = fused(graph, 3)
    assert small.names == ("a", "b", "d")
    assert small.instructions.tolist() == [9, 3, 9]
    assert sorted(small.stream_payload_bytes.tolist()) == [5.0, 7.0]
