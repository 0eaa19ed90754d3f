"""The devices of placed neighbours that decoders read."""

import numpy as np
import torch

from streamplace import Operator, Problem, Stream, StreamGraph
from streamplace.papers.ni2020.policy import Decoder, Ni2020State
from tests.support.policies import (
    batch_of,
    cluster_of,
    policy_of,
)


def ni2020(name: str) -> Decoder:
    """Return one of the published networks."""
    policy = policy_of(name)
    assert isinstance(policy, Decoder)
    return policy


def test_backward_decoders_read_the_devices_of_downstream_operators() -> None:
    """In the order d, a, c, b, the operator b has placed neighbours on both sides."""
    ends = ("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")
    graph = StreamGraph([Operator(n, 1e5, 10.0) for n in "abcd"], [Stream(*pair) for pair in ends])
    policy = ni2020("b+f1&f2, backward")
    encoded = policy.encode(Problem(graph, cluster_of(3), source_rate=100.0))
    assert "".join(graph.names[v] for v in encoded.orders[0]) == "dbca"
    state = Ni2020State(
        policy.batch([encoded.in_order(np.array([3, 0, 2, 1]))]), 1, 3, None, policy.neighbours
    )
    read = []
    for t, device in enumerate((2, 0, 1, 1)):
        read.append(state.placed_neighbours(t).tolist()[0])
        state.take(t, torch.tensor([device]))
    assert read == [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.5, 0.0, 0.5], [0.5, 0.0, 0.5]]
    assert state.placements.tolist() == [[[0, 1, 1, 2]]]


def test_the_decoder_reads_the_devices_of_upstream_operators() -> None:
    """The decoder reads the mean over upstream operators, not over streams."""
    ends = ("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("c", "d")
    rows = [Operator(name, 1e5, 10.0) for name in "abcd"]
    graph = StreamGraph(rows, [Stream(*pair) for pair in ends])
    lone = StreamGraph([Operator("e", 1e5, 10.0)], [])
    policy = ni2020("b")
    batch = batch_of(policy, *(Problem(g, cluster_of(3), source_rate=100.0) for g in (graph, lone)))
    state = Ni2020State(batch, 2, 3, None, policy.neighbours)
    upstream = []
    for t, devices in enumerate(([2, 0, 1, 1], [1, 0], [0, 0], [0, 0])):
        upstream.append(state.placed_neighbours(t).tolist())
        state.take(t, torch.tensor(devices))
    nothing, on_0, on_2 = [0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]
    assert upstream[0] == [nothing] * 4
    assert upstream[1] == upstream[2] == [on_2, on_0]
    assert upstream[3] == [[0.5, 0.5, 0.0], on_0]
    assert state.placements.tolist() == [
        [[2, 1, 0, 0], [0, 0, 0, 0]],
        [[1, -1, -1, -1], [1, -1, -1, -1]],
    ]
