"""Commands where PyTorch is not installed: no verb but `train` and `study` needs it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from streamplace.cli.registered import GROUP
from streamplace.util.entry_points import ours
from tests.support.cli import ENVIRONMENT
from tests.support.paths import ROOT
from tests.support.placers import LEARNED

PROGRAM = """
import json, sys
from importlib.machinery import PathFinder

class WithoutTorch(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        hidden = name.partition(".")[0] in ("torch", "torch_geometric")
        return None if hidden else PathFinder.find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = WithoutTorch
from streamplace.cli.main import main
for words in json.loads(sys.argv[1]):
    print(json.dumps([words, main(words)]), file=sys.stderr)
assert not {"torch", "torch_geometric"} & set(sys.modules)
"""
OVERLOADED = ("--source-rate", "1e6", "--placer", "auto:evaluations=500")
WORKING = [
    ["init"],
    ["info", "graph.json"],
    ["info", "{root}/streamplace/learning/policy/shipped/best.safetensors"],
    ["generate", "dream", "--count", "2", "--operators", "12", "-o", "graphs.jsonl.gz"],
    ["place", "graph.json", "--cluster", "cluster.json", "-o", "a.json"],
    ["place", "graph.json", "--cluster", "cluster.json", "--prefer", "fewest", "-o", "b.json"],
    ["place", "graph.json", "--cluster", "cluster.json", *OVERLOADED, "-o", "c.json"],
    ["place", "graph.json", "--cluster", "cluster.json", "--placer", "policy:samples=4:beam=2"],
    ["simulate", "graph.json", "a.json"],
    ["compare", "graphs.jsonl.gz", "--placers", "greedy,policy", "--source-rate", "1e4"],
    ["diff", "a.json", "c.json"],
    ["explain", "a.json"],
    ["export", "a.json", "--to", "csv"],
    ["plan", "graph.json", "--cluster", "cluster.json"],
    ["size", "graph.json", "--cluster", "cluster.json", "--source-rate", "2e4"],
    ["report", "a.json", "-o", "report.html"],
    ["schema", "graph"],
    ["completion", "bash"],
    ["export", "a.json", "--to", "dot", "-o", "a.dot"],
    ["import", "a.dot", "--from", "dot", "-o", "imported.json"],
    ["curves", "--help"],
    ["apply", "--help"],
    ["profile", "--help"],
    ["watch", "--help"],
    ["train", "--help"],
    ["study", "dream", "--help"],
]
NEEDING = {
    "train": ["train", "graphs.jsonl.gz", "--config", "best", "-o", "run"],
    "study": ["study", "dream", "--quick", "-o", "study"],
    "--from torch": ["import", "nets:Net", "--from", "torch", "-o", "net.json"],
    "profile torch": ["profile", "torch", "nets:Net", "-o", "net.json"],
    **{
        f"placer {name!r}": [
            *("place", "graph.json", "--cluster", "cluster.json"),
            *("--placer", name, "--objective", "makespan"),
        ]
        for name in LEARNED
        if name != "policy"
    },
    "of the kind 'giph',": [
        *("place", "graph.json", "--cluster", "cluster.json", "--placer"),
        "policy:file={root}/streamplace/papers/giph/weights/giph-throughput.safetensors",
    ],
}


def run(commands: list[list[str]], folder: Path) -> tuple[list[tuple[list[str], int]], list[str]]:
    """Run commands in one process without torch; return their exit codes, and other lines."""
    words = [[word.replace("{root}", str(ROOT)) for word in each] for each in commands]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM, json.dumps(words)],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    ended = [json.loads(line) for line in lines if line.startswith("[[")]
    assert len(ended) == len(commands), done.stderr
    return ended, [line for line in lines if not line.startswith("[[")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which all verbs have run without torch."""
    made = tmp_path_factory.mktemp("without-torch")
    ended, lines = run(WORKING, made)
    assert [words for words, code in ended if code] == [], lines
    return made


def test_every_verb_runs_without_torch(folder: Path) -> None:
    assert {words[0] for words in WORKING} == {name.partition(" ")[0] for name in ours(GROUP)}
    assert json.loads((folder / "c.json").read_text())["placer"] == OVERLOADED[-1]


def test_what_needs_torch_says_what_to_install(folder: Path) -> None:
    ended, lines = run([*NEEDING.values()], folder)
    assert {code for _, code in ended} == {2}
    assert len(lines) == len(NEEDING)
    for what, line in zip(NEEDING, lines, strict=True):
        install = "pip install '.[learn]' in a checkout of streamplace"
        assert line.endswith(f"{what} needs PyTorch: {install}"), line
