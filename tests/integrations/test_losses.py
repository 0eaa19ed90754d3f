"""Facts that exports lose, and say so."""

import json

import pytest

from streamplace.integrations.kinds import WRITERS
from streamplace.integrations.losses import assumptions, losses
from streamplace.integrations.registry import export_text
from streamplace.problem.cluster import Cluster, Device
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from tests.support.chain_placement import chain_placement

INSTANCES = {"a[0]": "a", "a[1]": "a"}
UNEQUAL = Cluster.parse("1x2000,1x1000")


def on_a_gpu() -> Placement:
    operators = [Operator("in", 1, 1), Operator("infer\nit", 1, 1, requires=("GPU",))]
    graph = StreamGraph(operators, [Stream("in", "infer\nit")], source_rate=1.0)
    devices = [Device("cpu", 1000), Device("acc", 50_000, labels=("GPU",))]
    return Placement(Problem(graph, Cluster(devices)), [0, 1])


@pytest.mark.parametrize("kind", ["kubernetes", "storm-ras"])
def test_work_on_accelerators_is_counted_as_cpu(kind: str) -> None:
    found = losses(on_a_gpu(), kind)
    (work,) = (each for each in found if "accelerator" in each)
    assert work.endswith(
        "which requires an accelerator, is counted as CPU; set what it needs by hand"
    )
    comments = [line for line in export_text(on_a_gpu(), kind).splitlines() if "Lost: " in line]
    assert comments == [f"# Lost: {each}" for each in found]


def test_storm_chooses_hosts_of_unequal_devices() -> None:
    (lost,) = losses(chain_placement(["s", "t"], [0, 1], {}, UNEQUAL), "storm-ras")
    assert lost.startswith("devices differ, but Storm chooses the host of each component; ")
    assert not losses(chain_placement(["s", "t"], [0, 1], {}), "storm-ras")


@pytest.mark.parametrize(
    ("kind", "fault", "utilisation"),
    [
        # an acker takes 10% of a core, and Storm rounds 89.x up
        ("storm-ras", "an acker, which takes 10% of a core", 0.9),
        ("kubernetes", "pods stay pending", 0.999),
    ],
)
def test_devices_that_an_engine_takes_for_full(kind: str, fault: str, utilisation: float) -> None:
    def assumed(rate: float) -> str:
        graph = StreamGraph([Operator("a", 1e6, 0.0)], [], source_rate=rate)
        placement = Placement(Problem(graph, Cluster([Device("d", 1000.0)])), [0])
        return "; ".join(assumptions(placement, kind))

    assert fault not in assumed(1000 * utilisation)
    assert fault in assumed(1000 * utilisation + 1)


def test_an_overlay_has_no_operators() -> None:
    placement = chain_placement(["s", "t"], [0, 1], {})
    assert len(losses(placement, "ibm-overlay")) == 1
    assert json.loads(export_text(placement, "ibm-overlay"))  # which has no comments


def test_flink_chooses_instances_and_slots() -> None:
    split = chain_placement(["s", "a[0]", "a[1]"], [0, 0, 1], INSTANCES)
    (instances,) = losses(split, "flink")
    assert instances.startswith("Flink chooses which instances of 'a' run on which device")
    whole = chain_placement(["s", "a[0]", "a[1]"], [0, 1, 1], INSTANCES)
    assert losses(whole, "flink") == ["Flink chooses the TaskManagers of the slots of 'pe1'"]
    pinned = chain_placement(["s", "a[0]", "a[1]"], [0, 1, 1], INSTANCES, UNEQUAL)
    assert not losses(pinned, "flink")


def test_nothing_is_lost_on_equal_devices_without_instances() -> None:
    placement = chain_placement(["s", "t"], [0, 1], {})
    for kind in WRITERS:
        assert kind == "ibm-overlay" or not losses(placement, kind)
