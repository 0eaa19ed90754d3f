"""Measured costs and selectivities."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import streamplace as sp
from streamplace.control.costs import measured_graph
from streamplace.control.observation import Observation, Reading
from tests.support.control import measured, observed

MIPS = {"a": 1000.0, "b": 2000.0, "c": 4000.0}


def diamond(work: list[float], selectivity: list[float], scaling: float = 0.0) -> sp.StreamGraph:
    """Return a source, two operators that each receive from it, and a sink that joins them."""
    names = ["read", "left", "right", "join"]
    operators = [
        sp.Operator(name, each, 10.0, scaling={"sigma": scaling} if scaling else {})
        for name, each in zip(names, work, strict=True)
    ]
    ends = [("read", "left"), ("read", "right"), ("left", "join"), ("right", "join")]
    return sp.StreamGraph(
        operators, [sp.Stream(*pair, s) for pair, s in zip(ends, selectivity, strict=True)]
    )


def cluster(cores: int = 64) -> sp.Cluster:
    return sp.Cluster([sp.Device(name, mips, cores=cores) for name, mips in MIPS.items()])


@given(
    st.lists(st.floats(1e3, 1e7), min_size=4, max_size=4),
    st.lists(st.floats(0.1, 4.0), min_size=4, max_size=4),
    st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=3), min_size=4, max_size=4),
)
def test_the_measured_graph_is_the_one_that_ran(
    work: list[float], selectivity: list[float], on: list[list[str]]
) -> None:
    truth, guess = diamond(work, selectivity), diamond([1.0] * 4, [s * 0.5 for s in selectivity])
    hosts = {name: tuple(each) for name, each in zip(truth.names, on, strict=True)}
    window = measured(truth, cluster(), hosts, 100.0)
    total = sum(reading.busy * reading.instances for reading in window.readings.values())
    found = measured_graph(guess, cluster(int(total) + 1), window)
    assert found.instructions == pytest.approx(truth.instructions)
    assert found.selectivity == pytest.approx(truth.selectivity)


def test_waiting_for_a_core_is_no_cost() -> None:
    """Four busy threads on two cores: each computes half of the time."""
    chain = sp.StreamGraph(
        [sp.Operator("decode", 1.0, 0.0), sp.Operator("count", 1.0, 0.0)],
        [sp.Stream("decode", "count")],
    )
    hosts = {"decode": ("a", "a", "a"), "count": ("a",)}
    readings = {name: Reading(500.0, 1.0, 1.0, 0.0, len(on)) for name, on in hosts.items()}
    window = replace(observed(1.0, hosts=hosts), readings=readings)
    found = measured_graph(chain, cluster(cores=2), window)
    # decode: 3 threads at half of 1,000 MIPS for 500 tuples/s
    assert found.instructions == pytest.approx([3e6, 1e6])
    alone = measured_graph(chain, cluster(cores=4), window)
    assert alone.instructions == pytest.approx([6e6, 2e6])


def test_uneven_instances_are_busy_in_proportion_to_their_tuples() -> None:
    """200 busy ms per second for 400 tuples/s: 0.5 ms per tuple, three quarters of them on b."""
    chain = sp.StreamGraph(
        [sp.Operator("decode", 1.0, 0.0), sp.Operator("count", 1.0, 0.0)],
        [sp.Stream("decode", "count")],
    )
    hosts = {"decode": ("a",), "count": ("a", "b")}
    readings = {
        "decode": Reading(400.0, 0.1, 0.1, 0.0, 1),
        "count": Reading(400.0, 0.1, 0.15, 0.0, 2, shares=(0.25, 0.75)),
    }
    window = replace(observed(0.15, hosts=hosts), readings=readings)
    found = measured_graph(chain, cluster(), window)
    # a millisecond is 1e6 instructions on a and 2e6 on b, and work is the same per tuple
    assert found.instructions[1] == pytest.approx(0.2 / 400 / (0.25 / 1e9 + 0.75 / 2e9))


def test_busy_time_that_is_not_measured_changes_no_cost() -> None:
    window = replace(counts(1.0), not_timed={"decode": "busy time"})
    found = measured_graph(two(1.0), cluster(), window)
    assert found.instructions[0] == 1e5
    assert found.instructions[1] != 1e5


@pytest.mark.parametrize(
    ("busy", "error", "expected_ms"),
    [
        (0.5, 5 / 300, 0.5),  # a whole window: as measured
        (0.5, 0.25, 0.45),  # 20 s: 0.25 ms at least, and from there four fifths of the way
        (0.02, 0.25, 0.199),  # hardly any work: the former 0.2 ms stay, which are possible
        (0.02, 0.05, 0.0631),  # but not where more than 0.07 ms are impossible
        (0.0, 0.05, 0.05),
    ],
)
def test_a_window_moves_a_cost_as_far_as_its_busy_time_is_known(
    busy: float, error: float, expected_ms: float
) -> None:
    """Of the 1,000 tuples/s of one instance, a former window says that each takes 0.2 ms."""
    graph = sp.StreamGraph([sp.Operator("decode", 2e5, 0.0)], [])
    window = observed(0.0, hosts={"decode": ("a",)})
    reading = Reading(1000.0, busy, busy, 0.0, 1, busy_error=error)
    found = measured_graph(graph, cluster(), replace(window, readings={"decode": reading}))
    assert found.instructions[0] / 1e6 == pytest.approx(expected_ms, rel=0.01)


def test_an_unknown_cost_is_the_measured_one_however_short_the_window() -> None:
    graph = sp.StreamGraph([sp.Operator("decode", np.nan, 0.0)], [])
    window = observed(0.0, hosts={"decode": ("a",)})
    reading = Reading(1000.0, 0.02, 0.02, 0.0, 1, busy_error=0.25)
    found = measured_graph(graph, cluster(), replace(window, readings={"decode": reading}))
    assert found.instructions[0] == pytest.approx(2e4)


def two(selectivity: float, **stream: str) -> sp.StreamGraph:
    return sp.StreamGraph(
        [sp.Operator("decode", 1e5, 0.0), sp.Operator("count", 1e5, 0.0)],
        [sp.Stream("decode", "count", selectivity, **stream)],  # type: ignore[arg-type]
    )


def counts(read: float, backpressured: float = 0.0) -> Observation:
    """Return a window in which count reads `read` tuples per tuple of decode."""
    hosts = {"decode": ("a",), "count": ("b", "b")}
    window = observed(0.5, hosts=hosts)
    readings = {
        "decode": replace(window.readings["decode"], backpressured=backpressured),
        "count": replace(window.readings["count"], tuples_s=1000.0 * read),
    }
    return replace(window, readings=readings)


@pytest.mark.parametrize(
    ("read", "backpressured", "expected"),
    [(1.5, 0.0, 1.5), (2.5, 0.0, 2.5), (1.5, 0.5, 2.0), (2.5, 0.5, 2.5)],
)
def test_filling_buffers_do_not_lower_a_selectivity(
    read: float, backpressured: float, expected: float
) -> None:
    found = measured_graph(two(2.0), cluster(), counts(read, backpressured))
    assert found.selectivity.tolist() == pytest.approx([expected])


@pytest.mark.parametrize(("arriving_s", "expected"), [(2000.0, 2.0), (1280.0, 1.25)])
def test_what_waits_in_buffers_was_sent_too(arriving_s: float, expected: float) -> None:
    """The second one is within the noise of two counters, so what was processed counts."""
    window = counts(1.25)
    count = replace(window.readings["count"], arriving_s=arriving_s)
    found = measured_graph(
        two(2.0), cluster(), replace(window, readings={**window.readings, "count": count})
    )
    assert found.selectivity.tolist() == pytest.approx([expected])


def test_copies_of_a_broadcast_are_no_selectivity() -> None:
    found = measured_graph(two(2.0, partitioning="broadcast"), cluster(), counts(3.0))
    assert found.selectivity.tolist() == pytest.approx([1.5])


def test_an_unknown_selectivity_is_measured() -> None:
    found = measured_graph(two(np.nan), cluster(), counts(0.25))
    assert found.selectivity.tolist() == pytest.approx([0.25])


@pytest.mark.parametrize("selectivity", [2.0, np.nan])
def test_idle_operators_keep_their_costs_and_are_sent_nothing(selectivity: float) -> None:
    window = counts(0.0)
    window = replace(window, readings={**window.readings, "count": Reading(0.0, 0.0, 0.0, 0.0, 2)})
    found = measured_graph(two(selectivity), cluster(), window)
    assert found.instructions[1] == 1e5
    assert found.selectivity.tolist() == [0.0]


def test_an_operator_that_works_on_one_tuple_all_the_time_is_not_idle() -> None:
    window = counts(0.0)
    window = replace(window, readings={**window.readings, "count": Reading(0.0, 1.0, 1.0, 0.0, 2)})
    assert window.idle == []
    assert measured_graph(two(2.0), cluster(), window).selectivity.tolist() == [2.0]


def test_nothing_is_learned_from_a_window_without_any_tuples() -> None:
    window = observed(0.0, offered_s=0.0)
    assert window.idle == []
    assert measured_graph(two(2.0), cluster(), window).selectivity.tolist() == [2.0]


def test_the_share_of_an_idle_source_is_that_of_the_others() -> None:
    graph = sp.StreamGraph(
        [sp.Operator(name, 1e5, 0.0) for name in ("x", "y", "z", "join")],
        [sp.Stream(name, "join") for name in "xyz"],
        source_shares={"x": 0.4, "y": 0.4, "z": 0.2},
    )
    window = observed(0.1, hosts=dict.fromkeys(graph.names, ("a",)))
    readings = {**window.readings, "y": Reading(0.0, 0.0, 0.0, 0.0, 1)}
    found = measured_graph(graph, cluster(), replace(window, readings=readings))
    assert found.source_share == pytest.approx([2 / 3, 0.0, 1 / 3, 0.0])


def test_errors_of_former_costs_are_not_those_of_measured_ones() -> None:
    operators = [
        sp.Operator("decode", 1e5, 0.0, instructions_se=9e7),
        sp.Operator("count", 1e5, 0.0, instructions_se=9e7),
    ]
    stream = sp.Stream("decode", "count", 5.0, selectivity_se=4000.0)
    found = measured_graph(sp.StreamGraph(operators, [stream]), cluster(), counts(1.0))
    assert not found.instructions_se.any()
    assert not found.selectivity_se.any()


def test_the_cost_of_scaling_is_not_counted_twice() -> None:
    truth = diamond([1e5] * 4, [1.0] * 4, scaling=0.1)
    hosts = dict.fromkeys(truth.names, ("a", "a"))
    found = measured_graph(truth, cluster(), measured(truth, cluster(), hosts, 100.0))
    assert found.instructions == pytest.approx(truth.instructions / 1.1)


def test_times_by_kind_are_scaled_alike() -> None:
    graph = sp.StreamGraph(
        [sp.Operator("decode", 1e5, 0.0, seconds_on={"gpu": 1e-4, "tpu": 1e-5, "npu": None})], []
    )
    devices = sp.Cluster([sp.Device("a", 1000.0, cores=4, kind="gpu")])
    window = observed(0.2, hosts={"decode": ("a",)}, devices=frozenset("a"))
    found = measured_graph(graph, devices, window)  # 0.2 ms per tuple instead of 0.1 ms
    times = found.seconds_on[0]
    assert times["gpu"] == pytest.approx(2e-4)
    assert times["tpu"] == pytest.approx(2e-5)
    assert times["npu"] is None
    assert found.instructions[0] == pytest.approx(2e5)
