"""The writer of affinities."""

from itertools import pairwise

import pytest

from benchmarks.hardening.corpus.engine_documents.gnuradio import GRC
from streamplace.errors import FormatError, ProblemError
from streamplace.integrations.gnuradio.pinning import cores_of, write
from streamplace.integrations.parsing.yaml import parse_yaml
from streamplace.problem.cluster import Cluster, Device
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem


def placement(names: list[str], devices: list[str]) -> Placement:
    graph = StreamGraph(
        [Operator(name, 1.0, 8.0) for name in names],
        [Stream(a, b) for a, b in pairwise(names)],
        source_rate=1.0,
    )
    cluster = Cluster([Device(name, 1.0) for name in dict.fromkeys(devices)])
    return Placement.of(Problem(graph, cluster), dict(zip(names, devices, strict=True)))


def test_only_affinities_of_placed_blocks_change() -> None:
    placed = placement(["recorded", "filter"], ["core3", "core0-1"])
    before, after = parse_yaml(GRC, "before"), parse_yaml(write(placed, GRC, "flow.grc"), "after")
    cores = {
        each["name"]: each["parameters"].get("affinity")
        for each in after["blocks"]
        if "parameters" in each
    }
    assert cores["recorded"] == "[3]"
    assert cores["filter"] == "[0, 1]"
    assert cores["paced"] == "1"
    for each in (*before["blocks"], *after["blocks"]):
        if each["name"] in ("recorded", "filter"):
            del each["parameters"]["affinity"]
    assert after == before


@pytest.mark.parametrize("name", ["d0", "core", "core-1", "core01", "core3-1", "core1,2", "core٣"])
def test_names_of_devices_that_do_not_say_a_core(name: str) -> None:
    with pytest.raises(ProblemError, match="name each device after its core, as in core0"):
        cores_of(name)


def test_what_cannot_be_written_is_refused() -> None:
    with pytest.raises(ProblemError, match=r"has no blocks that run named 'nobody'"):
        write(placement(["nobody"], ["core0"]), GRC, "flow.grc")
    with pytest.raises(ProblemError, match=r"named 'unused'"):
        write(placement(["unused"], ["core0"]), GRC, "flow.grc")
    with pytest.raises(FormatError, match=r"flow.grc: nested too deeply"):
        write(placement(["filter"], ["core0"]), "- " * 2000, "flow.grc")
    with pytest.raises(FormatError, match=r"flow.grc: is not a flowgraph"):
        write(placement(["filter"], ["core0"]), "x: 1", "flow.grc")


def test_a_core_of_two_devices_is_refused() -> None:
    placed = placement(["recorded", "filter"], ["core0", "core0-1"])
    with pytest.raises(ProblemError, match="'core0' and 'core0-1' both have core 0"):
        write(placed, GRC, "flow.grc")
