"""Kinds of devices: their fields, networks of new kinds, and where operators cannot run."""

import json
from pathlib import Path
from typing import Any

import pytest

from streamplace import (
    Cluster,
    Device,
    LinkOverride,
    Network,
    Operator,
    Placement,
    Problem,
    Stream,
    StreamGraph,
    read_cluster,
)
from streamplace.errors import ClusterError, InfeasibleError
from streamplace.files import write_json
from streamplace.files.clusters import cluster_from, cluster_to
from streamplace.files.graphs import graph_from
from streamplace.files.summary import summary
from streamplace.problem.cluster import NetworkKind
from streamplace.problem.constraints import Constraints
from streamplace.problem.device_kinds import unknown_kinds
from streamplace.problem.graph import UNKNOWN
from streamplace.problem.rules import Rule, violations
from streamplace.problem.symmetry import interchangeable
from streamplace.workflows.conflict import conflict
from tests.corpus.documents import (
    CLUSTER,
    DATAFLOW_CLUSTER,
    DATAFLOW_GRAPH,
)
from tests.support.graphs import chain_graph

DEVICES = [Device("c", 1000.0, kind="cpu"), Device("g", 1000.0, kind="gpu"), Device("x", 1000.0)]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kind": ""}, "^device 'd': the kind's name is empty"),
        ({"kind": 3}, "^device 'd': kind must be a string"),
        ({"startup_s": -1.0}, "^device 'd': startup_s must be 0 to"),
        ({"startup_s": None}, "^device 'd': startup_s must be a number"),
        ({"overhead_s_per_byte": -1.0}, "^device 'd': overhead_s_per_byte must be 0 to"),
        ({"overhead_s_per_byte": UNKNOWN}, "^device 'd': overhead_s_per_byte must be 0 to"),
    ],
)
def test_invalid_fields_of_devices_are_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ClusterError, match=message):
        Device("d", 1000.0, **fields)


def test_the_overhead_of_a_network_is_checked() -> None:
    with pytest.raises(ClusterError, match=r"^network: overhead_s_per_byte must be 0 to"):
        Network(overhead_s_per_byte=-1.0)


def test_files_keep_the_fields_and_stay_as_they_were_without(tmp_path: Path) -> None:
    file = tmp_path / "cluster.json"
    write_json(file, DATAFLOW_CLUSTER)
    cluster = read_cluster(file)
    assert cluster.devices[0] == Device("d0", 2500.0, kind="cpu", startup_s=1e-5, slots=9)
    assert cluster.devices[1].overhead_s_per_byte == 0.0
    assert cluster.network.overhead_s_per_byte == 1e-9
    assert cluster_from(json.loads(json.dumps(cluster_to(cluster))), "x") == cluster
    assert summary(file)["kinds"] == {"cpu": 1, "gpu": 1}
    plain = cluster_from(CLUSTER, "x")
    written = json.dumps(cluster_to(plain)) + repr(plain.network) + repr(plain.devices)
    for name in ("startup_s", "overhead_s_per_byte", "kind="):
        assert name not in written.replace("Network(kind=", "")
    assert [*cluster_to(plain)["devices"][0]].count("kind") == 0
    write_json(file, CLUSTER)
    assert "kinds" not in summary(file)


def test_a_device_replaces_the_overhead_of_the_network() -> None:
    devices = [Device("a", 1.0), Device("b", 1.0, overhead_s_per_byte=0.0)]
    cluster = Cluster(devices, Network(overhead_s_per_byte=1e-9))
    assert cluster.overhead_s_per_byte.tolist() == [1e-9, 0.0]


@pytest.mark.parametrize("kind", ["free", "egress"])
def test_numbers_of_free_and_egress_networks_belong_to_pairs(kind: NetworkKind) -> None:
    override = LinkOverride("g", "c", bandwidth_mbps=5.0, latency_s=0.5, overhead_s=0.25, gap_s=2.0)
    cluster = Cluster(DEVICES, Network(kind, 100.0, overrides=(override,)))
    assert cluster.own_links == 9
    assert cluster.link_ends(3) == ("g", "c")
    changed = {"bandwidth_mbps": 5.0, "latency_s": 0.5, "overhead_s": 0.25, "gap_s": 2.0}
    for name, value in changed.items():
        column = cluster.link_column(name)
        default = getattr(cluster.network, name)
        assert column.tolist() == [default] * 3 + [value] + [default] * 5
    one_end = LinkOverride("g", None, bandwidth_mbps=5.0)
    with pytest.raises(ClusterError, match=f"{kind} links need both from and to"):
        Cluster(DEVICES, Network(kind, overrides=(one_end,)))


def test_devices_of_different_kinds_are_not_interchangeable() -> None:
    same = Device("b", 1000.0)
    for other in (
        Device("c", 1000.0, kind="gpu"),
        Device("c", 1000.0, startup_s=1.0),
        Device("c", 1000.0, overhead_s_per_byte=1.0),
    ):
        cluster = Cluster([Device("a", 1000.0), same, other])
        assert interchangeable(Problem(chain_graph(1.0), cluster)).tolist() == [0, 0, 1]


def test_operators_run_where_they_have_instructions_or_a_time() -> None:
    rows = {
        "anywhere": Operator("anywhere", 1e6, 0.0),
        "not-gpu": Operator("not-gpu", 1e6, 0.0, seconds_on={"gpu": None}),
        "timed": Operator("timed", UNKNOWN, 0.0, seconds_on={"gpu": 1.0, "cpu": 0.0}),
        "gpu-only": Operator("gpu-only", UNKNOWN, 0.0, seconds_on={"gpu": 1.0, "cpu": None}),
        "faster": Operator("faster", 1e6, 0.0, seconds_on={"gpu": 1e-6}),
    }
    problem = Problem(StreamGraph([*rows.values()], source_rate=1.0), Cluster(DEVICES))
    allowed = dict(zip(rows, problem.feasibility.allowed.tolist(), strict=True))
    assert allowed == {
        "anywhere": [True, True, True],
        "not-gpu": [True, False, True],
        "timed": [True, True, False],
        "gpu-only": [False, True, False],
        "faster": [True, True, True],
    }
    assert not problem.feasibility.is_free


@pytest.mark.parametrize(
    ("seconds", "work", "devices", "reason"),
    [
        ({"gpu": None}, 1e6, "g", r"it cannot run on devices of kind 'gpu' \(seconds_on\)"),
        ({"gpu": 1.0}, UNKNOWN, "c", "it has neither instructions nor seconds_on of kind 'cpu'"),
        (
            {"gpu": 1.0},
            UNKNOWN,
            "x",
            "it has no instructions for devices without a kind "
            r"\(its seconds_on are those of kind 'gpu'\)",
        ),
        (
            {"gpu": None, "tpu": 1.0},
            UNKNOWN,
            "cgx",
            r"it cannot run on devices of kind 'gpu' \(seconds_on\) and has neither instructions "
            "nor seconds_on of kind 'cpu' and has no instructions for devices without a kind "
            r"\(its seconds_on are those of kind 'tpu'\)",
        ),
    ],
)
def test_messages_name_the_kind(
    seconds: dict[str, float | None], work: float, devices: str, reason: str
) -> None:
    graph = StreamGraph([Operator("a", work, 0.0, seconds_on=seconds)], source_rate=1.0)
    cluster = Cluster([device for device in DEVICES if device.name in devices])
    with pytest.raises(InfeasibleError, match=f"^no device may run operator 'a': {reason}$"):
        Problem(graph, cluster)
    tpu = Device("t", 1.0, kind="tpu")
    can = Cluster([*cluster.devices, tpu if "tpu" in seconds or work == 1e6 else DEVICES[1]])
    problem = Problem(graph, can)
    found = problem.feasibility.violation(problem.feasibility.first_of * 0)
    assert found is not None
    assert found.startswith("operator 'a' may not run on device")
    assert "kind" in found


def test_colocated_operators_are_named_in_reasons() -> None:
    rows = [
        Operator("a", 1.0, 0.0, seconds_on={"gpu": None}),
        Operator("b", UNKNOWN, 0.0, seconds_on={"gpu": 1.0}),
    ]
    rules = Constraints(colocate=[["a", "b"]])
    graph = StreamGraph(rows, source_rate=1.0, constraints=rules)
    with pytest.raises(InfeasibleError, match=r"'a' cannot run on devices of kind 'gpu'.*'b' has"):
        Problem(graph, Cluster(DEVICES[:2]))


def test_violations_and_conflicts_name_seconds_on() -> None:
    graph = graph_from(DATAFLOW_GRAPH, "x")
    problem = Problem(graph, cluster_from(DATAFLOW_CLUSTER, "x"))
    found = list(violations(Placement(problem, [0, 0, 1])))
    assert [each.rule for each in found] == [Rule("seconds_on", "out")]
    assert str(found[0].rule) == "seconds_on of out"
    assert "'out' is on 'd1', but cannot run on devices of kind 'gpu'" in found[0].why
    with pytest.raises(InfeasibleError) as caught:
        problem.with_constraints(Constraints(pins={"out": "d1"}))
    assert caught.value.infeasible is not None
    proof = conflict(*caught.value.infeasible)
    assert proof is not None
    assert {str(rule) for rule in proof.rules} == {
        "seconds_on of out",
        "constraints.pins['out']",
    }


def test_large_problems_of_one_kind_stay_free() -> None:
    rows = [Operator("a", 1.0, 0.0, seconds_on={"cpu": 1.0}), Operator("b", 1.0, 0.0)]
    problem = Problem(StreamGraph(rows, [Stream("a", "b")], source_rate=1.0), "2x2500")
    assert problem.feasibility.is_free


def test_kinds_of_no_device_are_noted() -> None:
    seconds = {"cpu": 0.5, "gpuu": 0.1}
    graph = StreamGraph([Operator("a", 1e6, 0, seconds_on=seconds), Operator("b", 1e6, 0)])
    devices = [Device("x", 1, kind="cpu at 0.5 of its speed"), Device("y", 1, kind="gpu")]
    note = unknown_kinds(graph, Cluster(devices))
    assert note == "seconds_on: no device is of kind 'gpuu'; did you mean 'gpu'?"
    plain = Cluster([Device("x", 1)])
    unused = "seconds_on: not used, since no device has a kind, such as 'cpu'"
    assert unknown_kinds(graph, plain) == f"{unused}; instructions and mips count instead"
    never = StreamGraph([Operator("a", 1e6, 0, seconds_on={"gpu": None})])
    assert unknown_kinds(never, plain) == ""
    assert unknown_kinds(StreamGraph([Operator("b", 1e6, 0)]), Cluster(devices)) == ""
