"""PyTorch modules on the command line: `import --from torch` and `profile torch`."""

import json
import sys
from pathlib import Path

import pytest

from streamplace import read_graph
from streamplace.cli.main import main
from streamplace.networks.torch.graph import from_module
from tests.support.cli import Capture, refused, succeeds
from tests.support.long import long_after
from tests.support.torch_modules import case

MODULE = """
import sys
import torch
from tests.support.torch_modules import Branching, Net, Tied

net = Net()
number = 3

class Silent: ...

class Failing(torch.nn.Module):
    def __init__(self):
        raise ValueError("two\\nlines")

class Wide(torch.nn.Module):
    def __init__(self, width):
        super().__init__()

class Leaving(torch.nn.Module):
    def forward(self, x):
        sys.exit(3)

def with_inputs():
    print("a function that prints")
    return Net(), (torch.randn(3, 6),)

def without_inputs():
    return Net()

def wrong():
    return Net(), torch.randn(3, 6)
"""
COMMANDS = (("import", "--from", "torch"), ("profile", "torch", "--repeats", "1"))
KEYS = (
    *("file", "fault", "device", "threads", "kind", "repeats"),
    *("operators", "sum_s", "module", "notes"),
)
FAULTS = [
    (["net_module"], "torch module 'net_module': expected module:Class"),
    (["absent_module:Net"], "there is no module 'absent_module'; "),
    (["net_module:Nat"], "net_module.py) has no 'Nat'"),
    (["net_module:Silent"], "the class Silent is not a torch.nn.Module"),
    (["net_module:number"], "must be or return a torch.nn.Module"),
    (["net_module:wrong"], "a pair of a module and a tuple of inputs (got a tuple)"),
    (["net_module:Failing"], "its constructor failed: ValueError: two lines"),
    (["net_module:Wide"], "its constructor failed: TypeError"),
    (["net_module:Net:width=3"], "it has no options; write 'net_module:Net'"),
    (["net_module:Net"], "requires --input, such as --input 1x3x224x224"),
    (["net_module:without_inputs"], "requires --input"),
    (
        ["net_module:Net", "--input", "3x7"],
        "net_module:Net: it does not run on inputs of shape 3x7",
    ),
    (["net_module:Net", "--input", "3x6", "--input", "1"], "shape 3x6, 1: TypeError"),
    (["net_module:Net", "--input", "3y6"], "--input: must be sizes"),
    (["net_module:Net", "--input", "3x6:single"], "--input: unknown type 'single'"),
    (["net_module:Tied", "--input", "3"], "shape 3: RuntimeError"),
    (["net_module:Branching", "--input", "3"], "its control flow depends on the data"),
    (["net_module:Leaving", "--input", "3"], "shape 3: SystemExit: 3"),
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, which has a module."""
    (tmp_path / "net_module.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize(
    "words",
    long_after(
        1, ["net_module:Net --input 3x6", "net_module:net --input 3x6", "net_module:with_inputs"]
    ),
)
def test_a_module_becomes_a_graph(
    command: tuple[str, ...], words: str, folder: Path, capsys: Capture
) -> None:
    out = succeeds(capsys, *command, *words.split(), "-o", "graph.json", "--json")
    assert json.loads(out)["unknown"] == {}
    graph = read_graph(folder / "graph.json")
    expected = from_module(*case("net"))
    assert graph.with_numbers(seconds_on={})[0].sha256 == expected.sha256
    assert graph.name == "Net"
    assert len(graph.seconds_on) == (3 if command[0] == "profile" else 0)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize(("words", "expected"), FAULTS, ids=lambda each: " ".join(each)[:50])
def test_faults_are_one_line(
    command: tuple[str, ...], words: list[str], expected: str, folder: Path, capsys: Capture
) -> None:
    assert expected in refused(capsys, *command, *words, "-o", "graph.json")
    assert not (folder / "graph.json").exists()


def test_faults_of_options(folder: Path, capsys: Capture) -> None:
    (folder / "plan.txt").write_text("digraph { a -> b }")
    net = ("net_module:Net", "--input", "3x6")
    for words, expected in (
        (("import", "plan.txt", "--from", "dot", "--input", "3"), "--input requires --from torch"),
        (("import", *net, "--from", "torch", "--json"), "--json requires -o FILE"),
        (("profile", "torch", *net, "--json"), "--json requires -o FILE"),
        (("profile", "torch", *net, "--threads", "0"), "--threads: must be at least 1"),
        (("profile", "torch", *net, "--threads", "99999"), "must be at most the cores here"),
        (("profile", "torch", *net, "--device", "cuda", "--threads", "1"), "requires --device cpu"),
        (("profile", "torch", *net, "--repeats", "0"), "--repeats: must be at least 1"),
        (("profile", "torch", *net, "--seconds", "-1"), "--seconds"),
        (("profile", "torch", *net, "--kind", " "), "--kind: must not be empty"),
        (("profile", "torch", *net, "--device", "gpu"), "'gpu'"),
        (("profile", "torch", *net, "--add", "absent.json"), "absent.json: no such file"),
        (("profile", "torch", *net, "-o", "absent/graph.json"), "absent/graph.json"),
    ):
        assert expected in refused(capsys, *words)


def test_costs_replace_numbers(folder: Path, capsys: Capture) -> None:
    (folder / "costs.toml").write_text(
        'source_rate = 50\n[operators."a.addmm"]\ninstructions = 7\n'
    )
    words = ("import", "net_module:with_inputs", "--from", "torch", "--costs", "costs.toml")
    succeeds(capsys, *words, "-o", "graph.json")
    graph = read_graph(folder / "graph.json")
    assert graph.instructions.tolist() == [7, 15, 120]
    assert (graph.source_rate, graph.firing) == (50, "all")
    assert graph.meta_op == {0: "a", 2: "b"}


def test_the_graph_can_go_to_stdout(folder: Path, capsys: Capture) -> None:
    """What the module prints goes to stderr, so that the graph can be piped."""
    for command in COMMANDS:
        sys.modules.pop("net_module", None)
        out = succeeds(capsys, *command, "net_module:with_inputs")
        assert len(json.loads(out)["operators"]) == 3


def test_a_profile(folder: Path, capsys: Capture) -> None:
    words = ("profile", "torch", "net_module:with_inputs", "--repeats", "3", "-o", "graph.json")
    assert main([*words, "--json"]) == 0
    out, err = capsys.readouterr()
    assert "a function that prints" in err
    assert "whole module " in err
    assert "(3 repeats, 1 thread)" in err
    found = json.loads(out)
    assert list(found) == [*KEYS, "unknown"]
    assert (found["file"], found["fault"], found["kind"]) == ("graph.json", None, "cpu")
    assert (found["device"], found["threads"], found["repeats"]) == ("cpu", 1, 3)
    graph = read_graph(folder / "graph.json")
    for v, row in enumerate(found["operators"]):
        assert list(row) == ["name", "type", "instructions", "payload_bytes", "seconds"]
        assert row["name"] == graph.names[v]
        assert row["seconds"]["how"] == "measured"
        assert row["seconds"]["standard_error"] >= 0
        assert graph.seconds_on[v] == {"cpu": row["seconds"]["value"]}
    times = [row["seconds"]["value"] for row in found["operators"]]
    assert found["sum_s"] == pytest.approx(sum(times))
    assert found["module"]["value"] > 0
    table = succeeds(capsys, *words)
    assert [line.split()[0] for line in table.splitlines()] == ["operator", *graph.names]


def test_times_of_two_kinds(folder: Path, capsys: Capture) -> None:
    words = ("profile", "torch", "net_module:with_inputs", "--repeats", "1")
    succeeds(capsys, *words, "-o", "old.json")
    before = read_graph(folder / "old.json").seconds_on
    succeeds(capsys, *words, "--kind", "edge", "--add", "old.json", "-o", "both.json")
    both = read_graph(folder / "both.json").seconds_on
    assert [{*times} for times in both.values()] == [{"cpu", "edge"}] * 3
    assert [times["cpu"] for times in both.values()] == [each["cpu"] for each in before.values()]
    expected = "old.json: is not a graph of this module with these inputs"
    again = ("profile", "torch", "net_module:Net", "--input", "4x6", "--add", "old.json")
    assert expected in refused(capsys, *again)
    overwriting = refused(capsys, *words, "--add", "old.json", "-o", "old.json")
    assert "-o old.json: would overwrite the input old.json" in overwriting


def test_shared_parameters_are_noted(capsys: Capture) -> None:
    words = ("net_module:Tied", "--input", "1x3:int64", "-o", "graph.json", "--json")
    for command in COMMANDS:
        notes = json.loads(succeeds(capsys, *command, *words))["notes"]
        assert "memory_bytes of the first of them counts it" in notes[0]
