"""Tests of the memory that outputs occupy during a pass, and of the penalty for it."""

import numpy as np
import pytest

import streamplace as sp
from streamplace.makespan.evaluator import MakespanEvaluator
from streamplace.papers.placeto.peak_memory import PenalisedEvaluator, peak_bytes, penalised
from streamplace.scoring.registry import evaluator

ONE = [sp.Device("x", 1.0), sp.Device("y", 1.0)]


def chain() -> MakespanEvaluator:
    """Return a -> b -> c, 1 s each, with outputs of 8, 4 and 2 GB, on links without cost."""
    rows = [("a", 1e6, 8e9), ("b", 1e6, 4e9), ("c", 1e6, 2e9)]
    graph = sp.StreamGraph(rows, [("a", "b"), ("b", "c")])
    network = sp.Network("free", bandwidth_mbps=None, latency_s=0.0)
    problem = sp.Problem(graph, sp.Cluster(ONE, network), objective=sp.Makespan())
    made = evaluator(problem)
    assert isinstance(made, MakespanEvaluator)
    return made


@pytest.mark.parametrize(
    ("devices", "gigabytes"),
    [
        ([0, 0, 0], 12.0),  # a's output is held until b has run, next to b's
        ([0, 1, 0], 8.0),
        ([0, 1, 1], 8.0),
        ([1, 0, 0], 8.0),
    ],
)
def test_outputs_are_held_until_their_last_reader_has_run(
    devices: list[int], gigabytes: float
) -> None:
    scored, row = chain(), np.array(devices, np.int32)
    trace = scored.trace(row)
    peak = peak_bytes(scored, row, trace.start_s[0], trace.finish_s[0])
    assert peak == pytest.approx(gigabytes * 1e9)


def test_the_penalty_is_added_to_the_logarithm_and_limited() -> None:
    scored, rows = chain(), np.array([[0, 0, 0], [0, 1, 0]], np.int32)
    plain = scored.loss(rows)
    costly = penalised(scored, 0.5, 8.0).loss(rows)
    np.testing.assert_allclose(costly, plain * np.exp([0.5 * 4.0, 0.0]))
    assert penalised(scored, 5.0, 8.0).loss(rows)[0] == pytest.approx(np.exp(10.0))


def test_without_a_penalty_the_evaluator_stays() -> None:
    scored = chain()
    assert penalised(scored, 0.0, 8.0) is scored
    assert isinstance(penalised(scored, 1.0, 8.0), PenalisedEvaluator)


def test_a_penalty_under_throughput_is_refused() -> None:
    graph = sp.StreamGraph([("a", 1.0, 1.0)], [])
    scored = evaluator(sp.Problem(graph, source_rate=1.0))
    with pytest.raises(sp.StreamplaceError, match="memory_penalty: only a makespan"):
        penalised(scored, 1.0, 8.0)
