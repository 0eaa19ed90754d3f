"""`place --whole-operators`, `export`, and graphs with unknown numbers."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from streamplace.cli.main import main
from streamplace.formats.registry import formats
from tests.support.cli import Capture, json_of, printed, refused, succeeds

GRAPH: dict[str, Any] = {
    "format": "streamplace-graph",
    "version": 1,
    "name": "words",
    "source_rate": 1e5,
    "operators": [
        {"name": "lines", "instructions": 10000.0, "payload_bytes": 100.0},
        *(
            {
                "name": f"count[{i}]",
                "instructions": 40000.0,
                "payload_bytes": 8.0,
                "memory_bytes": 1e6,
                "instance_of": "count",
            }
            for i in range(3)
        ),
        {"name": "sink", "instructions": 10000.0, "payload_bytes": 0.0},
    ],
    "streams": [
        *({"source": "lines", "target": f"count[{i}]", "selectivity": 0.25} for i in range(3)),
        *({"source": f"count[{i}]", "target": "sink"} for i in range(3)),
    ],
}
INSTANCES = [f"count[{i}]" for i in range(3)]
KINDS = ("capsys", "storm-ras", "ibm-spl", "ibm-overlay", "kubernetes")


@pytest.fixture
def words(tmp_path: Path) -> Path:
    """A graph with an operator of three instances."""
    file = tmp_path / "words.json"
    file.write_text(json.dumps(GRAPH))
    return file


def assignment_by_cli(capsys: Capture, *arguments: object) -> dict[str, str]:
    """Place a graph and return the assignment."""
    assignment: dict[str, str] = json_of(capsys, "place", *arguments)["assignment"]
    return assignment


def together(assignment: dict[str, str]) -> bool:
    """Return whether all instances of `count` are on one device."""
    return len({assignment[name] for name in INSTANCES}) == 1


@pytest.mark.parametrize("placer", ["metis", "greedy", "round-robin", "random"])
def test_instances_stay_together(placer: str, words: Path, capsys: Capture) -> None:
    arguments = (words, "--placer", placer, "--devices", "4x2500")
    assert together(assignment_by_cli(capsys, *arguments, "--whole-operators"))


def test_instances_are_spread_without_the_option(words: Path, capsys: Capture) -> None:
    assert not together(assignment_by_cli(capsys, words, "--placer", "round-robin"))


def test_whole_operators_with_constraints(words: Path, tmp_path: Path, capsys: Capture) -> None:
    """The file's constraints hold too, and a pin of one instance pins all of them."""
    rules = tmp_path / "rules.json"
    rules.write_text(json.dumps({"pins": {"count[1]": "d3"}, "exlocate": [["lines", "sink"]]}))
    found = assignment_by_cli(
        capsys, words, "--constraints", rules, "--whole-operators", "--placer", "greedy"
    )
    assert together(found)
    assert found["count[0]"] == "d3"
    assert found["lines"] != found["sink"]


def test_explain_names_the_operator_whose_instances_are_kept_together(
    words: Path, tmp_path: Path, capsys: Capture
) -> None:
    """Groups of a constraints file are named by their place all the same."""
    rules, file = tmp_path / "rules.json", tmp_path / "placement.json"
    rules.write_text(json.dumps({"colocate": [["lines", "sink"]]}))
    succeeds(
        capsys, "place", words, "--constraints", rules, "--whole-operators", "--placer", "greedy",
        "-o", file,
    )  # fmt: skip
    document = json.loads(file.read_text())
    other = next(d for d in ("d0", "d1") if d != document["assignment"]["count[0]"])
    document["assignment"]["count[0]"] = other
    away = next(d for d in ("d2", "d3") if d != document["assignment"]["lines"])
    document["assignment"]["lines"] = away
    file.write_text(json.dumps(document))
    shown = succeeds(capsys, "explain", file)
    assert "whole operator 'count' (colocate)" in shown
    assert "constraints.colocate[0]" in shown
    assert "constraints.colocate[1]" not in shown


def test_constraints_that_separate_instances(words: Path, tmp_path: Path, capsys: Capture) -> None:
    rules = tmp_path / "rules.json"
    rules.write_text(json.dumps({"exlocate": [["count[0]", "count[2]"]]}))
    assignment_by_cli(capsys, words, "--constraints", rules, "--placer", "greedy")
    line = refused(capsys, "place", words, "--constraints", rules, "--whole-operators")
    assert "rules.json" in line
    assert "count[" in line
    assert line.endswith("constraints.exlocate[0] and --whole-operators of 'count' together") or (
        line.endswith("--whole-operators of 'count' and constraints.exlocate[0] together")
    )


def test_instances_too_large_for_one_device(words: Path, tmp_path: Path, capsys: Capture) -> None:
    cluster = tmp_path / "cluster.json"
    devices = [{"name": f"d{d}", "mips": 2500.0, "memory_bytes": 2e6} for d in range(3)]
    cluster.write_text(
        json.dumps({"format": "streamplace-cluster", "version": 1, "devices": devices})
    )
    assignment_by_cli(capsys, words, "--cluster", cluster, "--placer", "greedy")
    line = refused(capsys, "place", words, "--cluster", cluster, "--whole-operators")
    assert "words.json" in line


@pytest.mark.parametrize("kind", KINDS)
def test_export(kind: str, words: Path, tmp_path: Path, capsys: Capture) -> None:
    file, out = tmp_path / "placement.json", tmp_path / "out"
    succeeds(capsys, "place", words, "--placer", "greedy", "--whole-operators", "-o", file)
    text = succeeds(capsys, "export", file, "--to", kind)
    assert text.endswith("\n")
    succeeds(capsys, "export", file, "--to", kind, "-o", out)
    assert out.read_text() == text


def test_export_of_separated_instances(words: Path, tmp_path: Path, capsys: Capture) -> None:
    file, out = tmp_path / "placement.json", tmp_path / "out"
    succeeds(capsys, "place", words, "--placer", "round-robin", "-o", file)
    line = refused(capsys, "export", file, "--to", "ibm-spl", "-o", out)
    assert "placement.json: " in line
    assert "'count'" in line
    assert "place --whole-operators" in line
    assert not out.exists()


@pytest.mark.parametrize("kind", ["storm-ras", "kubernetes"])
def test_what_separated_instances_lose_is_printed(
    kind: str, words: Path, tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "placement.json"
    succeeds(capsys, "place", words, "--placer", "round-robin", "-o", file)
    text, stderr = printed(capsys, "export", file, "--to", kind)
    start = f"lost in {kind}: "
    assert start in stderr
    assert "'count'" in stderr
    notes = [line.removeprefix(start) for line in stderr.splitlines() if "lost" in line]
    assert all(f"# Lost: {note}\n" in text for note in notes)


def test_help_names_every_kind(capsys: Capture) -> None:
    for command, use in (("export", "writes"), ("import", "reads")):
        lines = succeeds(capsys, command, "--help").splitlines()
        assert {f"  {each.name:19}{each.about}" for each in formats() if getattr(each, use)} <= {
            *lines
        }


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["import", "x.json", "--from", "beam"], "'beam'"),
        (["import", "x.json", "--from", "dot", "--json"], "--json"),
        (["export", "x.json", "--to", "beam"], "'beam'"),
    ],
)
def test_bad_usage(arguments: list[str], expected: str, capsys: Capture) -> None:
    assert expected in refused(capsys, *arguments)


def test_unknown_numbers_are_listed(words: Path, tmp_path: Path, capsys: Capture) -> None:
    """Unknown numbers are listed per operator, as --costs takes them, not per instance."""
    value = json.loads(words.read_text())
    for operator in value["operators"]:
        operator["instructions"] = None
    value["streams"][0]["selectivity"] = None
    file = tmp_path / "half.json"
    file.write_text(json.dumps(value))
    for command in ("place", "compare", "plan"):
        line = refused(capsys, command, file)
        assert "half.json: " in line
        assert "unknown: instructions of 'lines', 'count', 'sink'; " in line
        assert "selectivity of 'lines->count'" in line
    assert json_of(capsys, "info", file)


def test_losses_are_printed(words: Path, tmp_path: Path, capsys: Capture) -> None:
    file, out = tmp_path / "placement.json", tmp_path / "out"
    succeeds(capsys, "place", words, "--placer", "greedy", "-o", file)
    assert main(["export", str(file), "--to", "ibm-overlay", "-o", str(out)]) == 0
    assert "lost in ibm-overlay: only the number of PEs is kept" in capsys.readouterr().err
    assert main(["export", str(file), "--to", "ibm-overlay", "-o", str(out), "-q"]) == 0
    assert not capsys.readouterr().err


def test_the_java_class_needs_no_placement(words: Path, tmp_path: Path, capsys: Capture) -> None:
    """It is the same for every placement."""
    placement = tmp_path / "p.json"
    succeeds(capsys, "place", words, "--devices", "2x2500", "-o", placement)
    source, _ = printed(capsys, "export", "--to", "flink-helper")
    assert "class StreamplaceMapping" in source
    assert source == printed(capsys, "export", placement, "--to", "flink-helper")[0]
    message = refused(capsys, "export", "--to", "flink")
    assert "missing argument 'PLACEMENT', which --to flink needs" in message
    for option in ("--patch", "--plan"):
        line = refused(capsys, "export", "--to", "flink-helper", option, words)
        assert f"{option} requires --to flink-deployment" in line
    file = tmp_path / "StreamplaceMapping.java"
    facts = json_of(capsys, "export", "--to", "flink-helper", "-o", file)
    assert facts == {"format": "flink-helper", "file": str(file)}
    assert file.read_text() == source


@pytest.fixture
def placed_words(words: Path, tmp_path: Path, capsys: Capture) -> tuple[Path, Path]:
    """Return the file of a placement, and that of the running job's plan."""
    placement, plan = tmp_path / "placement.json", tmp_path / "plan.json"
    succeeds(capsys, "place", words, "--devices", "2x2500", "-o", placement)
    nodes = [
        {
            "id": name,
            "description": name,
            "parallelism": 1,
            "inputs": [{"id": before, "ship_strategy": "HASH"}] if before else [],
        }
        for before, name in (("", "lines"), ("lines", "count"), ("count", "sink"))
    ]
    plan.write_text(json.dumps({"plan": {"jid": "a", "name": "words", "nodes": nodes}}))
    return placement, plan


def test_a_document_for_the_kubernetes_operator(
    placed_words: tuple[Path, Path], tmp_path: Path, capsys: Capture
) -> None:
    placement, plan = placed_words
    command = ("export", placement, "--to", "flink-deployment", "--plan", plan)
    out, err = printed(capsys, *command)
    document = yaml.safe_load(out)
    overrides = document["spec"]["flinkConfiguration"]["pipeline.jobvertex-parallelism-overrides"]
    assert overrides == "lines:1,count:3,sink:1"
    assert document["metadata"] == {"name": "words"}
    assert "lost in flink-deployment: Flink chooses the TaskManager of each instance" in err
    base = tmp_path / "base.yaml"
    base.write_text(
        "kind: FlinkDeployment\nmetadata: {name: other}\n"
        "spec: {image: mine, flinkVersion: v1_20, job: {parallelism: 1}}  # comment\n"
    )
    out, err = printed(capsys, *command, "--patch", base, "--node-label", "kubernetes.io/hostname")
    document = yaml.safe_load(out)
    assert (document["metadata"], document["spec"]["image"]) == ({"name": "other"}, "mine")
    assert document["spec"]["taskManager"]["resource"] == {"cpu": 1.0}
    assert f"lost in flink-deployment: comments of {base}" in err
    base.write_text(base.read_text().replace("v1_20", "v2_2"))
    line = refused(capsys, *command, "--patch", base)
    assert f"{base}: Flink 2.2 ignores pipeline.jobvertex-parallelism-overrides at a start" in line


def test_a_document_for_the_operator_needs_a_plan(
    placed_words: tuple[Path, Path], tmp_path: Path, capsys: Capture
) -> None:
    placement, plan = placed_words
    to = ("export", placement, "--to")
    assert "missing --plan" in refused(capsys, *to, "flink-deployment")
    assert "--plan requires --to flink-deployment" in refused(capsys, *to, "flink", "--plan", plan)
    line = refused(capsys, *to, "flink-deployment", "--plan", placement)
    assert "placement.json: not the plan of a running job, with the ids of its vertices" in line
    base = tmp_path / "base.yaml"
    base.write_text("kind: Deployment\n")
    line = refused(capsys, *to, "flink-deployment", "--plan", plan, "--patch", base)
    assert line.endswith("base.yaml: kind: must be FlinkDeployment or FlinkSessionJob")
