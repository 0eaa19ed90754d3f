"""Tests for custom placers: lookup, checks, and files that name a module, which is not imported."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import streamplace as sp
from streamplace.errors import UsageError
from streamplace.learning.training.config import read_config
from streamplace.placers.registry import make_placer
from tests.support.cli import ENVIRONMENT, one_line, run
from tests.support.input_files import GRAPH
from tests.support.paths import ROOT

MODULE = '''
from dataclasses import dataclass
import streamplace as sp

@dataclass
class Last:
    """Place everything on the device `before` positions before the last."""
    before: int = 0
    loud: bool = False

    def __post_init__(self):
        if self.before > 9:
            raise ValueError("that is\\ntoo far")

    def __call__(self, problem, rng, start=None):
        last = len(problem.cluster.devices) - 1 - self.before
        return sp.Placement(problem, [last] * len(problem.graph.names))

class Outer:
    class Inner(Last):
        pass

class Plain:
    def __init__(self, depth, width: "int" = 3, **more):
        self.size = (depth, width)

    def __call__(self, problem, rng, start):
        raise RuntimeError("a fault")

class Number:
    pass

def first(problem, rng, start=None):
    return sp.Placement(problem, [0] * len(problem.graph.names))

def pair(a, b):
    return None

def failing(problem, rng, start=None):
    raise RuntimeError("a fault\\nin two lines")

def stuck(problem, rng, start=None):
    from streamplace.errors import PlacementError
    raise PlacementError("no room")

def text(problem, rng, start=None):
    return "d0"

def elsewhere(problem, rng, start=None):
    other = sp.Problem(problem.graph, "9x1")
    return sp.Placement(other, [8] * len(problem.graph.names))
'''


RUN_COMMANDS = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout
from streamplace.cli.main import main
results = []
for arguments in json.load(sys.stdin):
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(arguments)
    results.append([code, out.getvalue(), err.getvalue()])
json.dump(results, sys.stdout)
"""
EXPECTED_DEVICES = {
    "mine:Last": "d2",
    "mine:Last:before=1:loud=true": "d1",
    "mine:Outer.Inner:before=2": "d0",
    "mine:first": "d0",
    "metis:Last": "d2",
    "test:Last": "d2",
}
FAULTS = {
    "nowhere:Last": "there is no module 'nowhere'; it is neither in this folder nor installed",
    "mine:Lost": "module 'mine' (FOLDER/mine.py) has no 'Lost'",
    "broken:Last": "importing broken failed: SyntaxError",
    "lacking:Last": "No module named 'nowhere'",
    "leaving:Last": "importing leaving failed: SystemExit: 7",
    "mine:Number": "a value of type Number is not a placer",
    "mine:sp": "a value of type module is not a placer",
    "mine:pair": "is called with problem, rng and start, but this one takes (a, b)",
    "mine:Last:befor=1": "unknown option 'befor'; did you mean 'before'",
    "mine:Last:before=one": "before must be a whole number",
    "mine:Last:loud=yes": "loud must be true or false",
    "mine:Last:before=10": "its constructor failed: ValueError: that is too far",
    "mine:Plain": "its constructor failed: TypeError",
    "mine:failing": "placer 'mine:failing': placing failed: RuntimeError: a fault in two lines",
    "mine:first:depth=3": "it has no options; the parameters of a class are options",
    "metis:parts": "module 'metis' (FOLDER/metis.py) has no 'parts'",
    "fuser:parts": "option 'parts' needs a value: parts=VALUE",
}


def filled(folder: Path) -> Path:
    """Return a folder with placers, a graph, a dataset, and modules that cannot be loaded."""
    for name in ("mine", "metis", "test"):
        (folder / f"{name}.py").write_text(MODULE)
    (folder / "torch.py").write_text("raise SystemExit('a file that is in the way')")
    (folder / "broken.py").write_text("def broken(:\n")
    (folder / "lacking.py").write_text("import nowhere.to_be_found\n")
    (folder / "leaving.py").write_text("raise SystemExit(7)\n")
    (folder / "graph.json").write_text(json.dumps(GRAPH))
    (folder / "many.jsonl").write_text("\n".join([json.dumps(GRAPH)] * 70))
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with placers and inputs."""
    return filled(tmp_path)


Answers = dict[str, tuple[int, str, str]]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """Run `place` with each placer in one process, as an installed script would."""
    folder = filled(tmp_path_factory.mktemp("own"))
    rate = ["--source-rate", "1e5"]  # at which no number seems to be in another unit
    placing = ["place", "graph.json", "--devices", "3x2500", *rate, "--json", "--placer"]
    placers = [*EXPECTED_DEVICES, *FAULTS]
    done = subprocess.run(
        [sys.executable, "-P", "-c", RUN_COMMANDS],
        input=json.dumps([[*placing, placer] for placer in placers]),
        cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    printed = json.loads(done.stdout.replace(str(folder), "FOLDER"))
    return {placer: tuple(answer) for placer, answer in zip(placers, printed, strict=True)}


def command(folder: Path, *arguments: object) -> tuple[int, str, str]:
    """Run `streamplace` as an installed script would, without the current folder on the path."""
    environment = {**ENVIRONMENT, "PYTHONSAFEPATH": "1"}
    done = run(*arguments, cwd=folder, env=environment)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(("placer", "device"), EXPECTED_DEVICES.items())
def test_the_command_line_finds_placers_in_the_current_folder(
    placer: str, device: str, answers: Answers
) -> None:
    code, out, err = answers[placer]
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert set(found["assignment"].values()) == {device}
    assert found["placer"] == placer


@pytest.mark.long
def test_worker_processes_of_compare_find_placers(folder: Path) -> None:
    comparing = ("compare", "many.jsonl", "--jobs", 2, "--json", "--placers")
    code, out, err = command(
        folder, *comparing, "mine:Last,metis,mine:Last:before=1", "--devices", "5x2500"
    )
    assert (code, err) == (0, "")
    names = [row["placer"] for row in json.loads(out)["rows"]]
    assert names == ["mine:Last", "metis", "mine:Last:before=1"]


@pytest.mark.long
def test_a_local_file_does_not_shadow_a_library(folder: Path) -> None:
    code, _, err = command(
        folder, "compare", "graph.json", "--placers", "mine:Last,policy", "--devices", "5x2500"
    )
    assert (code, err) == (0, "")


@pytest.mark.parametrize(("placer", "message"), FAULTS.items())
def test_a_fault_is_reported_in_one_line(placer: str, message: str, answers: Answers) -> None:
    code, out, err = answers[placer]
    assert (code, out) == (2, "")
    assert message in one_line(err)


@pytest.mark.long
def test_a_time_limit_needs_the_option_seconds(folder: Path) -> None:
    limited = ("place", "graph.json", "--time-limit", 1, "--placer", "mine:Last")
    code, _, err = command(folder, *limited)
    assert code == 2
    assert "placer 'mine:Last' does not accept a time limit; these do: auto," in one_line(err)


@pytest.mark.long
def test_an_installed_package_registers_its_placer_by_name(folder: Path) -> None:
    about = folder / "ours-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: ours\nVersion: 1.0\n")
    points = "[streamplace.placers]\nlast = mine:Last\nmetis = mine:Last\ngone = nowhere:Last\n"
    (about / "entry_points.txt").write_text(points)
    environment = {**ENVIRONMENT, "PYTHONPATH": f"{ROOT}:{folder}"}

    def placed(placer: str) -> tuple[int, str, str]:
        arguments = ("place", folder / "graph.json", "--devices", "3x2500", "--json")
        done = run(*arguments, "--placer", placer, cwd=folder.parent, env=environment)
        return done.returncode, done.stdout, done.stderr

    code, out, _ = placed("last:before=1")
    assert code == 0
    assert set(json.loads(out)["assignment"].values()) == {"d1"}
    assert placed("metis:parts=2")[0] == 0  # a registered name does not replace a built-in one
    assert "loading nowhere:Last failed" in one_line(placed("gone")[2])
    code, _, err = placed("xyzzy")
    assert code == 2
    assert "random" in one_line(err)
    assert "gone, last, or module:Class for your own" in err
    assert "did you mean 'last'?" in placed("lost")[2]
    help_text = run("place", "--help", cwd=folder.parent, env=environment).stdout
    assert "Placers of installed packages: gone, last" in help_text


def test_a_file_cannot_cause_an_import(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    shipped = (ROOT / "streamplace" / "learning" / "training" / "configs" / "best.toml").read_text()
    config = folder / "config.toml"
    imitation = '[[stage]]\nalgorithm = "imitation"\nepochs = 1\nteacher = "leaving:Last"\n'
    config.write_text(shipped + imitation)
    with pytest.raises(sp.StreamplaceError, match="a file cannot load a module"):
        read_config(str(config))
    with pytest.raises(UsageError, match="unknown option "):
        make_placer("metis:Last", from_file=True)
    assert "leaving" not in sys.modules


@pytest.mark.long
def test_a_placer_that_finds_no_placement_is_no_fault_of_its_code(folder: Path) -> None:
    code, _, err = command(folder, "place", "graph.json", "--placer", "mine:stuck")
    assert code == 1
    assert one_line(err).endswith("no room")
