"""Readers and writers of documents, and what they lose."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamplace.errors import ProblemError, UsageError
from streamplace.integrations.export_notes import assumptions, losses
from streamplace.integrations.instances import operator_devices
from streamplace.integrations.kubernetes_pods import dns_label, label_value
from streamplace.integrations.registry import WRITERS, export_text
from streamplace.problem.cluster import Cluster, Device
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.logical import LogicalGraph
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from tests.corpus.engine_documents import DOCUMENTS
from tests.corpus.engine_documents.flink import (
    FLINK_COMPILED,
    FLINK_EXECUTION,
    FLINK_RUNNING,
    FLINK_TABLES,
)
from tests.support.chain_placement import chain_placement
from tests.support.documents import read_document
from tests.support.instance_placements import (
    instance_placements,
    pe_partition,
    placement_without_streams,
    word_count_placement,
)
from tests.support.paths import ROOT

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


TEXT = (ROOT / "docs" / "engines" / "index.md").read_text()
COLUMNS = {
    "Flink: [execution plan](flink.md)": ("flink-plan", [json.dumps(FLINK_EXECUTION)]),
    "REST plan": ("flink-plan", [json.dumps(FLINK_RUNNING)]),
    "compiled plan of SQL": ("flink-plan", [*map(json.dumps, (FLINK_COMPILED, FLINK_TABLES))]),
    **{f"`{kind}`": (kind, [*DOCUMENTS[kind]]) for kind in DOCUMENTS},
}
"""Heading of a column -> the format, and documents of it."""
FACTS: dict[str, Callable[[LogicalGraph], object]] = {
    "streams": lambda found: len(found.graph.streams),
    "parallelism": lambda found: found.parallelism,
    "operators on one device": lambda found: found.graph.constraints.colocate,
    "operators on different devices": lambda found: found.graph.constraints.exlocate,
    "tags of hosts": lambda found: found.graph.requires,
    "memory": lambda found: found.graph.memory_bytes.any(),
    "state between passes": lambda found: found.graph.constraints.colocate,
    "bytes of tensors": lambda found: found.graph.payload_bytes.any(),
}
"""Row -> whether a graph has that fact."""


def cells() -> dict[tuple[str, str], str]:
    """Return (row, column) -> the text of the cell, of the columns that are tested."""
    found, heading = dict[tuple[str, str], str](), list[str]()
    for line in TEXT[TEXT.index("## What each reader reads") :].split("\n"):
        row = [cell.strip() for cell in line.strip("|").split("|")] if line[:1] == "|" else []
        if row and not heading:
            heading = row
        elif not row:
            heading = []
        elif row[0] in FACTS:
            pairs = zip(heading[1:], row[1:], strict=True)
            found |= {(row[0], column): cell for column, cell in pairs if column in COLUMNS}
    return found


CELLS = cells()


def test_all_facts_are_in_the_table() -> None:
    assert {row for row, _ in CELLS} == {*FACTS}


@pytest.mark.parametrize(("row", "column"), CELLS)
def test_a_fact_is_read_where_the_table_says_so(row: str, column: str) -> None:
    kind, documents = COLUMNS[column]
    is_read = any(FACTS[row](read_document(kind, text)) for text in documents)
    says_so = not CELLS[row, column].startswith(("no", "costs"))
    assert bool(is_read) == says_so


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
