"""The vectors of operators against plain numpy."""

import numpy as np
import pytest

import streamplace as sp
from benchmarks.reference import rnn as plain
from streamplace.scoring.orders import traversal_order
from tests.support.rnn import VARIANTS, giph_problem, rnn


def test_vectors_equal_the_plain_ones() -> None:
    problem = giph_problem(1)
    for sizes in VARIANTS:
        policy = rnn(**sizes)
        config = policy.config
        order = traversal_order(problem, config.order).tolist()
        rows = plain.vectors(problem, order, config.labels, config.out_streams, config.operators)
        assert policy.encode(problem).sequence == pytest.approx(np.array(rows), abs=1e-6)


def test_vectors_follow_another_order() -> None:
    problem, policy = giph_problem(), rnn()
    order = traversal_order(problem, "reversed-topo-level")
    config = policy.config
    rows = plain.vectors(
        problem, order.tolist(), config.labels, config.out_streams, config.operators
    )
    again = policy.encode(problem).in_order(order)
    assert again.sequence == pytest.approx(np.array(rows), abs=1e-6)


def test_equal_streams_are_separate_outputs_of_one_neighbour() -> None:
    """The operator b processes twice as many tuples as a."""
    rows = [sp.Operator("a", 2e5, 100.0), sp.Operator("b", 5e4, 10.0)]
    streams = [sp.Stream("a", "b", payload_bytes=50.0), sp.Stream("a", "b")]
    problem = sp.Problem(sp.StreamGraph(rows, streams), "2x1000", source_rate=100.0)
    policy = rnn(devices=2, operators=3, out_streams=2, labels=[])
    assert policy.encode(problem).sequence.tolist() == [
        [1.0, 1.0, 0.5, 0.0, 1.0, 0.0],
        [0.5, 0.0, 0.0, 0.0, 0.0, 0.0],
    ]
