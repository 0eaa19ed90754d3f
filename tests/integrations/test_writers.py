"""Placements written for other systems: golden texts and equal partitions."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamplace.errors import ProblemError, UsageError
from streamplace.integrations.kinds import WRITERS
from streamplace.integrations.kubernetes_names import dns_label, label_value
from streamplace.integrations.registry import export_text
from streamplace.integrations.whole_operators import operator_devices
from streamplace.problem.placement import Placement
from tests.support.instance_placements import (
    instance_placements,
    pe_partition,
    placement_without_streams,
    word_count_placement,
)

GOLDEN = Path(__file__).parent / "golden"
KINDS = ("capsys", "storm-ras", "ibm-spl", "ibm-overlay", "kubernetes")
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


def test_spl_requires_whole_operators() -> None:
    with pytest.raises(ProblemError, match=r"'count'.*--whole-operators"):
        export_text(word_count_placement(whole=False), "ibm-spl")


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
