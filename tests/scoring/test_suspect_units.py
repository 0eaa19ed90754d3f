"""Notes on numbers that are probably in another unit."""

import pytest

from streamplace import Cluster, Device, Network, Operator, Stream, StreamGraph, place, read_graph
from streamplace.files.datasets import shipped_names
from streamplace.scoring.suspect_units import suspect_unit
from streamplace.workflows.result import Result


def note_on(result: Result) -> str:
    """Return the note on a result's problem and bottleneck."""
    problem, score = result.placement.problem, result.score
    return suspect_unit(problem.graph, problem.cluster, score.source_rate, score.bottleneck)


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


def test_a_job_with_hardly_any_load_is_asked_about_what_explains_most_of_it() -> None:
    note = note_of(instructions=1000.0, rate=10.0)
    assert "is used at 0.0012%" in note
    assert "check the units: source_rate" in note


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


def test_what_needs_a_bottleneck_is_not_asked_without_one() -> None:
    assert suspect_unit(GRAPH, CLUSTER, 1.0) == ""
