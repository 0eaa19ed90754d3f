"""Placements written for other systems: golden texts and equal partitions."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from streamplace.errors import ProblemError, UsageError
from streamplace.integrations.kinds import WRITERS
from streamplace.integrations.kubernetes_names import dns_label, label_value
from streamplace.integrations.registry import export_text
from streamplace.integrations.whole_operators import operator_devices
from streamplace.problem.cluster import Cluster
from streamplace.problem.expansion import to_instances
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.logical import Distribution, LogicalGraph
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from tests.support.instance_placements import (
    instance_placements,
    pe_partition,
    placement_without_streams,
    word_count_placement,
)

GOLDEN = Path(__file__).parent / "golden"
KINDS = ("capsys", "storm-ras", "ibm-spl", "ibm-overlay", "kubernetes")
WHOLE_OPERATORS = ("storm-ras", "ibm-spl")
CLAUSE = re.compile(r'^// (".*")\nconfig placement : (.*);$', re.MULTILINE)
DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


@pytest.mark.parametrize("kind", KINDS)
def test_exports_equal_the_golden_texts(kind: str) -> None:
    """The golden texts were checked by hand against the documentation of each system."""
    assert export_text(word_count_placement(), kind) == (GOLDEN / f"{kind}.txt").read_text()


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_placement_gives_the_same_text(kind: str) -> None:
    assert export_text(word_count_placement(), kind) == export_text(word_count_placement(), kind)


def test_unknown_format() -> None:
    with pytest.raises(UsageError, match=r"unknown format 'heron'.*flink-helper"):
        export_text(word_count_placement(), "heron")
    assert set(KINDS) < set(WRITERS)


@pytest.mark.parametrize("kind", WHOLE_OPERATORS)
def test_formats_without_instances_require_whole_operators(kind: str) -> None:
    with pytest.raises(ProblemError, match=r"'count'.*--whole-operators"):
        export_text(word_count_placement(whole=False), kind)


@given(instance_placements(whole=True))
def test_devices_of_whole_operators(placement: Placement) -> None:
    graph = placement.problem.graph
    found = operator_devices(placement)
    for v, (name, device) in enumerate(placement.assignment.items()):
        assert found.pop(graph.instance_of.get(v, name), device) == device
    assert not found


@given(instance_placements(whole=False))
def test_export_to_capsys(placement: Placement) -> None:
    """One line per subtask; CAPSys looks for the line's task inside the subtasks' names."""
    try:
        lines = export_text(placement, "capsys").splitlines()
    except ProblemError as error:
        assert "rename" in str(error)  # noqa: PT017 - it may be rejected
        return
    group_of = dict(line.split("; ") for line in lines)
    assert len(group_of) == len(lines)
    assert pe_partition(
        {str(v): group_of[task] for v, task in enumerate(group_of)}
    ) == pe_partition({str(v): int(d) for v, d in enumerate(placement.devices)})
    for task in group_of:
        assert [other for other in group_of if task in other] == [task]


def test_capsys_distinguishes_subtasks() -> None:
    text = export_text(word_count_placement(whole=False), "capsys")
    assert "count (1/2); d2\ncount (2/2); d1\n" in text


@pytest.mark.parametrize("names", [("Map", "Flat Map"), ("a", "a (1/1) b"), ("a; b",), ("a\nb",)])
def test_capsys_rejects_ambiguous_names(names: tuple[str, ...]) -> None:
    with pytest.raises(ProblemError):
        export_text(placement_without_streams(*names), "capsys")


@given(instance_placements(whole=True))
def test_export_to_storm(placement: Placement) -> None:
    """Every component appears once; two share a worker only if they share a device."""
    value = yaml.safe_load(export_text(placement, "storm-ras"))
    device_of = operator_devices(placement)
    components = [*value.get("spouts", []), *value.get("bolts", [])]
    assert sorted(c["id"] for c in components) == sorted(device_of)
    apart = {
        frozenset((name, other))
        for name, rule in value["config"].get("topology.ras.constraints", {}).items()
        for other in rule["incompatibleComponents"]
    }
    assert apart == {
        frozenset((a, b)) for a in device_of for b in device_of if device_of[a] != device_of[b]
    }
    assert value["config"]["topology.scheduler.favored.nodes"] == [*placement.pes]


def test_storm_requests_what_an_executor_needs() -> None:
    value = yaml.safe_load(export_text(word_count_placement(), "storm-ras"))
    needs = {c.pop("id"): c for c in [*value["spouts"], *value["bolts"]]}
    # 1e5 x 1000 of 1e9 instructions/s; 2.5e6 bytes
    assert needs["lines"] == {"cpuLoad": 10, "onHeapMemoryLoad": 3}
    assert needs["count"] == {"cpuLoad": 15, "onHeapMemoryLoad": 1}  # half the tuples each
    assert needs["sink"] == {"cpuLoad": 1}


@given(instance_placements(whole=True))
def test_storm_components_have_only_keys_of_flux(placement: Placement) -> None:
    """Flux's SpoutDef and BoltDef refuse unknown keys, and their loads are integers."""
    value = yaml.safe_load(export_text(placement, "storm-ras"))
    for component in [*value.get("spouts", []), *value.get("bolts", [])]:
        assert set(component) <= {"id", "cpuLoad", "onHeapMemoryLoad"}
        assert all(type(x) is int for key, x in component.items() if key != "id")


def test_bolt_with_unfed_instances_is_not_a_spout() -> None:
    """The grouping GLOBAL feeds only the first instance."""
    rows = [Operator("s", 1.0, 1.0), Operator("agg", 1.0, 1.0), Operator("out", 1.0, 0.0)]
    streams = [Stream("s", "agg"), Stream("agg", "out")]
    job = LogicalGraph(
        StreamGraph(rows, streams, source_rate=1.0),
        {"s": 2, "agg": 2},
        {("s", "agg"): [Distribution.FIRST]},
    )
    placement = Placement(Problem(to_instances(job), Cluster.equal(1)), [0] * 5)
    value = yaml.safe_load(export_text(placement, "storm-ras"))
    assert [c["id"] for c in value["spouts"]] == ["s"]
    assert [c["id"] for c in value["bolts"]] == ["agg", "out"]


def test_storm_rejects_too_many_operators() -> None:
    with pytest.raises(ProblemError, match=r"at most 2,000 operators \(got 2,001\)"):
        export_text(placement_without_streams(*(f"op{v}" for v in range(2001))), "storm-ras")


@given(instance_placements(whole=True))
def test_export_to_ibm_spl(placement: Placement) -> None:
    """Two operators share a partition if and only if they share a device."""
    text = export_text(placement, "ibm-spl")
    clauses = {json.loads(name): rules.split(", ") for name, rules in CLAUSE.findall(text)}
    device_of = operator_devices(placement)
    assert [*clauses] == [*device_of]
    pe_of = {name: rules[0] for name, rules in clauses.items()}
    assert pe_partition(pe_of) == pe_partition(device_of)
    marked = [pe_of[name] for name, rules in clauses.items() if len(rules) == 3]
    assert sorted(marked) == (sorted(set(pe_of.values())) if len(set(marked)) > 1 else [])
    pools = dict(re.findall(r"^  (pe\d+) = \[(.*)\][,;]$", text, re.MULTILINE))
    for name, rules in clauses.items():
        assert json.loads(pools[rules[-1][len("host(") : -1]]) == device_of[name]


@given(instance_placements(whole=False))
def test_export_to_ibm_overlay(placement: Placement) -> None:
    (overlay,) = json.loads(export_text(placement, "ibm-overlay"))["jobConfigOverlays"]
    assert overlay["deploymentConfig"] == {
        "fusionScheme": "manual",
        "fusionTargetPeCount": len(placement.pes),
    }


@given(st.lists(st.text(min_size=1), unique=True), st.sampled_from([dns_label, label_value]))
def test_names_stay_distinct(texts: list[str], name_of: Callable[[str], str]) -> None:
    names = [name_of(text) for text in texts]
    assert len(set(names)) == len(texts)
    assert all(
        len(name) <= 63 and DNS_LABEL.fullmatch(name.lower().replace("_", "-").replace(".", "-"))
        for name in names
    )


@pytest.mark.parametrize(
    ("text", "name"),
    [("word-count", "word-count"), ("a" * 63, "a" * 63), ("7", "7")],
)
def test_valid_names_are_kept(text: str, name: str) -> None:
    assert dns_label(text) == name
    assert label_value("Node_1.example") == "Node_1.example"
