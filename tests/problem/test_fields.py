"""A new field of operators: it is declared in a copy of the package and reaches every format."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import streamplace
from streamplace import Operator, StreamGraph

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
    columns = folder / "streamplace" / "problem" / "graph_columns.py"
    text = columns.read_text()
    columns.write_text(re.sub(r"    meta_op: .*\n", COLUMNS, text, count=1))


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
