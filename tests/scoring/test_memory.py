"""The memory that placements use."""

import pytest

from streamplace import Cluster, Device, Operator, Placement, Problem, StreamGraph
from streamplace.display.text import byte_count
from streamplace.scoring.memory import memory_use
from streamplace.workflows.place import solve


def problem(memory_bytes: float) -> Problem:
    operators = [Operator(name, 1e5, 10.0, memory_bytes) for name in "ab"]
    graph = StreamGraph(operators, [("a", "b")], source_rate=100.0)
    return Problem(graph, Cluster([Device("d0", 1000.0, memory_bytes=4e9), Device("d1", 1000.0)]))


def test_used_and_free_memory_of_each_device() -> None:
    first, second = memory_use(Placement(problem(1.5e9), [0, 0]))
    assert (first.used_bytes, first.free_bytes) == (3e9, 1e9)
    assert (second.used_bytes, second.free_bytes) == (0.0, None)
    assert (first.text(), second.text()) == ("3 GB of 4 GB", "0 B")


def test_memory_is_in_the_result() -> None:
    result = solve(problem(1.5e9))
    assert result.to_dict()["memory"][0]["device"] == "d0"
    assert "memory" not in solve(problem(0.0)).to_dict()


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (1e3, "1 kB"), (2.5e6, "2.5 MB"), (16e9, "16 GB"), (3e12, "3 TB")],
)
def test_byte_counts(count: float, text: str) -> None:
    assert byte_count(count) == text


def test_byte_counts_of_more_digits() -> None:
    assert byte_count(8.0001e9, 6) == "8.0001 GB"
