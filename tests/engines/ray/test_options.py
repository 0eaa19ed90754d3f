"""Options of Ray actors for a placement."""

import json

import pytest

from streamplace.errors import ProblemError
from streamplace.formats.documents import export_text
from streamplace.problem.cluster import Cluster, Device
from streamplace.problem.graph import Operator, StreamGraph
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from tests.support.instance_placements import word_count_placement


def test_every_actor_takes_the_resource_of_its_device() -> None:
    placement = word_count_placement()
    found = json.loads(export_text(placement, "ray"))
    options = [each for row in found["actors"].values() for each in row]
    assert {each["name"]: [*each["resources"]] for each in options} == {
        name: [device] for name, device in placement.assignment.items()
    }
    assert all(each["num_cpus"] == 0 for each in options)
    assert found["nodes"].keys() == set(placement.assignment.values())


def named(device: str, memory_bytes: float = 0.0) -> Placement:
    graph = StreamGraph([Operator("a", 1.0, 1.0, memory_bytes=memory_bytes)], [], source_rate=1.0)
    return Placement.of(Problem(graph, Cluster([Device(device, 1.0)])), {"a": device})


def test_memory_is_reserved() -> None:
    found = json.loads(export_text(named("it's", 2e6), "ray"))
    assert found["actors"]["a"][0]["memory"] == 2_000_000
    assert found["nodes"]["it's"] == """ray start '--resources={"it'"'"'s": 1}'"""


def test_memory_of_an_instance_with_a_name_of_its_own() -> None:
    lone = Operator("split[0]", 1.0, 1.0, memory_bytes=0.4)
    graph = StreamGraph([lone], [], source_rate=1.0)
    placement = Placement.of(Problem(graph, Cluster([Device("d", 1.0)])), {"split[0]": "d"})
    found = json.loads(export_text(placement, "ray"))
    ((options,),) = found["actors"].values()
    assert options["memory"] == 1


@pytest.mark.parametrize("device", ["CPU", "node:10.0.0.1"])
def test_names_of_rays_own_resources_are_refused(device: str) -> None:
    with pytest.raises(ProblemError, match="rename the devices"):
        export_text(named(device), "ray")
