"""Partial placements in one decoding order, with chosen and forced devices."""

import numpy as np
import torch

from streamplace.learning.policy.graph_batch import EncodedGraph, GraphBatch
from streamplace.papers.one_order import OneOrderState
from streamplace.problem.symmetry import interchangeable
from streamplace.scoring.flow import flow
from tests.support.stages import small_problems


def batch_of(*sizes: int) -> GraphBatch[EncodedGraph]:
    """Return problems of some numbers of operators, placed in the order of their numbers."""
    encoded = [
        EncodedGraph(
            one,
            flow(one),
            interchangeable(one),
            np.arange(len(one.graph.names), dtype=np.int32)[None],
        )
        for size in sizes
        for one in small_problems()
        if len(one.graph.names) == size
    ]
    return GraphBatch(encoded[: len(sizes)])


def test_forced_devices_replace_chosen_ones() -> None:
    largest = max(len(one.graph.names) for one in small_problems())
    batch = batch_of(largest)
    forced = np.full((1, 2, largest), -1, np.int32)
    forced[0, 1, 0] = 2
    state = OneOrderState(batch, 2, 3, forced)
    assert state.last(0).tolist() == [[0.0] * 3] * 2
    assert state.take(0, torch.tensor([1, 1])).tolist() == [1, 2]
    assert state.last(1).tolist() == [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    assert state.placements[0, :, 0].tolist() == [1, 2]
    assert (state.placements[0, :, 1:] == -1).all()
    assert state.operators(1).tolist() == [1, 1]
