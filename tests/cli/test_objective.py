"""Objectives of users on the command line: typed, installed, stored, refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import ENVIRONMENT, one_line, run
from tests.support.paths import ROOT

OWN = """
from dataclasses import dataclass
from typing import ClassVar
import numpy as np
import streamplace as sp

class NetEvaluator(sp.ObjectiveEvaluator):
    def worth(self, problem, devices, throughput):
        used = np.array([len(np.unique(row)) for row in devices])
        return np.maximum(throughput - problem.objective.price * used, 0)

@dataclass(frozen=True)
class Net(sp.Throughput):
    evaluator: ClassVar[type] = NetEvaluator
    price: float = 1000.0

class FailingEvaluator(sp.ObjectiveEvaluator):
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
CHAIN = {  # of which a device of 1000 MIPS carries 1,667 tuples/s, two twice and three all
    "format": "streamplace-graph",
    "version": 1,
    "source_rate": 4000,
    "operators": [{"name": f"op_{v}", "instructions": 1e5, "payload_bytes": 1} for v in range(6)],
    "streams": [{"source": f"op_{v}", "target": f"op_{v + 1}"} for v in range(5)],
}
ON = ("--devices", "4x1000")
POINTS = "[streamplace.objectives]\nnet = mine:Net\nthroughput = mine:Failing\ngone = nowhere:Net\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with objectives, a graph and a dataset."""
    (tmp_path / "mine.py").write_text(OWN)
    (tmp_path / "graph.json").write_text(json.dumps(CHAIN))
    (tmp_path / "many.jsonl").write_text("\n".join([json.dumps(CHAIN)] * 70))
    return tmp_path


def answer(folder: Path, *arguments: object, **more: str) -> tuple[int, str, str]:
    """Run a command like an installed script, without the current folder on the path."""
    environment = {**ENVIRONMENT, "PYTHONSAFEPATH": "1", **more}
    done = run(*arguments, cwd=folder, env=environment)
    return done.returncode, done.stdout, done.stderr


def found(folder: Path, *arguments: object, **more: str) -> Any:
    """Return what a command prints with --json."""
    code, out, err = answer(folder, *arguments, "--json", **more)
    assert (code, err) == (0, "")
    return json.loads(out)


def installed(folder: Path) -> dict[str, str]:
    """Install a package that registers the objectives; return the environment it is in."""
    about = folder / "ours-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: ours\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(POINTS)
    return {"PYTHONPATH": f"{ROOT}:{folder}"}


def test_place_simulate_and_compare_choose_by_it(folder: Path) -> None:
    net = ("--objective", "mine:Net:price=900")
    plain = found(folder, "place", "graph.json", *ON, "-o", "plain.json")
    worth = found(folder, "place", "graph.json", *ON, *net, "-o", "net.json")
    assert (plain["devices_used"], worth["devices_used"]) == (3, 2)
    assert worth["throughput"] == pytest.approx(4e6 / 1200 - 1800)
    assert (worth["objective"], "objective" in plain) == ("mine:Net:price=900.0", False)
    scored = {
        (file, *options): found(folder, "simulate", "graph.json", file, *options)["throughput"]
        for file in ("plain.json", "net.json")
        for options in (("--objective", "throughput"), net)
    }
    assert scored["plain.json", *net] < scored["net.json", *net]
    throughput = ("--objective", "throughput")
    assert scored["plain.json", *throughput] > scored["net.json", *throughput]
    comparing = (
        "compare",
        "many.jsonl",
        *ON,
        "--jobs",
        2,
        "--placers",
        "metis:parts=2,round-robin",
    )
    two, four = (row["mean"] for row in found(folder, *comparing)["rows"])
    two_net, four_net = (row["mean"] for row in found(folder, *comparing, *net)["rows"])
    assert two < four
    assert two_net > four_net == pytest.approx(0.1)


def test_throughput_is_what_it_is_without_the_option(folder: Path) -> None:
    placing = ("place", "graph.json", *ON, "--placer", "greedy", "--json")
    answers = [answer(folder, *placing, *more)[1] for more in ((), ("--objective", "throughput"))]
    without = [{**json.loads(out), "seconds": 0} for out in answers]
    assert json.dumps(without[0]) == json.dumps(without[1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--objective", "nett"], "unknown objective 'nett'; choose from throughput"),
        (["--objective", "mine:Lost"], "has no 'Lost'"),
        (["--objective", "mine:NetEvaluator"], "is no subclass of streamplace.Throughput"),
        (["--objective", "mine:Net:price=high"], "price must be a number"),
        (["--objective", "mine:Worded:word=4"], "its constructor failed: ValueError: letters"),
        (["--objective", "mine:Failing"], "its evaluator failed: RuntimeError: a fault of its own"),
        (["--objective", "mine:Net", "--placer", "exact"], "'exact' proves throughput, not object"),
    ],
)
def test_what_is_wrong_is_one_line(folder: Path, arguments: list[str], message: str) -> None:
    code, out, err = answer(folder, "place", "graph.json", *arguments)
    assert (code, out) == (2, "")
    assert message in one_line(err)


def test_a_file_that_names_a_module_needs_it_typed(folder: Path) -> None:
    net = ("--objective", "mine:Net:price=900")
    assert answer(folder, "place", "graph.json", *ON, *net, "-o", "net.json")[0] == 0
    for command in (["simulate", "graph.json", "net.json"], ["explain", "net.json"]):
        code, _, err = answer(folder, *command)
        assert code == 2
        assert (
            "problem.objective: a file cannot load 'mine:Net:price=900.0' from a module"
            in one_line(err)
        )
    again = found(folder, "place", "graph.json", *ON, *net, "--start", "net.json")
    assert again["moves"] == []
    options = ("--model", "engine", "--duration", 9)
    code, _, err = answer(folder, "simulate", "graph.json", "net.json", *net, *options)
    assert code == 2
    assert "--duration: engine options score throughput, not objective 'mine:Net" in one_line(err)


def test_an_installed_package_gives_its_objective_a_name_that_files_hold(folder: Path) -> None:
    there = installed(folder)
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    (folder / "graph.json").rename(elsewhere / "graph.json")
    placing = ("place", "graph.json", *ON, "--model", "path-average", "-o", "net.json")
    placed = found(elsewhere, *placing, "--objective", "net:price=900", **there)
    assert placed["objective"] == "net:price=900.0"
    simulated = found(elsewhere, "simulate", "graph.json", "net.json", **there)
    assert {key: placed[key] for key in simulated} == simulated
    assert simulated["model"] == "path-average"
    dearer = ("--objective", "net:price=1000")
    cost = found(elsewhere, "simulate", "graph.json", "net.json", *dearer, **there)["throughput"]
    assert placed["throughput"] - cost == pytest.approx(100 * placed["devices_used"])
    assert found(elsewhere, "explain", "net.json", **there)["objective"] == "net:price=900.0"
    assert found(elsewhere, "info", "net.json", **there)["objective"] == "net:price=900.0"
    code, _, err = answer(elsewhere, "report", "net.json", "-o", "r.html", **there)
    assert code == 2
    assert "report: the page shows throughput, not objective 'net:price=900.0'" in one_line(err)
    code, _, err = answer(elsewhere, "simulate", "graph.json", "net.json")  # not installed
    assert code == 2
    line = one_line(err)
    assert "net.json: problem.objective: unknown objective 'net'; choose from throughput" in line


def test_no_name_of_ours_is_replaced_and_others_are_listed(folder: Path) -> None:
    there = installed(folder)
    shadowed = found(folder, "place", "graph.json", *ON, "--objective", "throughput", **there)
    assert shadowed["throughput"] == 4000
    code, _, err = answer(folder, "place", "graph.json", "--objective", "gone", **there)
    assert code == 2
    assert "objective 'gone': loading nowhere:Net failed: ModuleNotFoundError" in one_line(err)
    err = answer(folder, "place", "graph.json", "--objective", "xyzzy", **there)[2]
    assert "choose from throughput, gone, net, or module:Class for your own" in one_line(err)
    words = {"COMP_WORDS": "streamplace compare x --objective ", "COMP_CWORD": "4"}
    shell = {**there, **words, "_STREAMPLACE_COMPLETE": "bash_complete"}
    assert answer(folder, **shell)[1].split() == ["plain,throughput", "plain,gone", "plain,net"]
