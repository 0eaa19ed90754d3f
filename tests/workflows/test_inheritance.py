"""What a new placement inherits from an old one, from `place --start` and from Python."""

import json
from pathlib import Path
from typing import Any

import pytest

import streamplace as sp
from streamplace.sim.engine.settings import Settings
from streamplace.workflows.inheritance import inherit
from tests.support.cli import Capture, json_of, printed, refused, succeeds
from tests.support.input_files import chain
from tests.support.values import GRAPH as PRICED
from tests.support.values import Bill

GRAPH = chain("abc", 1e6, source_rate=900)


@pytest.fixture
def files(tmp_path: Path, capsys: Capture) -> Path:
    """Return a folder with a placement on three devices, a pinned to d1, b allowed on d0 and d2."""
    rules = {"pins": {"a": "d1"}, "allowed": {"b": ["d0", "d2"]}}
    for name, value in (("graph", GRAPH), ("rules", rules), ("none", {})):
        (tmp_path / f"{name}.json").write_text(json.dumps(value))
    succeeds(
        capsys,
        *("place", tmp_path / "graph.json", "--devices", "3x1000"),
        *("--constraints", tmp_path / "rules.json", "--source-rate", "800"),
        *("--target-utilisation", "0.9", "--model", "path-average", "-o", tmp_path / "old.json"),
    )
    return tmp_path


def replaced(capsys: Capture, folder: Path, *options: object) -> tuple[dict[str, Any], str]:
    """Return the JSON output and stderr of re-placing."""
    words = ("place", folder / "graph.json", "--start", folder / "old.json", "--json", *options)
    out, err = printed(capsys, *words)
    return json.loads(out), err


def test_everything_is_inherited_and_printed(files: Path, capsys: Capture) -> None:
    found, stderr = replaced(capsys, files)
    assert len(found["devices"]) == 3
    assert found["assignment"]["a"] == "d1"
    assert found["model"] == "path-average"
    assert "cluster of 3 devices; constraints (1 pin, 1 allowed list); source rate 800" in stderr
    assert "model path-average; target utilisation 0.9" in stderr


def test_options_replace_what_would_be_inherited(files: Path, capsys: Capture) -> None:
    found, stderr = replaced(
        capsys,
        files,
        *("--devices", "2x1000", "--constraints", files / "none.json", "--source-rate", "700"),
        *("--model", "bottleneck", "--target-utilisation", "1"),
    )
    assert found["model"] == "bottleneck"
    assert "from " not in stderr


def test_lost_devices_leave_lists_but_not_pins(files: Path, capsys: Capture) -> None:
    two = {"format": "streamplace-cluster", "version": 1}
    kept = [{"name": name, "mips": 1000} for name in ("d0", "d1")]
    (files / "two.json").write_text(json.dumps(two | {"devices": kept}))
    found, _ = replaced(capsys, files, "--cluster", files / "two.json")
    assert found["assignment"]["b"] == "d0"
    (files / "two.json").write_text(json.dumps(two | {"devices": kept[:1]}))
    line = refused(
        capsys,
        *("place", files / "graph.json", "--start", files / "old.json"),
        *("--cluster", files / "two.json"),
    )
    assert "old.json: constraints.pins['a']: unknown device 'd1'" in line


def test_the_throughput_before_a_loss_is_printed(tmp_path: Path, capsys: Capture) -> None:
    graph, old = tmp_path / "graph.json", tmp_path / "old.json"
    graph.write_text(json.dumps(GRAPH))
    place = ("place", graph, "--placer", "exact")
    succeeds(capsys, *place, "--devices", "3x1000", "-o", old)
    lost = ("place", graph, "--start", old, "--devices", "2x1000", "--max-moves", "0")
    line = succeeds(capsys, *lost).splitlines()[-1]
    assert line.startswith("1 forced move, 0 further moves; throughput 900 tuples/s before, 500 ")
    assert line.endswith("500 tuples/s with the forced moves only, 500 tuples/s with all moves")
    assert json_of(capsys, *lost)["throughput_before"] == 900


def test_a_changed_graph_has_its_own_constraints_and_rate(tmp_path: Path, capsys: Capture) -> None:
    """The placement took both from its graph, and not from options."""
    graph, old = tmp_path / "graph.json", tmp_path / "old.json"
    graph.write_text(json.dumps(GRAPH))
    succeeds(capsys, "place", graph, "--devices", "3x9000", "--prefer", "fewest", "-o", old)
    changed = {**GRAPH, "source_rate": 950, "constraints": {"exlocate": [["a", "b"]]}}
    graph.write_text(json.dumps(changed))
    found, stderr = replaced(capsys, tmp_path)
    assert found["assignment"]["a"] != found["assignment"]["b"]
    assert found["throughput"] == pytest.approx(950)
    taken, moves = stderr.strip().splitlines()
    assert taken.endswith("cluster of 3 devices")
    assert moves.startswith("1 of 3 operators move")


def test_what_is_left_out_is_printed(files: Path, capsys: Capture) -> None:
    """Operator b and device d2 are gone, and d2 was one of two devices allowed for c."""
    rules = {"exlocate": [["a", "b"]], "allowed": {"c": ["d1", "d2"]}}
    (files / "rules.json").write_text(json.dumps(rules))
    options = ("--devices", "3x1000", "--constraints", files / "rules.json")
    succeeds(capsys, "place", files / "graph.json", *options, "-o", files / "old.json")
    smaller = {**GRAPH, "operators": GRAPH["operators"][::2]}
    streams = [{"source": "a", "target": "c"}]
    (files / "graph.json").write_text(json.dumps({**smaller, "streams": streams}))
    found, stderr = replaced(capsys, files, "--devices", "2x1000")
    assert found["assignment"]["c"] == "d1"
    left_out = "operator 'b', no longer in the graph and device 'd2', no longer in the cluster"
    assert f"constraints (1 allowed list), without {left_out}" in stderr


def test_constraints_on_operators_hold_for_new_instances(files: Path, capsys: Capture) -> None:
    """Operator b had two instances when it was placed, and has four now."""
    rules = {"pins": {"b": "d1"}, "exlocate": [["c", "b"]], "colocate": [["a", "b"]]}
    (files / "rules.json").write_text(json.dumps(rules))
    for count in (2, 4):
        operators = [{**row, "parallelism": count} for row in GRAPH["operators"][:2]]
        graph = {**GRAPH, "operators": [*operators, GRAPH["operators"][2]]}
        (files / "graph.json").write_text(json.dumps(graph))
        if count == 2:
            options = ("--devices", "3x1000", "--constraints", files / "rules.json")
            succeeds(capsys, "place", files / "graph.json", *options, "-o", files / "old.json")
            stored = json.loads((files / "old.json").read_text())
            assert stored["problem"]["constraints"] == rules
    found, stderr = replaced(capsys, files)
    assert "constraints (1 pin, 1 colocated group, 1 exlocated group)" in stderr
    on = found["assignment"]
    assert {on[f"{name}[{i}]"] for name in "ab" for i in range(4)} == {"d1"}
    assert on["c"] != "d1"


def test_a_pin_to_a_lost_device_is_refused(files: Path, capsys: Capture) -> None:
    options = ("--start", files / "old.json", "--devices", "1x1000")
    line = refused(capsys, "place", files / "graph.json", *options)
    assert "unknown device 'd1'" in line
    assert "old.json" in line
    assert line.endswith(
        "--constraints FILE, or constraints= in Python, replaces the placement's constraints"
    )


OPTIONS: dict[str, tuple[tuple[object, ...], dict[str, Any]]] = {
    "nothing": ((), {}),
    "cluster": (("--devices", "2x1000"), {"cluster": "2x1000"}),
    "constraints": (("--constraints", "rules.json"), {"constraints": sp.Constraints({"b": "d2"})}),
    "throughput": (
        ("--source-rate", "700", "--model", "bottleneck", "--target-utilisation", "1"),
        {"source_rate": 700, "model": "bottleneck", "target_utilisation": 1.0},
    ),
    "losses": (
        ("--without", "d2", "--slow", "d1=0.5", "--whole-operators"),
        {"without": ["d2"], "slow": {"d1": 0.5}, "whole_operators": True},
    ),
    "pins": (("--pin", "a=d2"), {"pins": {"a": "d2"}}),
    "makespan": (
        ("--objective", "makespan", "--semantics", "giph"),
        {"objective": sp.Makespan(), "semantics": "giph"},
    ),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_python_inherits_as_the_command(files: Path, capsys: Capture, name: str) -> None:
    words, settings = OPTIONS[name]
    (files / "rules.json").write_text(json.dumps({"pins": {"b": "d2"}}))
    words = tuple(files / word if word == "rules.json" else word for word in words)
    expected, stderr = replaced(capsys, files, "--max-moves", "1", *words)
    graph, old = sp.read_graph(files / "graph.json"), sp.read_placement(files / "old.json")
    found = sp.migrate(graph, old, inherit=True, max_moves=1, **settings)
    got = json.loads(json.dumps(found.to_dict()))
    assert got | {"seconds": 0} == expected | {"seconds": 0}
    for note in found.notes:
        named = note.replace("of the placement ", f"of {files / 'old.json'} ")
        assert named.removeprefix("from the placement: ") in stderr
    assert bool(found.notes) == ("from " in stderr)


def test_a_makespan_is_inherited(files: Path) -> None:
    graph = sp.read_graph(files / "graph.json")
    old = sp.place(graph, "3x1000", objective=sp.Makespan(batch=4, order="b-level"))
    found = sp.migrate(graph, old, inherit=True, max_moves=0)
    assert found.result.placement.problem.objective == old.placement.problem.objective
    (note,) = found.notes
    assert note.endswith("objective makespan:batch=4:order=b-level")
    with pytest.raises(sp.StreamplaceError, match="a makespan has no source rate"):
        sp.migrate(graph, old, inherit=True, source_rate=5.0)


def test_settings_of_the_engine_are_inherited(files: Path) -> None:
    graph = sp.read_graph(files / "graph.json")
    objective = sp.Throughput(model="engine", engine=Settings(seed=5))
    old = sp.Placement.of(
        sp.Problem(graph, "3x1000", objective=objective), dict.fromkeys("abc", "d0")
    )
    found = sp.migrate(graph, old, inherit=True, max_moves=0)
    assert found.result.placement.problem.objective == old.problem.objective


def test_without_inheritance_a_graph_has_the_defaults_of_place(files: Path) -> None:
    graph, old = sp.read_graph(files / "graph.json"), sp.read_placement(files / "old.json")
    found = sp.migrate(graph, old, max_moves=0, cluster="3x1000")
    assert found.notes == ()
    new, expected = found.result.placement.problem, sp.Problem(graph, "3x1000")
    assert new.objective == expected.objective
    assert (new.cluster, new.constraints) == (expected.cluster, expected.constraints)


def test_the_default_cluster_does_not_replace_that_of_the_placement(files: Path) -> None:
    """Otherwise all operators would move to devices that the user does not have."""
    graph, old = sp.read_graph(files / "graph.json"), sp.read_placement(files / "old.json")
    message = "^migrate: cluster: is not set, and that of the placement counts only with inherit="
    with pytest.raises(sp.StreamplaceError, match=message):
        sp.migrate(graph, old, without=["d0"])
    assert len(sp.migrate(graph, old.assignment).result.placement.problem.cluster.devices) == 5
    default = sp.place(graph).placement
    assert sp.migrate(graph, default, max_moves=0).result.placement == default


FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "device": ({"without": ["d7"]}, "^without: unknown device or group 'd7'"),
    "slow device": ({"slow": {"d7": 0.5}}, "^slow: unknown device or group 'd7'"),
    "all devices": ({"without": ["d0", "d1", "d2"]}, "^without: no device is left"),
    "text": ({"without": "d1"}, r"without must be a list of names, such as \['d1'\]"),
    "share": ({"slow": {"d1": 0}}, "above 0 and at most 1"),
    "share of text": ({"slow": {"d1": "half"}}, "must be a number"),
    "pin": ({"pins": {"z": "d1"}}, "^pins: unknown operator 'z'"),
    "swapped pin": ({"pins": {"d1": "a"}}, "'d1', which is a device; 'a' is the operator"),
    "device of a pin": ({"pins": {"a": "d7"}}, "^pins: unknown device 'd7'"),
    "pinned loss": ({"without": ["d1"]}, "'a' is pinned to 'd1'"),
    "semantics": ({"semantics": "giph"}, "semantics requires"),
    "name": ({"objective": sp.Makespan(), "semantics": "gihp"}, "did you mean 'giph'"),
    "objective": ({"objective": "makespan"}, "objective"),
    "constraints": ({"constraints": "rules.json"}, "constraints"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_of_settings(files: Path, name: str) -> None:
    settings, message = FAULTS[name]
    graph, old = sp.read_graph(files / "graph.json"), sp.read_placement(files / "old.json")
    with pytest.raises(sp.StreamplaceError, match=message) as caught:
        sp.migrate(graph, old, inherit=True, **settings)
    assert "--" not in str(caught.value).replace("--constraints FILE, or constraints=", "")


def test_only_a_graph_has_settings(files: Path) -> None:
    graph, old = sp.read_graph(files / "graph.json"), sp.read_placement(files / "old.json")
    for arguments, name in (({"inherit": True}, "inherit"), ({"cluster": "2x1000"}, "cluster")):
        with pytest.raises(sp.StreamplaceError, match=f"{name} requires a graph"):
            sp.migrate(old.problem, old, **arguments)
    with pytest.raises(sp.StreamplaceError, match="must be Problem, not str"):
        sp.migrate("graph.json", old)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="'clutser'"):
        sp.migrate(graph, old, clutser="2x1000")  # type: ignore[call-arg]


def test_a_placement_of_another_job_is_refused(files: Path) -> None:
    old = sp.read_placement(files / "old.json")
    other = sp.StreamGraph([sp.Operator("x", 1e6, 1.0)], [], source_rate=1.0)
    with pytest.raises(sp.StreamplaceError, match="contains none of the operators of the graph"):
        sp.migrate(other, old, inherit=True)


def test_the_name_of_an_objective_that_is_set_is_not_inherited() -> None:
    problem = sp.Problem(PRICED, sp.Cluster.equal(2), objective=Bill(price=3.0))
    old = sp.Placement(problem, [0, 0, 0, 0])
    found = inherit(old, PRICED, {"objective": Bill(price=3.0)}, chosen=())
    assert found.taken == ("cluster of 2 devices", "price=3.0")
