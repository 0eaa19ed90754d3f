"""The memory and resources that placements use."""

import pytest

from streamplace import Cluster, Device, Operator, Placement, Problem, StreamGraph
from streamplace.display.text import byte_count
from streamplace.errors import StreamplaceError
from streamplace.scoring.loads import memory_use, resource_use, use_grids
from streamplace.workflows.explain import explain_throughput as explain
from tests.support.placements import solve


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


def with_resources() -> Placement:
    """Return two operators that share a GPU, on a device that offers more of another resource."""
    operators = [Operator(name, 1e5, 10.0, 1e9, resources={"gpu": 0.1}) for name in "abc"]
    graph = StreamGraph(operators, [("a", "b")], source_rate=100.0)
    offers = Device("d0", 1000.0, resources={"gpu": 1, "fpga": 2})
    return Placement(Problem(graph, Cluster([offers, Device("d1", 1000.0)])), [0, 0, 0])


def test_used_and_free_resources_of_each_device() -> None:
    fpga, gpu = resource_use(with_resources())
    assert (fpga.to_dict(), fpga.text()) == (
        {"device": "d0", "resource": "fpga", "used": 0.0, "free": 2.0},
        "0 of 2 fpga",
    )
    assert (gpu.used, gpu.free, gpu.text()) == (0.3, 0.7, "0.3 of 1 gpu")
    excess = Placement(with_resources().problem, [1, 1, 0])
    assert [use.text() for use in resource_use(excess)][-1] == "0.2 of 0 gpu"
    assert resource_use(Placement(problem(1e9), [0, 1])) == ()


def test_storage_of_kubernetes_is_shown_in_bytes() -> None:
    operator = Operator("a", 1e5, 10.0, resources={"ephemeral-storage": 2e9})
    cluster = Cluster([Device("d0", 1000.0, resources={"ephemeral-storage": 95491281146})])
    graph = StreamGraph([operator], source_rate=100.0)
    (use,) = resource_use(Placement(Problem(graph, cluster), [0]))
    assert use.text() == "2 GB of 95.5 GB ephemeral-storage"
    assert "95.5 GB ephemeral-storage" in cluster._repr_html_()
    small = Cluster([Device("d0", 1000.0, resources={"ephemeral-storage": 1e9})])
    with pytest.raises(StreamplaceError, match=r"2 GB ephemeral-storage \(.d0. offers 1 GB\)"):
        solve(Problem(graph, small))


def test_resources_are_in_the_result_and_the_explanation() -> None:
    result, explanation = solve(with_resources().problem), explain(with_resources())
    for found in (result, explanation):
        rows = found.to_dict()["resources"]
        assert [(row["device"], row["resource"]) for row in rows] == [("d0", "fpga"), ("d0", "gpu")]
        assert "0.3 of 1 gpu" in found._repr_html_()
        assert "fpga" not in found._repr_html_(), "no operator needs it"
        assert "3 GB" in found._repr_html_()
    assert "resources" not in solve(problem(1e9)).to_dict()
    assert not {"memory", "resources"} & explain(Placement(problem(0.0), [0, 1])).to_dict().keys()


def test_devices_in_use_are_first_the_fullest_before_the_others() -> None:
    operators = [Operator("a", 1e5, 1, 1e9), Operator("b", 1e5, 1, resources={"gpu": 1})]
    operators += [Operator("c", 1e5, 1, 3e9)]
    graph = StreamGraph(operators, source_rate=1.0)
    devices = [Device(name, 1000.0, memory_bytes=4e9) for name in "xyz"]
    gpu = Device("g", 1000.0, memory_bytes=4e9, resources={"gpu": 1})
    placement = Placement(Problem(graph, Cluster([*devices, gpu])), [1, 3, 2])
    (grid,) = use_grids(placement)
    assert [grid.row(i)[0] for i in range(4)] == ["g", "z", "y", "x"]
