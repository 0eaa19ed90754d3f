"""The text output of `explain` and `diff`."""

import json
from pathlib import Path
from typing import Any

import pytest

from streamplace.scoring.models import BottleneckEvaluator
from tests.support.cli import Capture, json_of, place_by_cli, refused, succeeds
from tests.support.input_files import GRAPH, InputFiles, chain


def test_bottleneck_and_helpful_moves(inputs: InputFiles, tmp_path: Path, capsys: Capture) -> None:
    """One device of 5 MIPS has 6 MIPS of work, half of it from c; three equal devices are idle."""
    file = place_by_cli(
        capsys, inputs.graph, tmp_path / "placement.json", "--devices", "4x5", "--placer", "single"
    )
    lines = succeeds(capsys, "explain", file).splitlines()
    assert lines[:2] == [
        "throughput 833.333 tuples/s, 83.3% of 1,000 (bottleneck)",
        "bottleneck device d0 at 120.0%",
    ]
    assert lines[2] == "the gap is at most 16.7%, since a placement may carry all 1,000 tuples/s"
    assert [line.split() for line in lines[3:7]] == [
        ["operator", "utilisation", "share"],
        ["c", "60.0%", "50.0%"],
        ["b", "40.0%", "33.3%"],
        ["a", "20.0%", "16.7%"],
    ]
    found = [line.split(maxsplit=2) for line in lines[8:]]
    assert [words[:2] for words in found] == [["c", "d0"], ["b", "d0"], ["a", "d0"]]
    assert found[0][2].split()[:5] == ["d1,", "d2,", "d3", "1,000", "+166.667"]
    assert found[0][2].rstrip().endswith("device d0 at 60.0%")
    short = succeeds(capsys, "explain", file, "--top", "1").splitlines()
    assert short[5] == "and 2 more with smaller shares"
    assert short[-1] == "and 2 more that help less"


def test_a_placement_that_sustains_the_source_rate(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    options = ("--devices", "1x10", "--target-utilisation", "0.9")
    output = succeeds(
        capsys, "explain", place_by_cli(capsys, inputs.graph, tmp_path / "placement.json", *options)
    )
    busiest = "busiest device d0 at 60.0% (90.0% may be used)"
    assert f"everything offered is carried; {busiest}" in output
    assert "up to 1.5 times the source rate" in output
    assert "new bottleneck" not in output
    tight = place_by_cli(
        capsys,
        inputs.graph,
        tmp_path / "tight.json",
        "--devices",
        "1x10",
        "--target-utilisation",
        "0.4",
    )
    output = succeeds(capsys, "explain", tight)
    assert "bottleneck device d0 at 60.0% (40.0% may be used)" in output
    assert "no single move helps" in output


def test_a_job_without_work(tmp_path: Path, capsys: Capture) -> None:
    graph, file = tmp_path / "graph.json", tmp_path / "placement.json"
    idle = [{"name": "a", "instructions": 0}]
    graph.write_text(json.dumps({"source_rate": 1, "operators": idle}))
    succeeds(capsys, "place", graph, "-o", file)
    assert "nothing limits throughput: all devices and links are idle" in succeeds(
        capsys, "explain", file
    )
    found = json_of(capsys, "explain", file)
    assert (found["rate_factor"], found["contributors"], found["moves"]) == (None, [], [])


def test_an_engine_placement_with_several_rates(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    options = ("--devices", "2x5", "--placer", "single", "--source-rate", "500,2000")
    file = place_by_cli(
        capsys, inputs.graph, tmp_path / "placement.json", *options, "--model", "engine"
    )
    output = succeeds(capsys, "explain", file)
    assert "41.7% of 2,000, the worst of 2 rates (bottleneck)" in output
    assert "explained by the bottleneck model" in output
    assert json_of(capsys, "explain", file)["model"] == "bottleneck"


def test_names_are_not_markup(tmp_path: Path, capsys: Capture) -> None:
    """Names are plain text in contributions and in moves; here two operators move together."""
    graph, cluster, file = (tmp_path / name for name in ("g.json", "c.json", "p.json"))
    rows = [{"name": name, "instructions": 1e9} for name in ("[red]a", "[/]b", "c")]
    rules = {"colocate": [["[red]a", "[/]b"]]}
    graph.write_text(json.dumps({"source_rate": 3, "operators": rows, "constraints": rules}))
    devices = [{"name": name, "mips": 1000} for name in ("[bold]x", "y")]
    cluster.write_text(json.dumps({"devices": devices}))
    succeeds(capsys, "place", graph, "--cluster", cluster, "--placer", "single", "-o", file)
    lines = succeeds(capsys, "explain", file).splitlines()
    assert lines[1] == "bottleneck device [bold]x at 300.0%"
    assert lines[2].startswith("[red]a and [/]b are kept together and need")
    assert [line.split()[0] for line in lines[5:8]] == ["[red]a", "[/]b", "c"]
    assert lines[9].split()[:4] == ["[red]a,", "[/]b", "[bold]x", "y"]
    assert "device [bold]x at" in lines[10]


def test_a_graph_too_large_to_try_every_move(
    inputs: InputFiles, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = place_by_cli(
        capsys, inputs.graph, tmp_path / "placement.json", "--devices", "4x5", "--placer", "single"
    )
    monkeypatch.setattr(BottleneckEvaluator, "quick_score_elements", 1)
    assert "too large to try all moves" in succeeds(capsys, "explain", file)
    assert json_of(capsys, "explain", file)["every_move_tried"] is False


@pytest.fixture
def heavy(tmp_path: Path) -> Path:
    """Return the graph of the input files, where each operator needs memory."""
    memory = {"a": 1e6, "b": 2e6, "c": 4e6}
    rows: list[dict[str, Any]] = [
        {**row, "memory_bytes": memory[row["name"]]} for row in GRAPH["operators"]
    ]
    file = tmp_path / "heavy.json"
    file.write_text(json.dumps({**GRAPH, "operators": rows}))
    return file


def test_diff_shows_memory_and_gain(heavy: Path, tmp_path: Path, capsys: Capture) -> None:
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    for file, placer in zip(files, ("single", "round-robin"), strict=True):
        succeeds(capsys, "place", heavy, "--devices", "3x5", "--placer", placer, "-o", file)
    found = json_of(capsys, "diff", *files)
    assert found["memory_bytes"] == 6e6
    assert found["relative_throughput"] == pytest.approx([1 / 1.2, 1.0])
    assert found["devices_gone"] == found["devices_new"] == []
    assert succeeds(capsys, "diff", *files).splitlines()[-1] == (
        "2 moves with 6 MB of memory; throughput 833.333 -> 1,000 tuples/s, +166.667 (+20.0%)"
    )
    assert "0 moves; throughput 1,000 -> 1,000 tuples/s, +0 (+0.0%)" in succeeds(
        capsys, "diff", files[1], files[1]
    )


def test_diff_after_losing_a_device_and_changing_the_rate(
    heavy: Path, tmp_path: Path, capsys: Capture
) -> None:
    """Operators on the lost device move; the others stay on the devices of the same names."""
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    rest = tmp_path / "cluster.json"
    devices = [{"name": name, "mips": 5} for name in ("d0", "d1", "spare")]
    rest.write_text(json.dumps({"devices": devices}))
    spread = ["--placer", "round-robin"]
    succeeds(capsys, "place", heavy, "--devices", "3x5", *spread, "-o", files[0])
    options = ["--cluster", rest, "--source-rate", "4000", "--model", "path-average"]
    succeeds(capsys, "place", heavy, *options, *spread, "-o", files[1])
    found = json_of(capsys, "diff", *files)
    assert found["moves"] == [{"operator": "c", "from": "d2", "to": "spare"}]
    assert (found["devices_gone"], found["devices_new"]) == (["d2"], ["spare"])
    assert found["memory_bytes"] == 4e6
    output = succeeds(capsys, "diff", *files)
    assert "removed devices: d2\nnew devices: spare\n" in output
    assert "scored at 1,000 tuples/s (bottleneck) and at 4,000 tuples/s (path-average)" in output


def test_diff_of_placements_without_throughput(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    """In the engine, a tuple never arrives if its latency exceeds the duration of the run."""
    cluster, file = tmp_path / "cluster.json", tmp_path / "placement.json"
    devices = [{"name": name, "mips": 1000} for name in ("x", "y")]
    cluster.write_text(json.dumps({"devices": devices, "network": {"latency_s": 1e3}}))
    options = ["--cluster", cluster, "--model", "engine", "--placer", "round-robin", "-o", file]
    succeeds(capsys, "place", inputs.graph, *options)
    assert succeeds(capsys, "diff", file, file) == "0 moves; throughput 0 -> 0 tuples/s, +0\n"


@pytest.fixture
def placed(inputs: InputFiles, tmp_path: Path, capsys: Capture) -> Path:
    """Return a placement of the three operators on one of three devices."""
    options = ("--devices", "3x5", "--placer", "single")
    return place_by_cli(capsys, inputs.graph, tmp_path / "placement.json", *options)


def rules_file(folder: Path, **rules: Any) -> Path:
    file = folder / "rules.json"
    file.write_text(json.dumps(rules))
    return file


def test_violated_rules_are_listed(placed: Path, tmp_path: Path, capsys: Capture) -> None:
    rules = rules_file(tmp_path, pins={"b": "d1"}, exlocate=[["a", "b"], ["a", "c"]])
    found = json_of(capsys, "explain", placed, "--constraints", rules)
    assert found["violations"] == [
        {"rule": "constraints.pins['b']", "why": "'b' is on 'd0' instead of 'd1'"},
        {"rule": "constraints.exlocate[0]", "why": "'a', 'b' share 'd0'"},
        {"rule": "constraints.exlocate[1]", "why": "'a', 'c' share 'd0'"},
    ]
    lines = succeeds(capsys, "explain", placed, "--constraints", rules).splitlines()
    assert lines[0].split() == ["violated", "rule", "found"]
    assert lines[1].split(maxsplit=1)[0] == "constraints.pins['b']"
    assert json_of(capsys, "explain", placed)["violations"] == []


def test_costs_of_constraints(
    inputs: InputFiles, placed: Path, tmp_path: Path, capsys: Capture
) -> None:
    """At 1,000 tuples/s, 6 MIPS of work are on 5; three devices would carry all of it."""
    rules = rules_file(tmp_path, colocate=[["a", "b", "c"]])
    found = json_of(capsys, "explain", placed, "--constraints", rules)["constraint_costs"]
    assert found["max_source_rate"] == pytest.approx(1000 / 1.2)
    assert [each["rule"] for each in found["without"]] == ["constraints.colocate[0]"]
    assert found["without"][0]["max_source_rate"] == pytest.approx(1000 / 0.6)
    output = succeeds(capsys, "explain", placed, "--constraints", rules)
    assert "with all constraints, placements carry up to 833.333 tuples/s" in output
    carried = place_by_cli(capsys, inputs.graph, tmp_path / "spread.json", "--devices", "3x50")
    apart = rules_file(tmp_path, exlocate=[["a", "b"]])
    quick = json_of(capsys, "explain", carried, "--constraints", apart)
    assert quick["constraint_costs"] is None
    asked = json_of(capsys, "explain", carried, "--constraints", apart, "--constraint-costs")
    assert asked["constraint_costs"]["every_rule_tried"] is True


def test_losses_of_devices(placed: Path, capsys: Capture) -> None:
    assert "'d0', which is lost" in refused(capsys, "explain", placed, "--without", "d0")
    found = json_of(capsys, "explain", placed, "--slow", "d0=0.5", "--without", "d2")
    assert found["bottleneck"]["utilisation"] == pytest.approx(2.4)
    assert {move["to"] for move in found["moves"]} == {"d1"}


def test_constraints_that_cannot_hold(
    inputs: InputFiles, placed: Path, tmp_path: Path, capsys: Capture
) -> None:
    """Every command names the rules as the files name them."""
    graph, out = inputs.graph, tmp_path / "out.json"
    rules = rules_file(tmp_path, pins={"a": "d0", "b": "d0", "c": "d1"}, exlocate=[["a", "b"]])
    names = "constraints.pins['a'], constraints.pins['b'] and constraints.exlocate[0] together"
    devices = ["--devices", "3x5", "--constraints", rules]
    for words in (
        ["explain", placed, "--constraints", rules],
        ["place", graph, *devices, "-o", out],
        ["plan", graph, *devices],
    ):
        assert refused(capsys, *words).endswith(f"; no placement satisfies {names}")
    assert not out.exists()


def test_a_placement_whose_constraints_cannot_hold_on_another_cluster(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    rules, file = rules_file(tmp_path, exlocate=[["a", "b"], ["b", "c"]]), tmp_path / "p.json"
    options = ["--devices", "3x5", "--constraints", rules]
    place_by_cli(capsys, inputs.graph, file, *options)
    message = refused(capsys, "simulate", inputs.graph, file, "--devices", "1x5")
    assert message.endswith("; no placement satisfies constraints.exlocate[0]") or (
        message.endswith("; no placement satisfies constraints.exlocate[1]")
    )


def test_constraint_costs_need_constraints_that_can_hold(tmp_path: Path, capsys: Capture) -> None:
    """Two devices of one slot each are allowed for three operators."""
    devices = [{"name": f"d{i}", "mips": 1000, **({"slots": 1} if i else {})} for i in range(3)]
    rules = {"allowed": {name: ["d1", "d2"] for name in "abc"}}
    for name, value in (
        ("graph", chain("abc", 1e6)),
        ("cluster", {"devices": devices}),
        ("rules", rules),
    ):
        (tmp_path / f"{name}.json").write_text(json.dumps(value))
    options = ("--cluster", tmp_path / "cluster.json")
    placed = place_by_cli(capsys, tmp_path / "graph.json", tmp_path / "placed.json", *options)
    words = ("explain", placed, "--constraints", tmp_path / "rules.json")
    assert json_of(capsys, *words)["violations"]
    line = refused(capsys, *words, "--constraint-costs")
    assert "rules.json: " in line
    assert "no placement satisfies slots of d1, slots of d2, constraints.allowed['a']" in line


def test_each_loss(inputs: InputFiles, tmp_path: Path, capsys: Capture) -> None:
    """The operators need 6 MIPS, and one of two devices of 5 MIPS carries 5/6 of them."""
    placement = tmp_path / "placement.json"
    file = place_by_cli(capsys, inputs.graph, placement, "--devices", "2x5")
    lines = succeeds(capsys, "explain", file, "--each-loss").splitlines()
    assert lines[0] == "throughput 1,000 tuples/s, 100.0% of 1,000 (bottleneck)"
    assert {line.split()[0]: line.split()[-1] for line in lines[2:4]} == {
        "d0": "83.3%",
        "d1": "83.3%",
    }
    assert lines[-1].startswith("single points of failure: d")
    found = json_of(capsys, "explain", file, "--each-loss")
    assert sorted(found["single_points_of_failure"]) == ["d0", "d1"]
    for loss in found["losses"]:
        (other,) = {"d0", "d1"} - {loss["name"]}
        assert loss["moves"] == [
            {"operator": name, "from": loss["name"], "to": other} for name in loss["operators"]
        ]
    for option in (["--against", "http://localhost:1"], ["--constraint-costs"]):
        line = refused(capsys, "explain", file, "--each-loss", *option)
        assert line.startswith(f"streamplace: cannot combine --each-loss with {option[0]}")
    line = refused(capsys, "explain", file, "--each-loss", "--objective", "makespan")
    assert "--each-loss supports only throughput, not objective 'makespan'" in line
