"""Fields of operators and streams: cores, seconds by kind, types, shapes, firing, multicast."""

import json
import os
import re
import shutil
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import streamplace
from benchmarks.reference.strategies import graphs
from streamplace import Cluster, Operator, Placement, Problem, Stream, StreamGraph, read_graph
from streamplace.errors import FormatError, GraphError
from streamplace.files import write_json
from streamplace.files.clusters import cluster_from
from streamplace.files.graphs import graph_from, graph_to
from streamplace.files.npz import write_columns
from streamplace.files.summary import summary
from streamplace.problem.expansion import to_instances, to_operators
from streamplace.problem.graph import UNKNOWN
from streamplace.problem.graph_checks import GUESSED, row_of
from streamplace.problem.logical import LogicalGraph
from streamplace.problem.operators import fields_of
from streamplace.scoring.throughput import simulate
from tests.corpus.documents import DATAFLOW_GRAPH, GRAPH
from tests.support.cli import Capture, printed
from tests.support.documents import read_document
from tests.support.graph_formats import check_formats, read_back
from tests.support.released_data import SHARED

GOLDEN = SHARED / "makespan" / "golden.jsonl"
NAME = st.text('ab"\\<&ü ', min_size=1, max_size=4)
SECONDS = st.dictionaries(NAME, st.none() | st.floats(0, 1e15), max_size=3)
GRAPH_OF_ALL = graph_from(DATAFLOW_GRAPH, "x")
STORED_HASH = "46986ecc738c2185ac8b2eca3b28f778465f2e340c0ec59d3ca9fdb4db6e27f7"
"""The hash of a graph with none of these fields, from before they existed."""


@st.composite
def dataflow_graphs(draw: st.DrawFn) -> StreamGraph:
    """Return a graph whose operators have any of the fields."""
    operators = [
        Operator(
            f"op{v}",
            draw(st.sampled_from([UNKNOWN, 1e3])),
            10.0,
            seconds_on=draw(SECONDS),
            type=draw(st.just("") | NAME),
            output_shape=tuple(draw(st.lists(st.integers(0, 2**63 - 1), max_size=3))),
            meta_op=draw(st.just("") | NAME),
            typical=tuple(draw(st.lists(st.sampled_from(GUESSED["typical"]), unique=True))),
        )
        for v in range(draw(st.integers(1, 4)))
    ]
    return StreamGraph(
        operators,
        firing=draw(st.sampled_from(["each", "all"])),
        multicast=draw(st.sampled_from(["none", "device", "all"])),
    )


@given(graph=dataflow_graphs())
def test_every_format_keeps_the_fields(graph: StreamGraph, tmp_path_factory: Any) -> None:
    check_formats(graph, tmp_path_factory.mktemp("formats"))


def test_graphs_without_the_fields_keep_their_hash_and_their_files() -> None:
    graph = graph_from(GRAPH, "x")
    assert graph.sha256 == STORED_HASH
    written = repr(graph_to(graph)) + repr(list(graph.operators)) + repr(graph)
    file = BytesIO()
    write_columns(graph, file)
    for name in ("seconds_on", "type", "output_shape", "meta_op", "typical", "firing", "multicast"):
        assert name not in written
        assert name.encode() not in file.getvalue()


@pytest.mark.parametrize(
    "change",
    [
        {"seconds_on": {"gpu": 1.0}},
        {"seconds_on": {"gpu": None}},
        {"type": "conv"},
        {"output_shape": (1,)},
        {"meta_op": "conv"},
        {"typical": ("instructions",)},
    ],
)
def test_each_field_of_operators_changes_the_hash(change: dict[str, Any]) -> None:
    plain = StreamGraph([Operator("a", 1.0, 1.0)])
    changed = StreamGraph([Operator("a", 1.0, 1.0, **change)])
    assert changed.sha256 != plain.sha256
    assert changed != plain


def test_firing_and_multicast_change_the_hash() -> None:
    rows = [Operator("a", 1.0, 1.0)]
    graphs = [
        StreamGraph(rows),
        StreamGraph(rows, firing="all"),
        StreamGraph(rows, multicast="device"),
        StreamGraph(rows, multicast="all"),
    ]
    assert len({graph.sha256 for graph in graphs}) == len(graphs)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"type": 3}, r"^operators\[0\].type: must be"),
        ({"type": None}, r"^operators\[0\].type: must be"),
        ({"meta_op": "\ud800"}, r"^operators\[0\].meta_op: is not valid unicode"),
        ({"output_shape": 3}, r"^operators\[0\].output_shape: must be a list of whole numbers"),
        ({"output_shape": "3"}, r"^operators\[0\].output_shape: must be a list"),
        ({"output_shape": [True]}, r"^operators\[0\].output_shape: a size must be a whole number"),
        ({"output_shape": [2**63]}, r"^operators\[0\].output_shape: sizes must be 0 to"),
        ({"seconds_on": {"gpu": -1.0}}, r"^operator 'a': seconds_on\['gpu'\] must be 0 to"),
        ({"seconds_on": {"gpu": UNKNOWN}}, r"^operator 'a': seconds_on\['gpu'\] must be 0 to"),
        ({"seconds_on": {"gpu": "1"}}, r"^operator 'a': seconds_on\['gpu'\] must be a number"),
        ({"seconds_on": {"": 1.0}}, r"^operator 'a': seconds_on: the name of a kind is empty"),
        (
            {"seconds_on": {3: 1.0}},
            r"^operator 'a': seconds_on: the name of a kind must be a string",
        ),
        ({"seconds_on": 2.0}, r"^operator 'a': seconds_on: must be Mapping"),
    ],
)
def test_values_of_the_wrong_kind_are_refused(row: dict[str, Any], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        StreamGraph([Operator("a", 1.0, 1.0, **row)])


def test_rows_that_are_mappings_name_the_wrong_field() -> None:
    row = {"name": "a", "instructions": 1.0, "payload_bytes": 1.0}
    with pytest.raises(GraphError, match=r"^operators\[0\].seconds_on: must be a mapping of kinds"):
        StreamGraph([{**row, "seconds_on": [1.0]}])
    with pytest.raises(GraphError, match=r"^operators\[0\].type: must be text"):
        StreamGraph([{**row, "type": 1}])


@pytest.mark.parametrize(("name", "choices"), [("firing", "each or all"), ("multicast", "none, d")])
def test_unknown_semantics_are_refused(name: str, choices: str) -> None:
    with pytest.raises(GraphError, match=f"^{name}: must be {choices}.* \\(got 'some'\\)"):
        StreamGraph([Operator("a", 1.0, 1.0)], **{name: "some"})  # type: ignore[arg-type]
    for kind, text in (("dot", f'digraph {{ {name}="some"; a [instructions=1] }}'),):
        with pytest.raises(FormatError, match=f"{name}: must be"):
            read_document(kind, text)


def test_columns_and_other_numbers() -> None:
    graph = StreamGraph.from_columns(
        ["a", "b"],
        [UNKNOWN, 1.0],
        [1.0, 1.0],
        [[0, 1]],
        seconds_on={0: {"gpu": 2.0}},
        type={1: "relu"},
        output_shape={0: [3, 4]},
        meta_op={1: "layer"},
        firing="all",
        multicast="all",
    )
    first, second = graph.operators
    assert (first.seconds_on, first.output_shape) == ({"gpu": 2.0}, (3, 4))
    assert (second.type, second.meta_op, second.seconds_on) == ("relu", "layer", {})
    faster, _ = graph.with_numbers(seconds_on={0: {"gpu": 1.0}})
    assert faster.operators[0].seconds_on == {"gpu": 1.0}
    assert (faster.type, faster.firing, faster.multicast) == (graph.type, "all", "all")
    same, _ = graph.with_numbers(payload_bytes=[1.0, 1.0])
    assert same == graph
    with pytest.raises(GraphError, match="type: unknown operator index 2"):
        StreamGraph.from_columns(["a"], [1.0], [1.0], [], type={2: "x"})


def test_instances_keep_the_fields_of_their_operator() -> None:
    logical = LogicalGraph(GRAPH_OF_ALL, {"conv[0]": 3})
    for graph in (to_instances(logical), to_operators(logical)):
        assert (graph.firing, graph.multicast) == ("all", "device")
        parts = [o for o in graph.operators if "conv" in o.name]
        assert {(o.type, o.meta_op, o.output_shape) for o in parts} == {("conv", "conv", (8, 16))}
        assert {o.seconds_on for o in parts} == {GRAPH_OF_ALL.operators[1].seconds_on}


def test_an_operator_with_a_time_needs_no_instructions() -> None:
    assert GRAPH_OF_ALL.unknown == {}
    nowhere = StreamGraph([Operator("a", UNKNOWN, 0.0, seconds_on={"gpu": None})])
    assert nowhere.unknown == {"instructions": ["a"]}


def test_info_counts_types_and_kinds(tmp_path: Path) -> None:
    write_json(tmp_path / "graph.json", DATAFLOW_GRAPH)
    facts = summary(tmp_path / "graph.json")
    assert facts["types"] == {"conv": 1, "input": 1}
    assert facts["seconds_on"] == {"cpu": 1, "gpu": 2}
    assert (facts["firing"], facts["multicast"]) == ("all", "device")
    write_json(tmp_path / "graph.json", GRAPH)
    assert not {"types", "seconds_on", "firing", "multicast"} & {*summary(tmp_path / "graph.json")}


def test_the_table_shows_types_and_kinds() -> None:
    view = GRAPH_OF_ALL._view()
    assert "firing all, multicast device" in view.title
    assert view.body[0].head[-2:] == ("type", "seconds on")  # type: ignore[union-attr]


def test_the_golden_cases_of_makespans_are_read() -> None:
    if not GOLDEN.exists():
        pytest.skip("the golden cases are not in ../shared")
    cases = [json.loads(line) for line in GOLDEN.read_text().splitlines()]
    for case in cases:
        graph = graph_from({"source_rate": 1.0, **case["graph"]}, case["name"])
        problem = Problem(graph, cluster_from(case["cluster"], case["name"]))
        placed = Placement.of(problem, case["placement"])
        assert problem.feasibility.violation(placed.devices) is None
        value = case["graph"]
        assert (graph.firing, graph.multicast) == (value["firing"], value["multicast"])
    assert {case["cluster"]["network"]["kind"] for case in cases} >= {"free", "egress"}


ROWS = [Operator("a", 1e6, 10.0, cores=3), Operator("b", 1e6, 0.0)]
WITH_CORES = StreamGraph(ROWS, [Stream("a", "b")], source_rate=1000.0)


@pytest.mark.parametrize("cores", [0, -1, 1.5, 2_000_000])
def test_other_numbers_are_refused(cores: Any) -> None:
    with pytest.raises(GraphError, match=r"operators\[0\].cores: must be a whole number, 1 to"):
        StreamGraph([Operator("a", 1, 1, cores=cores)])


def test_formats_keep_it(tmp_path: Path) -> None:
    for read in read_back(WITH_CORES, tmp_path).values():
        assert read.cores.tolist() == [3.0, 1.0]
        assert read.sha256 == WITH_CORES.sha256


def test_a_graph_of_single_threads_keeps_its_hash_and_columns() -> None:
    plain = StreamGraph([("a", 1e6, 10.0), ("b", 1e6, 0.0)], [("a", "b")])
    assert plain.cores.tolist() == [1.0, 1.0]
    assert plain.sha256 != WITH_CORES.sha256
    columns = BytesIO()
    write_columns(plain, columns)
    assert b"cores" not in columns.getvalue()


def test_a_file_that_states_one_core_keeps_it(tmp_path: Path) -> None:
    file = tmp_path / "graph.json"
    rows = [{"name": "a", "instructions": 1, "cores": 1}, {"name": "b", "instructions": 1}]
    value = {"format": "streamplace-graph", "version": 1, "operators": rows}
    file.write_text(json.dumps(value))
    graph = read_graph(file)
    assert graph.stated_cores == {"a"}
    write_json(file, graph_to(graph))
    assert read_graph(file).stated_cores == {"a"}


def test_an_operator_uses_its_cores_and_no_more() -> None:
    """3,000 MIPS of work on four cores of 1,000 MIPS each."""
    for model in ("bottleneck", "path-average", "engine"):
        for cores, expected in ((1, 1000 / 3), (2, 2000 / 3), (3, 1000.0), (4, 1000.0)):
            graph = StreamGraph([Operator("a", 3e6, 0.0, cores=cores)], source_rate=1000.0)
            problem = Problem(graph, Cluster.parse("1x1000x4"), model=model)
            score = simulate(Placement(problem, [0]))
            assert score.throughput == pytest.approx(expected)
            assert score.bottleneck.kind == ("device" if cores == 4 else "operator")


def test_place_notes_an_operator_that_limits_throughput_without_stated_cores(
    tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "graph.json"
    for rate, stated, noted in ((300, {}, False), (1000, {}, True), (1000, {"cores": 1}, False)):
        row = {"name": "heavy", "instructions": 3e6, "payload_bytes": 0} | stated
        value = {"format": "streamplace-graph", "version": 1, "source_rate": rate}
        file.write_text(json.dumps(value | {"operators": [row]}))
        words = ("place", file, "--devices", "2x1000x4", "--placer", "single")
        output, notes = printed(capsys, *words)
        assert ("operator 'heavy' can use one core of its device" in notes) == noted
    assert "bottleneck operator heavy at 300.0%" in output


@given(graph=graphs())
def test_tuples_and_mappings_give_the_same_graph_as_rows(graph: StreamGraph) -> None:
    def fields(row: Any) -> dict[str, Any]:
        return {name: getattr(row, name) for name in row.__dataclass_fields__}

    shares = {graph.names[v]: float(graph.source_share[v]) for v in graph.sources}
    by_name = StreamGraph(
        [fields(o) for o in graph.operators],
        [fields(s) for s in graph.streams],
        source_shares=shares,
    )
    in_order = StreamGraph(
        [tuple(fields(o).values()) for o in graph.operators],
        [tuple(fields(s).values()) for s in graph.streams],
        source_shares=shares,
    )
    assert by_name.sha256 == in_order.sha256 == graph.sha256


def test_missing_fields_have_the_defaults_of_rows() -> None:
    operators: list[Any] = [
        ("a", 9e4, 2_500),
        {"name": "b", "instructions": 1, "payload_bytes": 0},
    ]
    streams: list[Any] = [("a", "b"), {"source": "a", "target": "b", "selectivity": 0.5}]
    short = StreamGraph(operators, streams)
    rows = StreamGraph(
        [Operator("a", 9e4, 2_500), Operator("b", 1, 0)],
        [Stream("a", "b"), Stream("a", "b", 0.5)],
    )
    assert short == rows
    assert len(StreamGraph([("alone", np.float32(1), np.int64(2))]).streams) == 0


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("a",), "operators[7]: missing field 'instructions'"),
        (("a", 1), "operators[7]: missing field 'payload_bytes'"),
        (("a", "1", 0), "operators[7].instructions: must be a number (got '1')"),
        (("a", True, 0), "operators[7].instructions: must be a number (got True)"),
        (("a", None, 0), "operators[7].instructions: must be a number (got None)"),
        ((1, 1, 0), "operators[7].name: must be text (got 1)"),
        (("a", 1, 0, 0, 5), "operators[7].requires: must be a list of labels (got 5)"),
        (("a", 1, 0, 0, "gpu"), "operators[7].requires: must be a list of labels (got 'gpu')"),
        (("a",) * 21, "operators[7]: expected at most 20 values (got 21)"),
        (
            {"name": "a", "instruction": 1},
            "unknown field 'instruction'; did you mean 'instructions'?",
        ),
        (
            {"name": "a", "cpu": 1},
            "operators[7]: unknown field 'cpu'; known: 'name', 'instructions'",
        ),
        ({1: 2}, "operators[7]: unknown field 1; known: 'name'"),
        ("a", "operators[7]: must be sp.Operator, a tuple or a mapping, not str"),
        (Stream("a", "b"), "operators[7]: must be sp.Operator, a tuple or a mapping, not Stream"),
        (("a", "x" * 10_000, 0), "must be a number (got 'xxx"),
    ],
)
def test_an_error_is_one_line(row: Any, message: str) -> None:
    with pytest.raises(GraphError) as caught:
        row_of(Operator, "operators[7]", row)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize("row", [Operator, Stream])
def test_docstrings_say_what_each_field_means(row: type[Operator | Stream]) -> None:
    _, parameters, raises = re.split("\n(?:Parameters|Raises)\n-+\n", row.__doc__ or "")
    meanings = [
        f"{name}\n    {text}" for name, text in re.findall(r"(\w+)\n    (.+)\.", parameters)
    ]
    expected = [
        f"{each.name}\n    {each.about[0].upper()}{each.about[1:]}" for each in fields_of(row)
    ]
    assert meanings == expected
    assert raises.startswith("GraphError\n")


def test_errors_distinguish_streams_from_operators() -> None:
    with pytest.raises(GraphError, match=r"streams\[1\].selectivity: must be a number"):
        StreamGraph([("a", 1, 0), ("b", 1, 0)], [("a", "b"), ("a", "b", "half")])
    with pytest.raises(GraphError, match=r"streams\[0\]: missing field 'target'"):
        StreamGraph([("a", 1, 0)], [("a",)])


PACKAGE = Path(streamplace.__file__).parent
FIELDS = """
    zone: str = field(default="", metadata=entry(TEXT, "the zone it belongs to"))
    budget: float = field(
        default=0.0, metadata=entry(Number(most=10.0), "money per hour", is_total=True)
    )
    rights: tuple[str, ...] = field(default=(), metadata=entry(LABELS, "what it may read"))

    def __post_init__"""
COLUMNS = """    meta_op: Mapping[int, str]
    zone: Mapping[int, str]
    budget: Floats
    rights: Mapping[int, tuple[str, ...]]
"""
CHECKS = """
import json, pickle, sys, tempfile
from pathlib import Path

from streamplace import Operator, StreamGraph
from streamplace.errors import StreamplaceError
from streamplace.files.graphs import graph_from, graph_to
from streamplace.files.npz import read_columns, write_columns
from streamplace.cli.schema import schema_of
from streamplace.formats import dot, graphml
from streamplace.formats.attributes import to_attributed_graph
from streamplace.problem.expansion import to_instances, to_operators
from streamplace.problem.logical import LogicalGraph
from streamplace.problem.networkx_interop import from_networkx, to_networkx

plain = [("a", 1.0, 2.0), ("b", 3.0, 4.0)]
values = {"zone": "east", "budget": 2.5, "rights": ("x", "y")}
graph = StreamGraph([Operator("a", 1.0, 2.0, **values), Operator("b", 3.0, 4.0)], [("a", "b")])
found = {"hashes": [StreamGraph(plain, [("a", "b")]).sha256]}
for name, value in values.items():
    one = StreamGraph([Operator("a", 1.0, 2.0, **{name: value}), plain[1]], [("a", "b")])
    found["hashes"].append(one.sha256)

file = Path(tempfile.mkdtemp()) / "graph.npz"
with file.open("wb") as opened:
    write_columns(graph, opened)
value = graph_to(graph)
by_number = StreamGraph.from_columns(
    ["a", "b"],
    [1.0, 3.0],
    [2.0, 4.0],
    [[0, 1]],
    zone={0: "east"},
    budget=[2.5, 0.0],
    rights={0: ["x", "y"]},
)
again = {
    "rows": StreamGraph(graph.operators, graph.streams),
    "columns": by_number,
    "json": graph_from(json.loads(json.dumps(value)), "x"),
    "npz": read_columns(file),
    "dot": dot.read(dot.to_text(to_attributed_graph(graph)), "x").graph,
    "graphml": graphml.read(graphml.to_text(to_attributed_graph(graph)), "x").graph,
    "networkx": from_networkx(to_networkx(graph)),
    "pickle": pickle.loads(pickle.dumps(graph)),
    "numbers": graph.with_numbers(instructions=[1.0, 3.0])[0],
}
found["kept"] = {
    name: one.sha256 == graph.sha256 and one.operators[0] == graph.operators[0]
    for name, one in again.items()
}
found["written"] = [{**value["operators"][0]}, {**value["operators"][1]}]
properties = schema_of("graph")["$defs"]["OperatorForm"]["properties"]
found["schema"] = [properties[name]["description"] for name in values]
logical = LogicalGraph(graph, {"a": 2})
found["instances"] = [
    [o.name, o.zone, o.budget, [*o.rights]] for o in to_instances(logical).operators
]
found["folded"] = [[o.zone, o.budget] for o in to_operators(logical).operators]


def fault(act):
    try:
        act()
    except StreamplaceError as error:
        return str(error)
    return None


plain = {"name": "a", "instructions": 1.0, "payload_bytes": 1.0}
bad = {"zone": 3, "budget": 11.0, "rights": "x"}
found["faults"] = {
    name: [
        fault(lambda: StreamGraph([Operator(**plain, **{name: wrong})])),
        fault(lambda: StreamGraph([{**plain, name: wrong}])),
        fault(lambda: graph_from({"operators": [{**plain, name: wrong}]}, "x")),
    ]
    for name, wrong in bad.items()
}
print(json.dumps(found))
"""


def copy_with_fields(folder: Path) -> None:
    """Copy the package's modules and declare three fields there, as a developer would."""
    shutil.copytree(
        PACKAGE,
        folder / "streamplace",
        ignore=lambda at, names: [
            name
            for name in names
            if Path(at, name).is_file() and not name.endswith((".py", ".toml"))
        ],
    )
    operators = folder / "streamplace" / "problem" / "operators.py"
    text = operators.read_text()
    operators.write_text(text.replace("\n    def __post_init__", FIELDS, 1))
    graph = folder / "streamplace" / "problem" / "graph.py"
    text = graph.read_text()
    graph.write_text(re.sub(r"    meta_op: .*\n", COLUMNS, text, count=1))


def test_a_new_field_of_operators_reaches_every_format(tmp_path: Path) -> None:
    copy_with_fields(tmp_path)
    path = os.pathsep.join([str(tmp_path), str(PACKAGE.parent)])
    run = subprocess.run(
        [sys.executable, "-c", CHECKS],
        env={**os.environ, "PYTHONPATH": path},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    graph = StreamGraph([Operator("a", 1.0, 2.0), Operator("b", 3.0, 4.0)], [("a", "b")])
    assert found["hashes"][0] == graph.sha256
    assert len({*found["hashes"]}) == len(found["hashes"])
    assert found["kept"] == dict.fromkeys(found["kept"], True)
    assert found["written"] == [
        {
            **{"name": "a", "instructions": 1.0, "payload_bytes": 2.0},
            **{"zone": "east", "budget": 2.5, "rights": ["x", "y"]},
        },
        {"name": "b", "instructions": 3.0, "payload_bytes": 4.0},
    ]
    assert found["schema"] == ["the zone it belongs to", "money per hour", "what it may read"]
    assert found["instances"] == [
        ["a[0]", "east", 2.5, ["x", "y"]],
        ["a[1]", "east", 2.5, ["x", "y"]],
        ["b", "", 0.0, []],
    ]
    assert found["folded"] == [["east", 5.0], ["", 0.0]]
    of_rows, of_mappings, of_files = zip(*found["faults"].values(), strict=True)
    assert of_rows == (
        "operators[0].zone: must be a string (got 3)",
        "operators[0].budget: must be finite and 0 to 10 (got 11)",
        "operators[0].rights: must be a list of labels, not text",
    )
    assert of_mappings == (
        "operators[0].zone: must be text (got 3)",
        "operators[0].budget: must be finite and 0 to 10 (got 11)",
        "operators[0].rights: must be a list of labels (got 'x')",
    )
    assert [fault.split(":")[1] for fault in of_files] == [
        " operators[0].zone",
        " operators[0].budget",
        " operators[0].rights",
    ]
