"""Readers and writers of documents, and what they lose."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given

from streamplace.errors import FormatError, UsageError
from streamplace.formats.documents import export_text, read_text_as
from streamplace.formats.documents import read_document as read_file
from streamplace.formats.registry import format_named, formats
from streamplace.problem.cluster import Cluster, Device
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.instances import operator_devices
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
    word_count_placement,
)
from tests.support.paths import ROOT

GOLDEN = Path(__file__).parent / "golden"
KINDS = ("capsys", "storm-ras", "ibm-spl", "ibm-overlay", "kubernetes")


@pytest.mark.parametrize("kind", KINDS)
def test_exports_equal_the_golden_texts(kind: str) -> None:
    """The golden texts were checked by hand against the documentation of each system."""
    assert export_text(word_count_placement(), kind) == (GOLDEN / f"{kind}.txt").read_text()


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_placement_gives_the_same_text(kind: str) -> None:
    assert export_text(word_count_placement(), kind) == export_text(word_count_placement(), kind)


@pytest.mark.parametrize("content", [b"", b" \n"])
def test_an_empty_file_is_refused_in_the_same_words(content: bytes, tmp_path: Path) -> None:
    """Of every format whose files have a reader."""
    (tmp_path / "void").write_bytes(content)
    readers = [each.name for each in formats() if each.read or each.read_bytes]
    assert {"dot", "graphml", "onnx", "openvino", "flink-plan", "cepsim"} <= {*readers}
    for kind in readers:
        with pytest.raises(FormatError, match=r"void: is empty$"):
            read_file(str(tmp_path / "void"), kind)


def test_a_format_that_is_only_written_names_those_that_are_read() -> None:
    with pytest.raises(UsageError, match=r"^format 'flink' has no reader of texts; did you mean"):
        read_text_as("{}", "x", "flink")


def test_unknown_format() -> None:
    with pytest.raises(UsageError, match=r"unknown format 'heron'.*flink-helper"):
        export_text(word_count_placement(), "heron")


@given(instance_placements(whole=True))
def test_devices_of_whole_operators(placement: Placement) -> None:
    graph = placement.problem.graph
    found = operator_devices(placement)
    for v, (name, device) in enumerate(placement.assignment.items()):
        assert found.pop(graph.instance_of.get(v, name), device) == device
    assert not found


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


def test_storm_chooses_hosts_of_unequal_devices() -> None:
    (lost,) = format_named("storm-ras").lost(chain_placement(["s", "t"], [0, 1], {}, UNEQUAL))
    assert lost.startswith("devices differ, but Storm chooses the host of each component; ")
    assert not format_named("storm-ras").lost(chain_placement(["s", "t"], [0, 1], {}))


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
        return "; ".join(format_named(kind).assumed(placement))

    assert fault not in assumed(1000 * utilisation)
    assert fault in assumed(1000 * utilisation + 1)


def test_flink_chooses_instances_and_slots() -> None:
    split = chain_placement(["s", "a[0]", "a[1]"], [0, 0, 1], INSTANCES)
    (instances,) = format_named("flink").lost(split)
    assert instances.startswith("Flink chooses which instances of 'a' run on which device")
    whole = chain_placement(["s", "a[0]", "a[1]"], [0, 1, 1], INSTANCES)
    assert format_named("flink").lost(whole) == [
        "Flink chooses the TaskManagers of the slots of 'pe1'"
    ]
    pinned = chain_placement(["s", "a[0]", "a[1]"], [0, 1, 1], INSTANCES, UNEQUAL)
    assert not format_named("flink").lost(pinned)


def test_nothing_is_lost_on_equal_devices_without_instances() -> None:
    placement = chain_placement(["s", "t"], [0, 1], {})
    for each in formats():
        assert each.name == "ibm-overlay" or not each.lost(placement)


@pytest.mark.parametrize("kind", ["kubernetes", "storm-ras"])
def test_work_on_accelerators_is_counted_as_cpu(kind: str) -> None:
    found = format_named(kind).lost(on_a_gpu())
    (work,) = (each for each in found if "accelerator" in each)
    assert work.endswith(
        "which requires an accelerator, is counted as CPU; set what it needs by hand"
    )
    comments = [line for line in export_text(on_a_gpu(), kind).splitlines() if "Lost: " in line]
    assert comments == [f"# Lost: {each}" for each in found]
