"""Notes on numbers that are probably in another unit."""

import pytest

from streamplace import Cluster, Device, Network, Operator, Stream, StreamGraph, place, read_graph
from streamplace.files.bundled import shipped_names
from streamplace.scoring.suspect_units import suspect_unit


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
    return suspect_unit(result.placement.problem, result.score)


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
            assert suspect_unit(result.placement.problem, result.score) == "", name


def test_a_job_with_hardly_any_load_is_asked_about_what_explains_most_of_it() -> None:
    note = note_of(instructions=1000.0, rate=10.0)
    assert "is used at 0.0012%" in note
    assert "check the units: source_rate" in note
