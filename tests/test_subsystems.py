"""What the package does without its subsystems, and with one of them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from docs.subsystems import CORE, SUBSYSTEMS
from tests.support.copies import all_but
from tests.support.input_files import chain
from tests.support.paths import ROOT

FOLDERS = SUBSYSTEMS.keys() - {CORE}
ALONE = {
    "formats": "formats/test_costs.py",
    "latency": "latency/test_limit.py",
    "makespan": "makespan/placers/test_lists.py",
    "pictures": "pictures/test_comparison.py",
    "ticks": "ticks/test_runs.py",
}
"""Subsystem that needs no other one -> a part of its tests."""


def test_the_core_works_alone(tmp_path: Path) -> None:
    """It places, scores, explains, simulates and reports."""
    (tmp_path / "graph.json").write_text(json.dumps(chain("abcd", 1e6, source_rate=900)))
    graph, placement = str(tmp_path / "graph.json"), str(tmp_path / "placement.json")
    page = tmp_path / "page.html"
    for words in (
        ["place", graph, "-o", placement],
        ["simulate", placement],
        ["explain", placement],
        ["report", placement, "-o", str(page)],
        ["compare", graph, "--placers", "metis,greedy,auto"],
    ):
        done = all_but(tmp_path / "copy", FOLDERS, *words)
        assert done.returncode == 0, (words, done.stderr)
    assert page.stat().st_size > 100_000
    (tmp_path / "nodes.dot").write_text("digraph { a -> b }")
    for words, fault in (
        (["place", str(tmp_path / "nodes.dot")], "nodes.dot: line 1"),
        (["info", graph, "--plot", str(tmp_path / "sizes.png")], "streamplace.pictures is needed"),
        (["place", graph, "--objective", "makespan"], "streamplace.makespan is needed"),
        (["place", graph, "--placer", "heft"], "unknown placer 'heft'"),
        (["place", graph, "--max-latency", "p99=1s"], "streamplace.latency is needed"),
        (["place", graph, "--confidence", "0.9"], "streamplace.latency is needed"),
        (["simulate", placement, "--model", "engine"], "streamplace.ticks is needed"),
    ):
        refused = all_but(tmp_path / "copy", FOLDERS, *words)
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1), refused.stderr
        assert fault in refused.stderr


def test_a_command_says_which_subsystem_it_needs(tmp_path: Path) -> None:
    """Plans may have a limit on latency."""
    refused = all_but(tmp_path, {"latency"}, "plan", "graph.json")
    fault = "streamplace: streamplace.latency is needed, and is not there\n"
    assert (refused.returncode, refused.stderr) == (2, fault)


@pytest.mark.long
@pytest.mark.parametrize("subsystem", ALONE)
def test_a_subsystem_that_is_put_back_works(tmp_path: Path, subsystem: str) -> None:
    all_but(tmp_path, FOLDERS - {subsystem}, "--help")
    command = [
        sys.executable,
        "-P",  # without the whole package, which is in the working directory
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        f"tests/{ALONE[subsystem]}",
    ]
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:]
