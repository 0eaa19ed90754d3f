"""The option --typical-costs of `place`, `plan`, `size` and `import`."""

import json
import shlex
from pathlib import Path

import pytest

import streamplace as sp
from tests.corpus.engine_documents import DOCUMENTS
from tests.support.cli import Capture, json_of, printed, refused, succeeds
from tests.support.documents import read_document

GRAPH = {
    "format": "streamplace-graph",
    "version": 1,
    "source_rate": 2000,
    "operators": [
        {"name": "read", "instructions": 50000, "payload_bytes": 200},
        {"name": "window", "instructions": None, "payload_bytes": None},
        {"name": "write", "instructions": None, "payload_bytes": 0},
    ],
    "streams": [
        {"source": "read", "target": "window"},
        {"source": "window", "target": "write", "selectivity": None},
    ],
}
"""Of 7 costs, 4 are unknown: two instructions, a payload and a selectivity."""
COUNT = "4 of 7 costs are typical values"
FAST = ("--placer", "greedy", "--devices", "3x2500")


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    file = tmp_path / "graph.json"
    file.write_text(json.dumps(GRAPH))
    return file


def test_place_says_what_the_answer_rests_on(graph: Path, capsys: Capture) -> None:
    lines = succeeds(capsys, "place", graph, *FAST, "--typical-costs").splitlines()
    assert lines[-3].startswith(f"{COUNT}; throughput between ")
    assert lines[-3].endswith(" and 2,000 tuples/s with 90%")
    assert lines[-2].startswith("if more is offered, it carries between ")
    assert lines[-1].startswith("measure first the instructions of window (CPU seconds per tuple x")
    found = json_of(capsys, "place", graph, *FAST, "--typical-costs")["typical_costs"]
    assert (found["typical"], found["costs"], found["probability"]) == (4, 7, 0.9)
    low, high = found["throughput"]
    assert 0 < low < high == 2000.0
    assert found["sustained"][0] == low
    assert found["sustained"][1] > 2000.0
    assert found["measure_first"]["name"] == "window"
    assert found["measure_first"]["factor"] < found["sustained"][1] / low


def test_without_the_option_unknown_costs_are_refused_as_before(
    graph: Path, capsys: Capture
) -> None:
    assert "unknown: instructions of 'window', 'write'" in refused(capsys, "place", graph, *FAST)
    known = {"instructions": 1000, "payload_bytes": 10}
    rows = [{**row, **known} for row in GRAPH["operators"]]  # type: ignore[attr-defined]
    streams = [{**row, "selectivity": 1} for row in GRAPH["streams"]]  # type: ignore[attr-defined]
    graph.write_text(json.dumps({**GRAPH, "operators": rows, "streams": streams}))
    assert "typical_costs" not in json_of(capsys, "place", graph, *FAST)
    out, err = printed(capsys, "place", graph, *FAST, "--typical-costs")
    assert "typical" not in out
    assert "--typical-costs has no effect: the graph lacks no cost" in err


def test_the_source_rate_has_no_typical_value(graph: Path, capsys: Capture) -> None:
    graph.write_text(json.dumps({**GRAPH, "source_rate": None}))
    assert "source rate" in refused(capsys, "place", graph, *FAST, "--typical-costs")


def test_with_confidence_and_start(graph: Path, tmp_path: Path, capsys: Capture) -> None:
    found = json_of(capsys, "place", graph, *FAST, "--typical-costs", "--confidence", "0.5")
    assert {"confidence", "typical_costs"} <= found.keys()
    file = tmp_path / "placement.json"
    succeeds(capsys, "place", graph, *FAST, "--typical-costs", "-o", file)
    started = ("--start", file, "--typical-costs")
    assert COUNT in succeeds(capsys, "place", graph, *started)
    assert json_of(capsys, "place", graph, *started)["typical_costs"]["typical"] == 4


def test_later_commands_say_that_costs_are_guesses(
    graph: Path, tmp_path: Path, capsys: Capture
) -> None:
    """One line on stderr, also of a placement in columns and of a graph that `import` filled."""
    note = f"{COUNT} (guesses): those of 'window', 'write'\n"
    for name in ("placement.json", "placement.npz"):
        file = tmp_path / name
        succeeds(capsys, "place", graph, *FAST, "--typical-costs", "-o", file)
        for command in ("info", "simulate", "explain"):
            assert printed(capsys, command, file)[1] == note
        assert printed(capsys, "explain", file, "--each-loss")[1] == note
        assert printed(capsys, "diff", file, file)[1] == f"{file}: {note}" * 2
        page = tmp_path / "page.html"
        assert printed(capsys, "report", file, "-o", page)[1].startswith(f"{file}: {note}")
        assert f'"guesses":"{note[:-1]}"' in page.read_text()
        facts = json_of(capsys, "info", file)["graph"]["typical_costs"]
        assert facts == {"typical": 4, "costs": 7, "operators": ["window", "write"]}
    known = tmp_path / "known.json"
    sp.write_dataset(known, [sp.read_placement(tmp_path / "placement.json").problem.graph])
    assert json_of(capsys, "place", known, *FAST)["typical_costs"]["typical"] == 4


def test_a_graph_with_unknown_costs_is_at_fault(
    graph: Path, tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "placement.json"
    succeeds(capsys, "place", graph, *FAST, "--typical-costs", "-o", file)
    line = refused(capsys, "simulate", graph, file)
    assert line.startswith(f"streamplace: {graph}: unknown: instructions of 'window', 'write'")


def test_makespans_have_a_count_only(graph: Path, capsys: Capture) -> None:
    options = ("--objective", "makespan", "--placer", "heft", "--devices", "3x2500")
    assert succeeds(capsys, "place", graph, *options, "--typical-costs").splitlines()[-1] == COUNT


def test_plan_and_size(graph: Path, tmp_path: Path, capsys: Capture) -> None:
    for words in (("plan", "--time-limit", "0.02"), ("size", "--time-limit", "0.1")):
        command, *options = words
        cluster = ("--devices", "4x2500", *options, "--typical-costs")
        assert f"{COUNT}; throughput " in succeeds(capsys, command, graph, *cluster)
        found = json_of(capsys, command, graph, *cluster)["typical_costs"]
        assert found["throughput"][0] <= 2000.0
    several = ("size", graph, "--devices", "4x2500", "--at", "500,1000", "--typical-costs")
    assert succeeds(capsys, *several).splitlines()[-1] == COUNT
    sized = tmp_path / "sized.json"
    succeeds(capsys, "size", graph, "--devices", "4x2500", "--typical-costs", "--graph-out", sized)
    assert not sp.read_graph(sized).unknown


def test_the_command_that_plan_prints_fills_the_same_costs(
    graph: Path, tmp_path: Path, capsys: Capture
) -> None:
    cluster = tmp_path / "cluster.json"
    devices = [{"name": name, "mips": mips} for name, mips in (("fast", 9000), ("slow", 100))]
    cluster.write_text(json.dumps({"devices": devices}))
    options = ("--cluster", cluster, "--typical-costs", "--time-limit", "0.1")
    line = succeeds(capsys, "plan", graph, *options).splitlines()[-1]
    command = shlex.split(line.removeprefix("to place on these devices: "))
    assert command[0] == "streamplace"
    assert json_of(capsys, *command[1:])["typical_costs"]["typical"] == 4


@pytest.mark.parametrize("command", ["place", "size"])
def test_not_with_several_jobs(command: str, tmp_path: Path, capsys: Capture) -> None:
    line = refused(capsys, command, "--job-file", tmp_path / "jobs.json", "--typical-costs")
    assert "cannot combine --job-file with --typical-costs" in line


def test_import_fills_what_neither_file_nor_costs_state(tmp_path: Path, capsys: Capture) -> None:
    file, costs, graph = (tmp_path / name for name in ("document", "costs.toml", "graph.json"))
    file.write_text(DOCUMENTS["flink-plan"][0])
    options = ("import", file, "--from", "flink-plan", "--logical", "-o", graph)
    _, err = printed(capsys, *options, "--typical-costs")
    assert " costs are typical values, which are guesses; place --confidence P says" in err
    assert not sp.read_graph(graph).unknown
    name = sp.read_graph(graph).names[0]
    costs.write_text(f'[operators."{name}"]\ninstructions = 17\n')
    succeeds(capsys, *options, "--costs", costs, "--typical-costs")
    row = sp.read_graph(graph).operators[0]
    assert (row.instructions, row.instructions_se) == (17.0, 0.0)
    found = sp.read_job(file, "flink-plan", form="logical", typical_costs=True)
    assert found.graph.unknown == {}


def test_import_says_that_no_cost_is_missing(tmp_path: Path, capsys: Capture) -> None:
    table = tmp_path / "table.csv"
    table.write_text("name,to,cpu_us,payload_bytes,selectivity\na,b,3,4,1\nb,,3,0,\n")
    _, err = printed(capsys, "import", table, "--from", "csv", "--typical-costs")
    assert "note: no typical value is used: the graph lacks no cost" in err
    assert "guesses" not in err


STREAMS = [
    kind
    for kind, (text, *_) in DOCUMENTS.items()
    if read_document(kind, text).graph.firing == "each"
]


@pytest.mark.parametrize("kind", STREAMS)
def test_jobs_of_every_format_can_be_filled(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "document"
    file.write_text(DOCUMENTS[kind][0])
    assert not sp.read_job(file, kind, typical_costs=True).graph.unknown


def test_files_of_a_single_pass_and_clusters_are_refused(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "document"
    [kind, *_] = [each for each in DOCUMENTS if each not in STREAMS]
    file.write_text(DOCUMENTS[kind][0])
    line = refused(capsys, "import", file, "--from", kind, "--typical-costs")
    assert "typical costs are of stream jobs" in line
    file.write_text("{}")
    line = refused(capsys, "import", file, "--from", "kubernetes-nodes", "--typical-costs")
    assert "--typical-costs requires a format of jobs" in line
