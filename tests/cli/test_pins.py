"""The option --pin of place, plan and size."""

import json
import shlex
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Capture, json_of, printed, refused, succeeds
from tests.support.input_files import chain

DEVICES = ("--devices", "3x1000")


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    """Return a file of a chain of three operators, of which x is pinned to d0."""
    file = tmp_path / "graph.json"
    file.write_text(json.dumps({**chain("xyz", 5e5), "constraints": {"pins": {"x": "d0"}}}))
    return file


def pins(*several: str) -> list[str]:
    return [word for pin in several for word in ("--pin", pin)]


def test_pins_are_added_to_other_constraints(graph: Path, tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "placement.json"
    words = ("place", graph, *DEVICES, *pins("y=d2", "z=d2"))
    assert json_of(capsys, *words, "-o", file)["assignment"] == {"x": "d0", "y": "d2", "z": "d2"}
    stored = json.loads(file.read_text())["problem"]["constraints"]["pins"]
    assert stored == {"x": "d0", "y": "d2", "z": "d2"}
    (tmp_path / "rules.json").write_text(json.dumps({"exlocate": [["x", "y"]]}))
    words = ("place", graph, *DEVICES, "--constraints", tmp_path / "rules.json")
    found = json_of(capsys, *words, *pins("x=d1", "z=d1"))["assignment"]
    assert found["x"] == found["z"] == "d1"
    assert found["y"] != "d1"


def test_a_pin_replaces_another_one_and_says_so(
    graph: Path, tmp_path: Path, capsys: Capture
) -> None:
    old = tmp_path / "old.json"
    succeeds(capsys, "place", graph, *DEVICES, "-o", old)
    for start in ((*DEVICES,), ("--start", old)):
        words = ("place", graph, *start, *pins("x=d1"), "--json")
        out, notes = printed(capsys, *words)
        assert json.loads(out)["assignment"]["x"] == "d1"
        assert "the pin of 'x' moves from 'd0' to 'd1'" in notes


def test_plan_prints_pins_for_place(graph: Path, tmp_path: Path, capsys: Capture) -> None:
    devices = [{"name": f"d{i}", "mips": 1000 + i, "price": 1} for i in range(3)]
    (tmp_path / "cluster.json").write_text(json.dumps({"devices": devices}))
    words = (graph, "--cluster", tmp_path / "cluster.json", *pins("x=d1", "y=d2"))
    found = json_of(capsys, "plan", *words)
    assert found["cheapest"]["devices"] == ["d1", "d2"]
    line = succeeds(capsys, "plan", *words).splitlines()[-1]
    command = shlex.split(line.removeprefix("to place on these devices: "))
    placed: dict[str, Any] = json_of(capsys, *command[1:])["assignment"]
    assert (placed["x"], placed["y"]) == ("d1", "d2")


def test_printed_commands_quote_names(tmp_path: Path, capsys: Capture) -> None:
    """Names with spaces, commas, quotes, equals signs and leading dashes; the command works."""
    names = ["-x", 'a"b,c', "it's", "a=b", " sp ", "--json"]
    devices = [{"name": n, "mips": 1000 + i, "price": 1 + i} for i, n in enumerate(names)]
    (tmp_path / "c 1.json").write_text(json.dumps({"devices": devices}))
    (tmp_path / "-g '1'.json").write_text(json.dumps(chain(["-a", "b c,d"], 4e5)))
    with chdir(tmp_path):
        words = ("--cluster", "c 1.json", "--slow", '"a""b,c"=0.9', *pins("-a=-x", "b c,d=it's"))
        line = succeeds(capsys, "plan", *words, "--", "-g '1'.json").splitlines()[-1]
        command = shlex.split(line.removeprefix("to place on these devices: "))
        placed: dict[str, Any] = json_of(capsys, *command[1:])["assignment"]
    assert placed == {"-a": "-x", "b c,d": "it's"}


def test_a_pin_the_wrong_way_round_is_quoted(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "g.json").write_text(json.dumps(chain("xy", 4e5)))
    devices = [{"name": "rack 1", "mips": 1000}]
    (tmp_path / "c.json").write_text(json.dumps({"devices": devices}))
    words = ("place", tmp_path / "g.json", "--cluster", tmp_path / "c.json")
    assert "'rack 1', which is a device; 'x' is the operator" in refused(
        capsys, *words, *pins("rack 1=x")
    )


@pytest.mark.parametrize("command", ["place", "plan", "size"])
def test_a_pin_without_its_cluster_names_the_option(
    command: str, tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "graph.json"
    forgotten = "the devices are the default 5x2500: set --cluster FILE"
    file.write_text(json.dumps(chain("xyz", 5e5)))
    assert forgotten in refused(capsys, command, file, *pins("x=edge"))
    rules = {"pins": {"x": "edge"}}
    (tmp_path / "rules.json").write_text(json.dumps(rules))
    words = (command, file, "--constraints", tmp_path / "rules.json")
    assert forgotten in refused(capsys, *words)
    assert forgotten not in refused(capsys, *words, "--devices", "3x2500")
    file.write_text(json.dumps({**chain("xyz", 5e5), "constraints": rules}))
    assert forgotten in refused(capsys, command, file)


def test_size_pins_one_instance(graph: Path, capsys: Capture) -> None:
    options = ("--devices", "3x1000x4", "--source-rate", "4e3", "--time-limit", "0.5")
    found = json_of(capsys, "size", graph, *options, *pins("y[1]=d2"))["assignment"]
    assert found["y[1]"] == "d2"
    line = refused(capsys, "size", graph, *options, *pins("w[1]=d2"))
    assert "--pin: unknown operator 'w[1]'" in line


def test_plan_says_which_pinned_operators_do_not_survive(graph: Path, capsys: Capture) -> None:
    words = ("plan", graph, "--devices", "3x1000", "--survive", "1", *pins("y=d2"))
    out = succeeds(capsys, *words)
    assert "not survived: the loss of d0, d2, where constraints keep x, y" in out
    assert "after the loss of any one device without pinned operators" in out
    assert json_of(capsys, *words)["not_survived"] == {"d0": ["x"], "d2": ["y"]}


def test_size_pins_all_instances(graph: Path, capsys: Capture) -> None:
    options = ("--devices", "3x1000x4", "--source-rate", "4e3", "--time-limit", "0.5")
    found = json_of(capsys, "size", graph, *options, *pins("x=d2"))["assignment"]
    assert {device for name, device in found.items() if name.startswith("x")} == {"d2"}


@pytest.mark.parametrize("command", ["place", "plan", "size"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("xx=d0",), "streamplace: --pin: unknown operator 'xx'; did you mean 'x'?"),
        (("x=e0",), "streamplace: --pin: unknown device 'e0'; known: 'd0', 'd1', 'd2'"),
        (("x",), "--pin: must be OPERATOR=DEVICE, such as parse=rack1 (got 'x')"),
        (("=d0",), "--pin: must be OPERATOR=DEVICE"),
        (("x=d0", "x=d1"), "--pin: names 'x' twice"),
    ],
)
def test_wrong_pins(
    command: str, options: tuple[str, ...], message: str, graph: Path, capsys: Capture
) -> None:
    assert message in refused(capsys, command, graph, *DEVICES, *pins(*options))


@pytest.mark.parametrize("name", ["left", "fast"])
def test_groups_and_labels_are_no_devices_but_may_be_allowed(
    name: str, graph: Path, tmp_path: Path, capsys: Capture
) -> None:
    devices = [
        {"name": "a", "mips": 1e3, "group": "left", "labels": ["fast"]},
        {"name": "b", "mips": 1e3, "group": "left", "labels": ["fast"]},
        {"name": "c", "mips": 1e3},
    ]
    cluster, rules = tmp_path / "cluster.json", tmp_path / "rules.json"
    cluster.write_text(json.dumps({"format": "streamplace-cluster", "devices": devices}))
    noun = "group" if name == "left" else "label"
    fault = f"'{name}' is a {noun}, and not a device; list its devices under \"allowed\" of the "
    words: tuple[object, ...] = ("place", graph, "--cluster", cluster)
    line = refused(capsys, *words, *pins("x=a", f"y={name}"))
    words = (*words, "--constraints", rules)
    where = "(--constraints FILE, or constraints= in Python)"
    assert line == f"streamplace: --pin: {fault}constraints: 'a', 'b' {where}"
    rules.write_text(json.dumps({"pins": {"y": name}}))
    line = refused(capsys, *words)
    assert line == f"streamplace: {rules}: constraints.pins['y']: {fault}constraints: 'a', 'b'"
    rules.write_text(json.dumps({"allowed": {"y": ["a", "b"]}}))
    assert json_of(capsys, *words)["assignment"]["y"] in "ab"


def test_pins_of_lost_devices_and_of_jobs_are_refused(graph: Path, capsys: Capture) -> None:
    line = refused(capsys, "place", graph, *DEVICES, *pins("y=d1"), "--without", "d1")
    assert "'y' is pinned to 'd1', which is lost" in line
    for command in ("place", "size"):
        line = refused(capsys, command, "--job-file", graph, *DEVICES, *pins("y=d1"))
        assert "cannot combine --job-file with --pin" in line


def test_a_file_without_constraints_replaces_the_graph_s_also_after_a_loss(
    graph: Path, tmp_path: Path, capsys: Capture
) -> None:
    (tmp_path / "none.json").write_text("{}")
    lost = ("--constraints", tmp_path / "none.json", "--without", "d0")
    assert json_of(capsys, "place", graph, *DEVICES, *lost)["throughput"] > 0
    assert json_of(capsys, "plan", graph, *DEVICES, *lost)["rows"]


@pytest.mark.parametrize("command", ["place", "plan", "size"])
def test_constraints_that_are_empty_are_noted(
    command: str, graph: Path, tmp_path: Path, capsys: Capture
) -> None:
    rules = tmp_path / "rules.json"
    rules.write_text('{"comment": "none", "pins": {}}')
    words = (command, graph, *DEVICES, "--source-rate", 1, "--constraints", rules)
    note = f"{rules}: constrains nothing; it replaces all other constraints"
    assert note in printed(capsys, *words)[1]
    assert note not in printed(capsys, *words, "--quiet")[1]


def test_groups_of_a_single_operator_are_noted(
    graph: Path, tmp_path: Path, capsys: Capture
) -> None:
    """They do not keep its instances apart, or together."""
    rules = tmp_path / "rules.json"
    name = json.loads(graph.read_text())["operators"][0]["name"]
    note = "exlocate[0] names a single operator, so it constrains nothing"
    words = ("place", graph, *DEVICES)
    for group in ([name], [name, name]):
        rules.write_text(json.dumps({"exlocate": [group]}))
        assert f"{rules}: {note}" in printed(capsys, *words, "--constraints", rules)[1]
    stated = json.loads(graph.read_text()) | {"constraints": {"exlocate": [[name]]}}
    graph.write_text(json.dumps(stated))
    assert f"constraints.{note}" in printed(capsys, *words)[1]
    rules.write_text(json.dumps({"colocate": [[name]]}))
    assert note not in printed(capsys, *words, "--constraints", rules)[1]


def test_a_pin_of_an_operator_replaces_those_of_its_instances(
    tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "graph.json"
    job = chain("xy", 5e5)
    job["operators"][0]["parallelism"] = 3
    for rules in ({"x[1]": "d2", "x": "d0"}, {"x": "d0", "x[1]": "d2"}):
        file.write_text(json.dumps({**job, "constraints": {"pins": rules}}))
        found = json_of(capsys, "place", file, *DEVICES)["assignment"]
        assert [found[f"x[{i}]"] for i in range(3)] == ["d0", "d2", "d0"]
        out, notes = printed(capsys, "place", file, *DEVICES, *pins("x=d1"), "--json")
        assert [json.loads(out)["assignment"][f"x[{i}]"] for i in range(3)] == ["d1"] * 3
        assert "the pin of 'x' moves from 'd0' to 'd1'" in notes
        assert "the pin of 'x[1]' moves from 'd2' to 'd1'" in notes


def test_a_pin_of_an_operator_whose_number_is_free_replaces_those_of_its_instances(
    tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "graph.json"
    job = chain("xy", 5e5)
    job["operators"][0]["parallelism"] = "free"
    file.write_text(json.dumps({**job, "constraints": {"pins": {"x[1]": "d2", "y": "d0"}}}))
    rate = ("--source-rate", 100)
    out, notes = printed(capsys, "size", file, *DEVICES, *rate, *pins("x=d1"), "--json")
    assert json.loads(out)["assignment"] == {"x": "d1", "y": "d0"}
    assert notes == "the pin of 'x[1]' moves from 'd2' to 'd1'\n"
