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


@pytest.mark.parametrize("family", ["layered", "series-parallel"])
@pytest.mark.parametrize("devices", [5, 1000])
def test_large_generated_graphs_are_not_suspect(family: str, devices: int) -> None:
    """A tuple takes some nanoseconds in each operator; 1,000 devices are used at 0.4%."""
    graph = next(iter(generate(family, 1, operators=100_000, seed=1)))
    cluster = Cluster.parse(f"{devices}x2500")
    spread = Placement(
        Problem(graph, cluster), np.arange(100_000, dtype=np.int32) % np.int32(devices)
    )
    score = simulate(spread)
    assert "CPU time" not in suspect_of(spread.problem, score)
    assert "instructions" not in suspect_of(spread.problem, score)
    assert suspect_unit(graph, cluster, 1e4) == ""


def test_one_operator_that_overloads_everything_is_named() -> None:
    """A million times its instructions, where the other numbers are usual."""
    operators = [Operator(n, i, 300.0) for n, i in (("a", 2e4), ("parse", 9e10), ("c", 5e4))]
    streams = [Stream("a", "parse"), Stream("parse", "c")]
    graph = StreamGraph(operators, streams, source_rate=2e4)
    note = note_on(place(graph, Cluster.parse("2x2500"), placer="greedy"))
    assert "instructions of 'parse': 9e+10 is unlike the others" in note
