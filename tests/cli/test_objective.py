"""Users' objectives on the command line: from a module or package, stored in files, or refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import ENVIRONMENT, one_line, run
from tests.support.input_files import chain
from tests.support.long import long_after
from tests.support.paths import ROOT

MODULE = """
from dataclasses import dataclass
from typing import ClassVar
import numpy as np
import streamplace as sp
from streamplace.scoring.objective_evaluator import ObjectiveEvaluator

class NetEvaluator(ObjectiveEvaluator):
    def worth(self, problem, devices, throughput):
        used = np.array([len(np.unique(row)) for row in devices])
        return np.maximum(throughput - problem.objective.price * used, 0)

@dataclass(frozen=True)
class Net(sp.Throughput):
    evaluator: ClassVar[type] = NetEvaluator
    price: float = 1000.0

class FailingEvaluator(ObjectiveEvaluator):
    def worth(self, problem, devices, throughput):
        raise RuntimeError("a fault\\nof its own")

@dataclass(frozen=True)
class Failing(sp.Throughput):
    evaluator: ClassVar[type] = FailingEvaluator

@dataclass(frozen=True)
class Worded(Net):
    word: str = "a"

    def __post_init__(self):
        super().__post_init__()
        if not self.word.isalpha():
            raise ValueError("letters alone")
"""
CHAIN = chain([f"op_{v}" for v in range(6)], 1e5, source_rate=4000, payload_bytes=1)
"""A device of 1000 MIPS sustains 1,667 tuples/s of it, two twice that, three all."""
CLUSTER = ("--devices", "4x1000")
ENTRY_POINTS = (
    "[streamplace.objectives]\nnet = mine:Net\nthroughput = mine:Failing\ngone = nowhere:Net\n"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with objectives, a graph and a dataset."""
    (tmp_path / "mine.py").write_text(MODULE)
    (tmp_path / "graph.json").write_text(json.dumps(CHAIN))
    (tmp_path / "many.jsonl").write_text("\n".join([json.dumps(CHAIN)] * 70))
    return tmp_path


def run_in(folder: Path, *arguments: object, **more: str) -> tuple[int, str, str]:
    """Run a command as an installed script would, without the current folder on Python's path.

    Return the exit code, stdout and stderr.
    """
    environment = {**ENVIRONMENT, "PYTHONSAFEPATH": "1", **more}
    done = run(*arguments, cwd=folder, env=environment)
    return done.returncode, done.stdout, done.stderr


def json_from(folder: Path, *arguments: object, **more: str) -> Any:
    """Return the JSON that a command prints with --json."""
    code, out, err = run_in(folder, *arguments, "--json", **more)
    assert (code, err) == (0, "")
    return json.loads(out)


def installed(folder: Path) -> dict[str, str]:
    """Install a package that registers the objectives; return the environment to use it."""
    about = folder / "ours-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: ours\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(ENTRY_POINTS)
    return {"PYTHONPATH": f"{ROOT}:{folder}"}


@pytest.mark.long
def test_place_simulate_and_compare_use_the_objective(folder: Path) -> None:
    net = ("--objective", "mine:Net:price=900")
    plain = json_from(folder, "place", "graph.json", *CLUSTER, "-o", "plain.json")
    worth = json_from(folder, "place", "graph.json", *CLUSTER, *net, "-o", "net.json")
    assert (plain["devices_used"], worth["devices_used"]) == (4, 2)
    assert worth["throughput"] == pytest.approx(4e6 / 1200 - 1800)
    assert (worth["objective"], "objective" in plain) == ("mine:Net:price=900.0", False)
    scored = {
        (file, *options): json_from(folder, "simulate", "graph.json", file, *options)["throughput"]
        for file in ("plain.json", "net.json")
        for options in (("--objective", "throughput"), net)
    }
    assert scored["plain.json", *net] < scored["net.json", *net]
    throughput = ("--objective", "throughput")
    assert scored["plain.json", *throughput] > scored["net.json", *throughput]
    comparing = (
        "compare",
        "many.jsonl",
        *CLUSTER,
        "--jobs",
        2,
        "--placers",
        "metis:parts=2,round-robin",
    )
    two, four = (row["mean"] for row in json_from(folder, *comparing)["rows"])
    two_net, four_net = (row["mean"] for row in json_from(folder, *comparing, *net)["rows"])
    assert two < four
    assert two_net > four_net == pytest.approx(0.1)


@pytest.mark.long
def test_throughput_is_the_default(folder: Path) -> None:
    placing = ("place", "graph.json", *CLUSTER, "--placer", "greedy", "--json")
    answers = [run_in(folder, *placing, *more)[1] for more in ((), ("--objective", "throughput"))]
    without = [{**json.loads(out), "seconds": 0} for out in answers]
    assert json.dumps(without[0]) == json.dumps(without[1])


FAULTS = [
    (["--objective", "mine:Failing"], "its evaluator failed: RuntimeError: a fault of its own"),
    (["--objective", "nett"], "unknown objective 'nett'; choose from throughput"),
    (["--objective", "mine:Lost"], "has no 'Lost'"),
    (["--objective", "mine:NetEvaluator"], "is no objective, such as a subclass of"),
    (["--objective", "mine:Net:price=high"], "price must be a number"),
    (["--objective", "mine:Worded:word=4"], "its constructor failed: ValueError: letters"),
    (["--objective", "mine:Net", "--placer", "exact"], "'exact' supports only throughput, not"),
]


@pytest.mark.parametrize(("arguments", "message"), long_after(3, FAULTS))
def test_errors_are_one_line(folder: Path, arguments: list[str], message: str) -> None:
    code, out, err = run_in(folder, "place", "graph.json", *arguments)
    assert (code, out) == (2, "")
    assert message in one_line(err)


@pytest.mark.long
def test_a_file_that_names_a_module_requires_the_objective_option(folder: Path) -> None:
    net = ("--objective", "mine:Net:price=900")
    assert run_in(folder, "place", "graph.json", *CLUSTER, *net, "-o", "net.json")[0] == 0
    for command in (
        ["simulate", "graph.json", "net.json"],
        ["explain", "net.json"],
        ["info", "net.json"],
        ["export", "net.json", "--to", "csv"],
        ["report", "net.json", "-o", "r.html"],
        ["diff", "net.json", "net.json"],
    ):
        code, _, err = run_in(folder, *command)
        assert code == 2
        assert one_line(err) == (
            "streamplace: net.json: problem.objective: the placement was made under a user's "
            "objective; pass --objective mine:Net:price=900.0 to simulate, explain, diff or place "
            "--start, --objective throughput to report, or objective=… to read_placement in "
            "Python; for other commands, store it under throughput by place GRAPH --start FILE "
            "--objective throughput --max-moves 0"
        )
    for command in (["explain", "net.json"], ["diff", "net.json", "net.json"]):
        assert run_in(folder, *command, *net)[0] == 0
    throughput = ("--objective", "throughput")
    assert run_in(folder, "report", "net.json", *throughput, "-o", "net.html")[0] == 0
    copying = ("place", "graph.json", "--start", "net.json", *throughput, "--max-moves", 0)
    assert run_in(folder, *copying, "-o", "copy.json")[0] == 0
    assert run_in(folder, "export", "copy.json", "--to", "csv")[0] == 0
    again = json_from(folder, "place", "graph.json", *CLUSTER, *net, "--start", "net.json")
    assert again["moves"] == []
    options = ("--model", "engine", "--duration", 9)
    code, _, err = run_in(folder, "simulate", "graph.json", "net.json", *net, *options)
    assert code == 2
    message = "--duration is an option of the engine, which simulates only throughput, not obj"
    assert message in one_line(err)


@pytest.mark.long
def test_files_can_name_an_objective_of_an_installed_package(folder: Path) -> None:
    environment = installed(folder)
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    (folder / "graph.json").rename(elsewhere / "graph.json")
    placing = ("place", "graph.json", *CLUSTER, "--model", "path-average", "-o", "net.json")
    placed = json_from(elsewhere, *placing, "--objective", "net:price=900", **environment)
    assert placed["objective"] == "net:price=900.0"
    simulated = json_from(elsewhere, "simulate", "graph.json", "net.json", **environment)
    assert {key: placed[key] for key in simulated} == simulated
    assert simulated["model"] == "path-average"
    dearer = ("--objective", "net:price=1000")
    cost = json_from(elsewhere, "simulate", "graph.json", "net.json", *dearer, **environment)[
        "throughput"
    ]
    assert placed["throughput"] - cost == pytest.approx(100 * placed["devices_used"])
    assert (
        json_from(elsewhere, "explain", "net.json", **environment)["objective"] == "net:price=900.0"
    )
    assert json_from(elsewhere, "info", "net.json", **environment)["objective"] == "net:price=900.0"
    code, _, err = run_in(elsewhere, "report", "net.json", "-o", "r.html", **environment)
    assert code == 2
    assert "makespans and total costs, not objective 'net:price=900.0'" in one_line(err)
    code, _, err = run_in(elsewhere, "simulate", "graph.json", "net.json")  # not installed
    assert code == 2
    line = one_line(err)
    assert "net.json: problem.objective: unknown objective 'net'; choose from throughput" in line


@pytest.mark.long
def test_explain_names_an_objective_that_deducts_from_the_throughput(folder: Path) -> None:
    """A device of 1000 MIPS sustains 1,000 tuples/s, from which the objective deducts 900."""
    environment, net = installed(folder), ("--objective", "net:price=900", "--devices", "1x1000")
    placing = ("place", "graph.json", *net, "-o", "net.json", "--source-rate", 1000)
    assert json_from(folder, *placing, **environment)["throughput"] == 100
    explained = run_in(folder, "explain", "net.json", **environment)[1].splitlines()
    assert "objective net:price=900.0 deducts 90.0% of the source rate" in explained
    assert not [line for line in explained if line.startswith("bottleneck")]


@pytest.mark.long
def test_installed_names_are_listed_and_do_not_replace_built_in_names(folder: Path) -> None:
    environment = installed(folder)
    shadowed = json_from(
        folder, "place", "graph.json", *CLUSTER, "--objective", "throughput", **environment
    )
    assert shadowed["throughput"] == 4000
    code, _, err = run_in(folder, "place", "graph.json", "--objective", "gone", **environment)
    assert code == 2
    assert "objective 'gone': loading nowhere:Net failed: ModuleNotFoundError" in one_line(err)
    err = run_in(folder, "place", "graph.json", "--objective", "xyzzy", **environment)[2]
    names = "throughput, makespan, total-cost, gone, net"
    assert f"choose from {names}, or module:Class for your own" in one_line(err)
    words = {"COMP_WORDS": "streamplace compare x --objective ", "COMP_CWORD": "4"}
    shell = {**environment, **words, "_STREAMPLACE_COMPLETE": "bash_complete"}
    assert run_in(folder, **shell)[1].split() == [f"plain,{name}" for name in names.split(", ")]
