"""Notes on numbers that are probably in another unit."""

import numpy as np
import pytest

from streamplace import (
    Cluster,
    Constraints,
    Device,
    Network,
    Operator,
    Placement,
    Problem,
    Stream,
    StreamGraph,
    place,
    read_graph,
    simulate,
)
from streamplace.families.generation import generate
from streamplace.files.datasets import shipped_names
from streamplace.scoring.suspect_units import suspect_of, suspect_unit
from streamplace.workflows.result import Result


def note_on(result: Result) -> str:
    """Return the note on a result's problem and bottleneck."""
    problem, score = result.placement.problem, result.score
    return suspect_unit(problem.graph, problem.cluster, score.source_rate, score)


def note_of(
    instructions: float = 5e4,
    payload_bytes: float = 300.0,
    rate: float = 10_000.0,
    mips: float = 2500.0,
    bandwidth_mbps: float = 1000.0,
) -> str:
    """Return the note on a chain of three operators on two devices."""
    operators = [Operator(name, instructions, payload_bytes) for name in "abc"]
    graph = StreamGraph(operators, [Stream("a", "b"), Stream("b", "c")], source_rate=rate)
    devices = [Device("x", mips), Device("y", mips)]
    result = place(graph, Cluster(devices, Network(bandwidth_mbps=bandwidth_mbps)), placer="greedy")
    return note_on(result)


@pytest.mark.parametrize(
    ("numbers", "name", "unit"),
    [
        ({"instructions": 2e-5}, "instructions: ", "not CPU instructions per tuple?"),
        ({"instructions": 2e13}, "instructions: ", "not CPU instructions per tuple?"),
        ({"mips": 2.5e9}, "mips: ", "not million instructions/s of a core?"),
        ({"bandwidth_mbps": 1e9}, "bandwidth_mbps: ", "not Mbit/s?"),
        ({"payload_bytes": 0.3}, "payload_bytes: ", "not bytes?"),
        ({"rate": 1e-3}, "source_rate: ", "not tuples/s?"),
        ({"rate": 1e12}, "source_rate: ", "not tuples/s?"),
    ],
)
def test_a_number_in_another_unit_is_named(numbers: dict[str, float], name: str, unit: str) -> None:
    note = note_of(**numbers)
    assert name in note
    assert unit in note


def test_usual_numbers_are_not_suspect() -> None:
    assert note_of() == ""
    assert note_of(instructions=50.0, mips=1.0) == ""  # microseconds of CPU time
    for name in shipped_names():
        graph = read_graph(f"dataset:{name}")
        if graph.source_rate is not None:
            result = place(graph, placer="greedy")
            assert note_on(result) == "", name


@pytest.mark.parametrize("microseconds", [0.03, 0.5, 20.0, 1e4, 2e6])
def test_microseconds_on_devices_of_1_mips_are_not_suspect(microseconds: float) -> None:
    assert note_of(instructions=microseconds, mips=1.0, rate=2e5 / microseconds) == ""


def test_a_job_with_hardly_any_load_is_asked_about_a_number_that_is_unusual() -> None:
    assert note_of(instructions=1000.0, rate=10.0) == ""  # used at 0.0012%
    assert note_of(instructions=1000.0, payload_bytes=1000.0, rate=100.0) == ""
    note = note_of(instructions=1000.0, payload_bytes=1.5, rate=10.0)
    assert "is used at 0.0008%; check the units: payload_bytes" in note


GRAPH = StreamGraph(
    [Operator(name, 5e4, 300.0) for name in "abc"], [Stream("a", "b"), Stream("b", "c")]
)
CLUSTER = Cluster([Device(name, 2500.0) for name in "xyz"])


def test_one_operator_among_usual_ones_is_named() -> None:
    graph = GRAPH.with_numbers(instructions=[5e4, 3e-4, 5e4])[0]
    note = suspect_unit(graph, CLUSTER, 1e4)
    assert note.startswith("instructions of 'b': 0.0003 is unlike the others; is it in seconds")


def test_one_device_among_usual_ones_is_named_at_any_utilisation() -> None:
    odd = Cluster([Device("x", 2500.0), Device("y", 2500.0), Device("z", 2.5e9)])
    assert suspect_unit(GRAPH, odd, 1e4).startswith("mips of 'z': 2.5e+09 is unlike the others")
    result = place(GRAPH, odd, source_rate=1e4, placer="single")
    assert "check the units: mips of 'z'" in note_on(result)


def test_memory_in_gigabytes_is_named() -> None:
    graph = GRAPH.with_numbers(memory_bytes=[4.0, 2.0, 8.0])[0]
    assert "memory_bytes: the values are about 4; are they in GB" in suspect_unit(
        graph, CLUSTER, 1e4
    )
    small = Cluster([Device(name, 2500.0, memory_bytes=16.0) for name in "xyz"])
    assert "memory_bytes of devices: the values are about 16" in suspect_unit(GRAPH, small, 1e4)
    one = Cluster(
        [
            Device(name, 2500.0, memory_bytes=m)
            for name, m in zip("xyz", (8.0, 8e9, 8e9), strict=True)
        ]
    )
    assert suspect_unit(GRAPH, one, 1e4).startswith("memory_bytes of 'x': 8 is unlike the others")


def test_what_needs_a_bottleneck_is_not_asked_without_one() -> None:
    assert suspect_unit(GRAPH, CLUSTER, 1.0) == ""


MICROSECONDS = GRAPH.with_numbers(instructions=[20.0, 12.0, 3.0])[0]


@pytest.mark.parametrize("source_rate", [1e4, 763_888.0])
def test_times_as_instructions_beside_real_speeds_are_named(source_rate: float) -> None:
    """Instructions in microseconds, and devices of 2,500 MIPS: the links seem to be the limit."""
    apart = Constraints(exlocate=[["a", "b", "c"]])
    found = place(MICROSECONDS, CLUSTER, source_rate=source_rate, constraints=apart)
    assert "a tuple takes about 4.8e-09 s of CPU time; no device is used more" in note_on(found)
    assert "instructions: the values are about 12; are they in seconds or micro" in note_on(found)


def test_speeds_in_two_units_are_named_without_a_placement() -> None:
    mixed = Cluster([Device("x", 2500.0), Device("y", 1.5), Device("z", 2500.0)])
    note = suspect_unit(MICROSECONDS, mixed, 1e4)
    assert note.startswith("a tuple takes about 4.8e-09 s of CPU time; the mips of devices are ")
    assert "from 1.5 to 2,500; check the units: instructions: " in note


def test_one_sign_alone_is_no_fault() -> None:
    fog = Cluster([Device("edge", 500.0), Device("server", 1e5)])
    assert suspect_unit(GRAPH, fog, 1e4) == ""  # far apart
    quick = GRAPH.with_numbers(instructions=[200.0, 100.0, 150.0])[0]
    busy = place(quick, CLUSTER, source_rate=1e6, placer="single")
    assert note_on(busy) == ""  # 60 ns of CPU time, but devices are busy


def check_spread(graph: StreamGraph, cluster: Cluster, rate: float | None = None) -> None:
    """Check that a graph has no note, neither spread over all devices nor on a single one."""
    problem, count = Problem(graph, cluster, source_rate=rate), len(graph.names)
    spread = np.arange(count, dtype=np.int32) % np.int32(len(cluster.devices))
    for devices in (spread, np.zeros(count, np.int32)):
        assert suspect_of(problem, simulate(Placement(problem, devices))) == ""
    assert suspect_unit(graph, cluster, problem.source_rate) == ""


@pytest.mark.parametrize(
    ("family", "operators"),
    [("dream", 20), ("layered", 500), ("layered", 100_000), ("series-parallel", 100_000)],
)
def test_generated_graphs_are_not_suspect(family: str, operators: int) -> None:
    """In large ones, a tuple takes some nanoseconds in each operator."""
    graph = next(iter(generate(family, 1, operators=operators, seed=1)))
    for devices in (5, 1000):
        check_spread(graph, Cluster.parse(f"{devices}x2500"))


@pytest.mark.parametrize(
    ("family", "rate"), [("ffnn", 0.1), ("transformer-block", 10.0), ("chain-mm", 0.1)]
)
def test_neural_networks_are_not_suspect(family: str, rate: float) -> None:
    """Instructions are floating-point operations, and the speeds of devices MFLOP/s."""
    graph = next(iter(generate(family, 1, seed=1)))
    for cluster in ("4x100000", "4x14000000"):
        check_spread(graph, Cluster.parse(cluster), rate)


@pytest.mark.parametrize("rate", [1.0, 100.0, 1e4])
def test_a_small_network_beside_fast_devices_is_not_suspect(rate: float) -> None:
    """Most of its operators take some nanoseconds, but its products some microseconds."""
    work = 0.0, 2.0 * 784 * 256, 256.0, 256.0, 2.0 * 256 * 10, 10.0, 30.0
    operators = [Operator(f"op{i}", flops, 4.0 * 256) for i, flops in enumerate(work)]
    streams = [Stream(f"op{i}", f"op{i + 1}") for i in range(len(work) - 1)]
    check_spread(StreamGraph(operators, streams), Cluster.parse("4x100000"), rate)


def test_the_device_that_is_unlike_the_others_is_named() -> None:
    cluster = Cluster([Device(n, mips) for n, mips in zip("xyz", (20.0, 3e9, 50.0), strict=True)])
    for graph in (GRAPH, MICROSECONDS):
        for device in range(3):
            placed = Placement(
                Problem(graph, cluster, source_rate=100.0), np.full(3, device, np.int32)
            )
            assert "mips of 'y': 3e+09 is unlike" in suspect_of(placed.problem, simulate(placed))
        assert "mips of 'y': 3e+09 is unlike" in suspect_unit(graph, cluster, 100.0)
    near = Cluster([Device(n, mips) for n, mips in zip("xyz", (20.0, 3e4, 50.0), strict=True)])
    slow = Placement(Problem(GRAPH, near, source_rate=1e6), np.zeros(3, np.int32))
    assert "check the units: mips of 'y': 30,000 is" in suspect_of(slow.problem, simulate(slow))


def test_one_operator_that_overloads_everything_is_named() -> None:
    """A million times its instructions, where the other numbers are usual."""
    operators = [Operator(n, i, 300.0) for n, i in (("a", 2e4), ("parse", 9e10), ("c", 5e4))]
    streams = [Stream("a", "parse"), Stream("parse", "c")]
    graph = StreamGraph(operators, streams, source_rate=2e4)
    note = note_on(place(graph, Cluster.parse("2x2500"), placer="greedy"))
    assert "instructions of 'parse': 9e+10 is unlike the others" in note
