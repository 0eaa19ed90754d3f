"""Flows: derived quantities, and refusal of invalid columns."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray

from benchmarks.reference import oracle
from benchmarks.reference.strategies import problems
from streamplace.problem.cluster import Cluster, LinkOverride, Network
from streamplace.problem.graph import Operator, StreamGraph
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow as flow_of
from streamplace.sim.flow import Flow, as_rows, checked


def diamond(**changes: Any) -> Flow:
    """Return 0 -> 1, 0 -> 2 (selectivity 0.5), 1 -> 3 (selectivity 3), 2 -> 3."""
    columns: dict[str, Any] = {
        "source_tuples": np.array([100.0, 0.0, 0.0, 0.0]),
        "instructions": np.array([1.0, 2.0, 4.0, 8.0]),
        "source": np.array([0, 0, 1, 2], np.int32),
        "target": np.array([1, 2, 3, 3], np.int32),
        "selectivity": np.array([1.0, 0.5, 3.0, 1.0]),
        "bits": np.array([8.0, 8.0, 16.0, 32.0]),
        "capacity": np.array([1e3, 2e3]),
        "cores": np.array([1.0, 2.0]),
        "nic": False,
        "gap_s": np.zeros(4),
        "seconds_per_bit": np.full(4, 1e-6),
        "overhead_s": np.zeros(4),
    }
    return Flow(**(columns | changes))


def test_derived_rates_by_hand() -> None:
    flow = diamond()
    assert (flow.operators, flow.devices, flow.source_rate) == (4, 2, 100.0)
    assert flow.operator_tuples.tolist() == [100.0, 100.0, 50.0, 350.0]
    assert flow.stream_tuples.tolist() == [100.0, 50.0, 300.0, 50.0]
    assert flow.stream_bits.tolist() == [800.0, 400.0, 4800.0, 1600.0]
    assert flow.work.tolist() == [100.0, 200.0, 200.0, 2800.0]
    assert flow.sinks.tolist() == [3]
    assert flow.nominal_sink_tuples == 350.0
    assert repr(flow) == "Flow(4 operators, 4 streams, 2 devices)"


def test_columns_match_the_flow_by_name() -> None:
    flow = diamond()
    for name, column in flow.columns._asdict().items():
        np.testing.assert_array_equal(column, getattr(flow, name))


@given(problems())
def test_rates_agree_with_the_oracle(problem: Problem) -> None:
    rates = oracle.operator_rates(problem)
    expected = [float(rates[name]) for name in problem.graph.names]
    np.testing.assert_allclose(flow_of(problem).operator_tuples, expected, rtol=1e-12)


NOTHING, NO_STREAMS = np.zeros(0), np.zeros(0, np.int32)

FAULTS = {
    "short": ({"bits": np.ones(3)}, r"bits must be \(4,\) float64, not \(3,\)"),
    "2-D": ({"source_tuples": np.ones((4, 1))}, r"source_tuples must be \(4,\) float64"),
    "links": ({"gap_s": np.zeros(2)}, r"gap_s must be \(4,\)"),
    "nic links": ({"nic": True, "capacity": np.ones(3), "cores": np.ones(3)}, r"\(6,\) float64"),
    "float ends": ({"source": np.array([0.0, 0, 1, 2])}, r"source must be \(4,\) int32"),
    "long ends": ({"target": np.array([1, 2, 3, 3])}, r"target must be \(4,\) int32"),
    "integers": ({"instructions": np.ones(4, int)}, r"instructions must be \(4,\) float64"),
    "nan": ({"selectivity": np.array([1, np.nan, 1, 1])}, "selectivity must be finite"),
    "inf": ({"seconds_per_bit": np.full(4, np.inf)}, "seconds_per_bit must be finite"),
    "negative": ({"overhead_s": np.full(4, -1e-9)}, "overhead_s must be finite and at least 0"),
    "negative end": ({"source": np.array([-1, 0, 1, 2], np.int32)}, "source must be finite and at"),
    "no operator": ({"target": np.array([1, 2, 3, 4], np.int32)}, "must be operator indices"),
    "no speed": ({"capacity": np.array([1.0, 0.0])}, "capacity must be above 0"),
    "no cores": ({"cores": np.array([0.0, 1.0])}, "cores must be above 0"),
    "no devices": (
        dict.fromkeys(("capacity", "cores", "gap_s", "seconds_per_bit", "overhead_s"), NOTHING),
        "at least one operator and one device",
    ),
    "no operators": (
        dict.fromkeys(("source_tuples", "instructions", "selectivity", "bits"), NOTHING)
        | {"source": NO_STREAMS, "target": NO_STREAMS},
        "at least one operator and one device",
    ),
    "order": (
        {"source": np.array([1, 2, 0, 0], np.int32), "target": np.array([3, 3, 1, 2], np.int32)},
        "stream 2 enters an operator that has already emitted",
    ),
    "cycle": ({"target": np.array([1, 2, 3, 0], np.int32)}, "stream 3 enters an operator"),
    "loop": ({"target": np.array([0, 2, 3, 3], np.int32)}, "stream 0 enters an operator"),
}


@pytest.mark.parametrize(("changes", "message"), FAULTS.values(), ids=FAULTS.keys())
def test_invalid_columns_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        diamond(**changes)


@pytest.mark.parametrize(
    ("network", "fits"),
    [
        (Network(), True),
        (Network(bandwidth_mbps=None, latency_s=1.0), True),
        (Network(overrides=(LinkOverride("d0", "d1", bandwidth_mbps=10.0),)), True),
        (Network(gap_s=1e-6), True),
        (Network(gap_s=1e-6, overrides=(LinkOverride("d0", "d1", gap_s=2e-6),)), False),
        (Network(gap_s=1e-6, overrides=(LinkOverride("d0", "d1", bandwidth_mbps=1.0),)), False),
        (Network(overhead_s=1e-6), False),
        (Network(overrides=(LinkOverride("d0", "d1", overhead_s=1e-6),)), False),
        (Network("nic"), False),
    ],
)
def test_the_fast_kernel_supports_these_networks(network: Network, fits: bool) -> None:
    graph = StreamGraph([Operator("a", 1, 1)], [])
    flow = flow_of(Problem(graph, Cluster.equal(3, network=network), source_rate=1.0))
    assert (flow.pair_weights is not None) == fits


@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "u4", "i8", "u8", ">i4", ">u8"])
def test_placements_of_any_integer_type(kind: str) -> None:
    placements = np.array([[0, 1, 0, 1], [1, 1, 0, 0]], kind)
    for rows in (placements, np.asfortranarray(placements), placements[:, ::-1][:, ::-1]):
        taken = checked(diamond(), rows)
        assert taken.dtype == np.int32
        assert taken.flags.c_contiguous
        assert taken.tolist() == placements.tolist()
    assert checked(diamond(), placements[0]).tolist() == [placements[0].tolist()]
    assert as_rows(diamond(), placements[:0]).shape == (0, 4)


@pytest.mark.parametrize(
    "placements",
    [np.zeros((1, 4)), np.zeros((1, 4), bool), np.zeros(3, int), np.zeros((1, 1, 4), int)],
    ids=["floats", "booleans", "short", "3-D"],
)
def test_arrays_of_other_types_or_shapes_are_refused(placements: NDArray[Any]) -> None:
    with pytest.raises(ValueError, match=r"integers of shape \(K, 4\)"):
        checked(diamond(), placements)


@pytest.mark.parametrize("device", [-1, 2, 2**32])
def test_unknown_devices_do_not_wrap_around(device: int) -> None:
    with pytest.raises(ValueError, match=r"outside 0\.\.1"):
        checked(diamond(), np.array([[0, 0, 0, 0], [0, 0, 0, device]]))
