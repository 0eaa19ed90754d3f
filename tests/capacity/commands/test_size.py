"""The command `size`, and graphs that state numbers of instances in other commands."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from streamplace import read_graph, read_placement
from streamplace.capacity import size
from streamplace.cli.main import main
from streamplace.files import write_dataset, write_json
from streamplace.problem.counts import expanded
from streamplace.problem.instances import operator_devices
from tests.support.cli import Capture, json_of, printed, refused, write_starter

GRAPH: dict[str, Any] = {
    "format": "streamplace-graph",
    "source_rate": 2e4,
    "operators": [
        {"name": "read", "instructions": 2e4, "payload_bytes": 100, "partitions": 16},
        {"name": "parse", "instructions": 9e5, "payload_bytes": 100},
        {"name": "count", "instructions": 4e5, "partitions": 128, "parallelism": "free"},
    ],
    "streams": [
        {"source": "read", "target": "parse", "partitioning": "forward"},
        {"source": "parse", "target": "count", "partitioning": "hash"},
    ],
}
PLAN = {
    "nodes": [
        {"id": 1, "type": "Source: in", "parallelism": 2, "contents": "Source: in"},
        {
            "id": 2,
            "type": "count",
            "parallelism": 3,
            "contents": "count",
            "predecessors": [{"id": 1, "ship_strategy": "HASH", "side": "second"}],
        },
        {
            "id": 3,
            "type": "out",
            "parallelism": 3,
            "contents": "out",
            "predecessors": [{"id": 2, "ship_strategy": "FORWARD", "side": "second"}],
        },
    ]
}
FAST = ("--devices", "10x2500x4", "--time-limit", "0.5")


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    write_json(tmp_path / "graph.json", GRAPH)
    return tmp_path / "graph.json"


def test_the_json_has_the_contract_s_keys(capsys: Capture, graph: Path) -> None:
    value = json_of(capsys, "size", graph, *FAST, "--target-utilisation", "0.7")
    assert value["parallelism"] == {"read": 1, "parse": 11, "count": 5}
    assert len(value["assignment"]) == value["instances"] == 17
    assert (value["minimise"], value["machines"], value["bound"]) == ("machines", 4, 4.0)
    assert (value["gap"], value["source_rate"], value["throughput"]) == (0.0, 2e4, 2e4)
    assert value["limits"][0]["operator"] == "count"
    assert value["limits"][0]["cause"] == "128 partitions"
    assert value["money"] is None


@pytest.mark.parametrize("cut_off", [True, False])
def test_a_note_says_that_a_stated_limit_ended_the_search(
    cut_off: bool, capsys: Capture, graph: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sized = size.size
    ended = lambda *arguments, **named: replace(sized(*arguments, **named), cut_off=cut_off)  # noqa: E731
    monkeypatch.setattr("streamplace.capacity.commands.size.sized", ended)
    _, err = printed(capsys, "size", graph, *FAST)
    assert ("--time-limit 0.5 ended the search, so that the answer depends" in err) == cut_off
    _, err = printed(capsys, "size", graph, *FAST[:2])  # limited by CPU time
    assert "ended the search" not in err


def test_the_result_is_a_placement_of_instances(
    capsys: Capture, graph: Path, tmp_path: Path
) -> None:
    file = tmp_path / "placement.json"
    assert main(["size", str(graph), *FAST, "-o", str(file)]) == 0
    assert "instances on" in capsys.readouterr().out
    placement = read_placement(file)
    assert {o.instance_of for o in placement.problem.graph.operators} >= {"parse", "count"}
    for command in (("explain", file), ("export", file, "--to", "csv"), ("info", file)):
        assert main([str(part) for part in command]) == 0


def test_several_rates(capsys: Capture, graph: Path) -> None:
    rows = json_of(capsys, "size", graph, *FAST, "--at", "1e4,2e4")["rows"]
    assert [row["source_rate"] for row in rows] == [1e4, 2e4]
    assert main(["size", str(graph), *FAST, "--at", "1e4,2e4"]) == 0
    assert "machines" in capsys.readouterr().out


@pytest.mark.long
@pytest.mark.parametrize("rates", [(), ("--at", "2e4")])
def test_an_unproven_limit_on_latency_has_an_exit_code_of_its_own(
    capsys: Capture, graph: Path, rates: tuple[str, ...]
) -> None:
    assert main(["size", str(graph), *FAST, *rates, "--max-latency", "p99=2ms", "--json"]) == 3
    out, notes = capsys.readouterr()
    found = json.loads(out)
    latency = (found["rows"][0] if rates else found)["latency"]
    assert latency["answer"] == "unproven"
    assert "latency limit p99 of 2 ms: unproven (exit code 3)" in notes


@pytest.mark.long
def test_rates_that_cannot_be_sustained(capsys: Capture, graph: Path) -> None:
    rows = json_of(capsys, "size", graph, *FAST, "--at", "1e4,1e9")["rows"]
    assert rows[0]["parallelism"]["count"] == 2
    assert {*rows[1]} == {"source_rate", "error", "at_most"}
    assert rows[1]["at_most"] == 8e5
    assert main(["size", str(graph), *FAST, "--at", "1e4,1e9"]) == 0
    assert "count: 128 partitions, 800,000 tuples/s at most" in capsys.readouterr().out
    assert "of 100,000 tuples/s at most" in refused(capsys, "size", graph, *FAST, "--at", "1e9,1e5")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--at", "1", "--source-rate", "2"), "cannot combine --at with --source-rate"),
        (("--at", "1", "-o", "x.json"), "cannot combine --at with -o"),
        (("-o", "-", "--json"), "only one of -o, --graph-out and --json can write to stdout"),
        (("--survive", "2"), "--survive: must be 0 or 1 (got 2)"),
        (("--catch-up", "0"), "must be finite and above 0"),
        (("--minimise", "money"), "graph.json: size: no device has a price"),
        (("--source-rate", "1e9"), "count: 128 partitions, 800,000 tuples/s at most"),
        (("--source-rate", "1e5"), "cannot keep up: together they carry"),
        (("--objective", "makespan"), "serves no other objective"),
        (
            ("--max-latency", "200ms"),
            "--max-latency: must be QUANTITY=TIME with a time and its unit ",
        ),
    ],
)
def test_what_is_refused(
    capsys: Capture, graph: Path, options: tuple[str, ...], message: str
) -> None:
    assert message in refused(capsys, "size", graph, *FAST, *options)


def test_free_numbers_are_refused_elsewhere(capsys: Capture, graph: Path) -> None:
    for command in ("place", "plan", "simulate"):
        more = (graph,) if command == "simulate" else ()
        line = refused(capsys, command, graph, *more, "--devices", "3x2500")
        assert "parallelism of 'count' is free; run `streamplace size`" in line


def test_stated_numbers_are_expanded_everywhere(capsys: Capture, tmp_path: Path) -> None:
    stated = json.loads(json.dumps(GRAPH))
    stated["operators"][2]["parallelism"] = 3
    write_json(tmp_path / "graph.json", stated)
    options = ("--devices", "4x2500x8", "--placer", "greedy")
    value = json_of(capsys, "place", tmp_path / "graph.json", *options)
    assert {f"count[{i}]" for i in range(3)} <= {*value["assignment"]}


def test_import_keeps_parallel_operators_and_their_streams(capsys: Capture, tmp_path: Path) -> None:
    write_json(tmp_path / "plan.json", PLAN)
    out = tmp_path / "graph.json"
    command = ["import", str(tmp_path / "plan.json"), "--from", "flink-plan", "-o", str(out)]
    assert main([*command, "--logical"]) == 0
    graph = read_graph(out)
    assert list(graph.parallelism.values()) == [2, 3, 3]
    assert list(graph.partitioning.values()) == ["hash", "forward"]
    assert main(command) == 0
    assert expanded(graph).sha256 == read_graph(out).sha256
    line = refused(capsys, *command, "--logical", "--fold")
    assert "cannot combine --fold with --logical" in line


def test_graphs_of_single_instances_keep_their_numbers_and_say_so(
    capsys: Capture, tmp_path: Path
) -> None:
    stated = json.loads(json.dumps(GRAPH))
    stated["operators"][2]["parallelism"] = 2
    write_json(tmp_path / "stated.json", stated)
    file = tmp_path / "instances.json"
    write_dataset(file, [expanded(read_graph(tmp_path / "stated.json"))])
    out, err = printed(capsys, "size", file, *FAST, "--source-rate", "1e3", "--resize")
    assert "count[1]" in out
    assert "with --logical, import and profile keep operators" in err
    line = refused(capsys, "size", file, *FAST)
    assert "count[0]: parallelism 1, 12,500 tuples/s at most" in line
    assert line.endswith("(form='logical' of read_job), whose numbers size --resize chooses")


def test_whole_operators_export_without_counted_labels(
    capsys: Capture, graph: Path, tmp_path: Path
) -> None:
    file = tmp_path / "placement.json"
    rate = ("--source-rate", "5e3", "--time-limit", "1")
    printed(capsys, "size", graph, "--devices", "3x2500x2", *rate, "--whole-operators", "-o", file)
    out, _ = printed(capsys, "export", file, "--to", "flink")
    assert "split" not in out
    assert len(operator_devices(read_placement(file))) == 3


def test_several_jobs_share_the_devices(capsys: Capture, graph: Path, tmp_path: Path) -> None:
    jobs = [
        {"name": "clicks", "graph": "graph.json", "priority": 1},
        {"name": "views", "graph": GRAPH, "source_rate": 1e4},
    ]
    write_json(tmp_path / "jobs.json", {"jobs": jobs})
    command = ("size", "--job-file", tmp_path / "jobs.json", *FAST)
    value = json_of(capsys, *command, "--minimise", "instances")
    assert [row["name"] for row in value["jobs"]] == ["clicks", "views"]
    assert [row["parallelism"]["parse"] for row in value["jobs"]] == [8, 4]
    assert [row["throughput"] for row in value["jobs"]] == [2e4, 1e4]
    assert {*value["assignment"]["views"]} >= {"parse[0]", "parse[3]"}
    write_json(tmp_path / "rules.json", {"pins": {"clicks/read": "d7", "views/read": "d8"}})
    pinned = json_of(capsys, *command, "--constraints", tmp_path / "rules.json")["assignment"]
    assert (pinned["clicks"]["read"], pinned["views"]["read"]) == ("d7", "d8")
    assert main([str(word) for word in (*command, "-o", tmp_path / "together.json")]) == 0
    assert "views" in capsys.readouterr().out
    assert "clicks/count[0]" in read_placement(tmp_path / "together.json").assignment
    assert "cannot combine --job-file with --at" in refused(capsys, *command, "--at", "1")
    assert "cannot combine --job-file with GRAPH" in refused(capsys, *command, graph)
    assert "missing argument 'GRAPH'" in refused(capsys, "size")
    line = refused(capsys, "place", "--job-file", tmp_path / "jobs.json", *FAST[:2])
    assert "parallelism of" in line
    assert "is free; run `streamplace size`" in line


def test_faults_of_graphs_and_clusters_name_their_files(
    capsys: Capture, graph: Path, tmp_path: Path
) -> None:
    stated = json.loads(json.dumps(GRAPH))
    stated["operators"][2].pop("parallelism")
    joining = {**stated, "firing": "all"}
    stated["streams"][1]["selectivity"] = 1e305
    devices = [{"name": "a", "mips": 100.0, "price": 1.0}, {"name": "b", "mips": 100.0}]
    cluster, jobs = tmp_path / "cluster.json", tmp_path / "jobs.json"
    write_json(cluster, {"devices": devices})
    with_prices = ("--minimise", "money", "--cluster", cluster)
    for command in (("size", graph), ("size", "--job-file", jobs)):
        write_json(jobs, {"jobs": [{"name": "views", "graph": GRAPH}]})
        line = refused(capsys, *command, *with_prices)
        assert f"{cluster}: size: 'b' has no price, but other devices have one" in line
    write_json(tmp_path / "joining.json", joining)
    line = refused(capsys, "size", tmp_path / "joining.json", *FAST)
    assert f'{tmp_path / "joining.json"}: size: does not support firing "all"' in line
    for bad, fault in (
        (joining, 'size: does not support firing "all"'),
        (stated, "operators[2]: the load of 'count' overflows"),
    ):
        write_json(jobs, {"jobs": [{"name": "a", "graph": GRAPH}, {"name": "b", "graph": bad}]})
        line = refused(capsys, "size", "--job-file", jobs, *FAST)
        assert f"{jobs}: jobs[1] ('b'): {fault}" in line


def test_a_folder_has_a_placement_and_a_graph_of_each_job(
    capsys: Capture, graph: Path, tmp_path: Path
) -> None:
    write_json(tmp_path / "views.graph.json", GRAPH)
    jobs = [
        {"name": "clicks", "graph": "graph.json"},
        {"name": "views", "graph": "views.graph.json", "source_rate": 1e4},
    ]
    write_json(tmp_path / "jobs.json", {"jobs": jobs})
    command = ("size", "--job-file", tmp_path / "jobs.json", *FAST, "--target-utilisation", "0.9")
    value = json_of(capsys, *command, "-o", tmp_path / "sizes")
    assert json.loads((tmp_path / "sizes" / "result.json").read_text()) == value
    whole = read_placement(tmp_path / "sizes" / "together.json")
    for row in value["jobs"]:
        own = tmp_path / "sizes" / f"{row['name']}.placement.json"
        placement = read_placement(own)
        assert placement.job == row["name"]
        assert placement.problem.target_utilisation == 0.9
        assert placement.problem.source_rate == row["throughput"]
        assert placement.assignment == value["assignment"][row["name"]]
        assert (
            placement.assignment.items()
            <= {
                name.removeprefix(f"{row['name']}/"): device
                for name, device in whole.assignment.items()
            }.items()
        )
        sized = tmp_path / "sizes" / f"{row['name']}.graph.json"
        rate = ("--source-rate", row["throughput"])
        assert json_of(capsys, "simulate", sized, own, *rate)["relative_throughput"] == 1.0
        assert main(["export", str(own), "--to", "flink"]) == 0
        assert "parse=" in capsys.readouterr().out
    assert "is the result of size --job-file" in refused(
        capsys, "explain", tmp_path / "sizes" / "result.json"
    )
    for target in (graph, tmp_path):  # a graph of the job file, and a folder that has one
        assert "would overwrite the input" in refused(capsys, *command, "-o", target)


def test_the_graph_with_the_chosen_numbers_fits_the_placement(
    capsys: Capture, graph: Path, tmp_path: Path
) -> None:
    placement, sized = tmp_path / "p.json", tmp_path / "sized.json"
    assert main(["size", str(graph), *FAST, "-o", str(placement), "--graph-out", str(sized)]) == 0
    capsys.readouterr()
    assert read_graph(sized).parallelism == {0: 1, 1: 8, 2: 4}
    stated = json.loads(graph.read_text())
    stated["operators"][2]["parallelism"] = 2
    write_json(graph, stated)
    line = refused(capsys, "simulate", graph, placement)
    assert "with other numbers of instances; use the graph that states its numbers, such as" in line
    assert json_of(capsys, "simulate", sized, placement)["relative_throughput"] == 1.0
    value = json_of(capsys, "place", sized, "--start", placement, "--max-moves", "0")
    assert value["moves"] == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"parallelism": -3}, "operators[1].parallelism: must be at least 1 or 'free' (got -3)"),
        ({"parallelism": "Free"}, "must be a whole number or 'free' (got 'Free')"),
        ({"partitions": 0}, "operators[1].partitions: must be at least 1 or 'flink' (got 0)"),
    ],
)
def test_faults_of_the_fields_are_one_line(
    capsys: Capture, graph: Path, change: dict[str, Any], message: str
) -> None:
    value = json.loads(json.dumps(GRAPH))
    value["operators"][1] |= change
    write_json(graph, value)
    assert refused(capsys, "size", graph, *FAST).endswith(message)


def test_a_failed_size_says_what_can_be_carried(tmp_path: Path, capsys: Capture) -> None:
    write_starter(capsys, tmp_path)
    command = ("size", tmp_path / "graph.json", "--cluster", tmp_path / "cluster.json")
    options = ("--survive", 1, "--source-rate")
    line = refused(capsys, *command, *options, 16_900, code=1)
    assert "carry 16,900 tuples/s on these devices after the loss of any one of them" in line
    assert "lower the source rate to 16,600 tuples/s" in line
    assert json_of(capsys, *command, *options, 16_600)["survive"] == 1
    line = refused(capsys, *command, "--time-limit", 0, *options, 16_900, code=1)
    assert "a longer search may find some" in line
    assert line.endswith("; the time limit ended the search for a lower source rate that fits")
    line = refused(capsys, *command, *options, 40_000)
    assert "carry 16,960.7 of 40,000 tuples/s at most after the loss of any one of them" in line


def test_the_graph_of_a_sized_placement_is_asked_for(
    graph: Path, tmp_path: Path, capsys: Capture
) -> None:
    placement, sized = tmp_path / "placement.json", tmp_path / "sized.json"
    operators = [{**one, "parallelism": None} for one in GRAPH["operators"]]
    write_json(graph, {**GRAPH, "operators": operators})
    command = ("size", graph, *FAST, "-o", placement)
    assert "--graph-out" in printed(capsys, *command)[1]
    assert printed(capsys, *command, "--graph-out", sized)[1] == ""
    assert printed(capsys, "size", sized, *FAST, "-o", placement)[1] == ""
    for file, asked in ((graph, True), (sized, False)):
        notes = printed(capsys, "place", file, "--start", placement)[1]
        assert ("such as that of size --graph-out" in notes) is asked


def test_limits_far_above_the_rate_are_in_json_only(capsys: Capture, graph: Path) -> None:
    """128 partitions allow 800,000 tuples/s, more than a hundred times 5,000."""
    low, high = ("--source-rate", "5e3"), ("--source-rate", "1e4")
    assert "128 partitions" not in printed(capsys, "size", graph, *FAST, *low)[0]
    assert "128 partitions" in printed(capsys, "size", graph, *FAST, *high)[0]
    limits = json_of(capsys, "size", graph, *FAST, *low)["limits"]
    assert 8e5 in [limit["at_most"] for limit in limits]
