"""Sharded tensor operations: FLOPs and bytes against numpy."""

from collections import Counter

import numpy as np
import pytest

from streamplace.papers.doppler.families.builder import ShardedGraph, Tensor, interval, part_at
from tests.support.graphs import flops


def test_an_einsum_has_the_flops_and_bytes_of_its_numpy_blocks() -> None:
    graph = ShardedGraph()
    first = graph.map("first", "relu", (Tensor.input("x", 7, 5),), (2, 1))
    weights = graph.map("weights", "relu", (Tensor.input("w", 5, 4),), (1, 1))
    graph.einsum("y", "ij,jk->ik", (first, weights), {"i": 3, "j": 2})
    built = graph.graph("g")
    x, w = np.ones((7, 5), np.float32), np.ones((5, 4), np.float32)
    rows, inner = [slice(0, 2), slice(2, 4), slice(4, 7)], [slice(0, 2), slice(2, 5)]
    received = Counter[str]()
    for target, size in zip(built.stream_target, built.stream_payload_bytes, strict=True):
        received[built.names[target]] += int(size)
    number = 0
    for i in rows:
        for j in inner:
            name = f"y_{number}"
            v = built.index[name]
            assert built.instructions[v] == 2 * x[i, j].size * w[j].shape[1]
            assert built.output_shape[v] == (x[i, j] @ w[j]).shape
            assert received[name] == x[i, j].nbytes + w[j].nbytes
            number += 1
    # x is in the rows 0-2 and 3-6, so that rows 2-3 come from both of its blocks
    formations = [v for v, kind in built.type.items() if kind == "formation"]
    assert [built.output_shape[v] for v in formations] == [(2, 2), (2, 3)]
    assert [built.instructions[v] for v in formations] == [4.0, 6.0]
    assert [received[built.names[v]] for v in formations] == [x[2:4, :2].nbytes, x[2:4, 2:].nbytes]
    sums = [v for v, kind in built.type.items() if kind == "sum"]
    assert [built.instructions[v] for v in sums] == [x[i].shape[0] * 4 for i in rows]


def test_reductions_and_broadcasts_follow_numpy() -> None:
    graph = ShardedGraph()
    x = graph.map("x", "relu", (Tensor.input("i", 4, 6),), (2, 2))
    largest = graph.reduce("max", "max", x, (2, 2))
    graph.map("shift", "subtract", (x, largest), (2, 2))
    built = graph.graph("g")
    assert largest.shape == np.ones((4, 6)).max(axis=1, keepdims=True).shape
    assert flops(built, "max") == 4 * 6 + 4  # maxima of parts, and of the two parts of each row
    assert flops(built, "subtract") == 4 * 6


@pytest.mark.parametrize(("size", "parts"), [(10, 3), (7, 7), (11_008, 37), (5, 1)])
def test_every_position_is_in_its_part(size: int, parts: int) -> None:
    for position in range(size):
        start, end = interval(size, parts, part_at(size, parts, position))
        assert start <= position < end


def test_an_einsum_refuses_an_index_of_two_sizes() -> None:
    a, b = Tensor.input("a", 2, 3), Tensor.input("b", 4, 2)
    with pytest.raises(ValueError, match="ab: 'j' has the sizes 3 and 4"):
        ShardedGraph().einsum("ab", "ij,jk->ik", (a, b), {})
