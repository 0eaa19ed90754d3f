"""The command line, run in the process of the tests or in a separate one."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from streamplace.cli.main import main
from tests.support.paths import ROOT

MODULE = [sys.executable, "-m", "streamplace.cli.main"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}

# sums are reproducible to the last bit on a CPU with one thread
CPU_ENVIRONMENT = {**ENVIRONMENT, "OMP_NUM_THREADS": "1"}
SCORE_KEYS = {
    "throughput",
    "relative_throughput",
    "bottleneck",
    "devices",
    "links",
    "devices_used",
    "model",
}

Capture = pytest.CaptureFixture[str]


def succeeds(capsys: Capture, *arguments: object) -> str:
    """Run a command that must exit 0, and return its stdout."""
    return printed(capsys, *arguments)[0]


def printed(capsys: Capture, *arguments: object) -> tuple[str, str]:
    """Run a command that must exit 0, and return its stdout and stderr."""
    capsys.readouterr()
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert code == 0, err
    return out, err


def json_of(capsys: Capture, *arguments: object) -> Any:
    """Return the output of a command with --json; NaN and Infinity are refused."""
    return json.loads(succeeds(capsys, *arguments, "--json"), parse_constant=pytest.fail)


def place_by_cli(capsys: Capture, graph: Path | str, file: Path, *options: object) -> Path:
    """Write a placement of the graph into the file, and return the file."""
    succeeds(capsys, "place", graph, *options, "-o", file)
    return file


def check_score_keys(score: dict[str, Any], devices: int) -> None:
    """Check the keys inside a score."""
    assert set(score["bottleneck"]) == {"kind", "name", "utilisation"}
    assert score["bottleneck"]["kind"] in ("device", "link")
    assert len(score["devices"]) == devices
    assert all(set(row) == {"name", "utilisation", "operators"} for row in score["devices"])
    assert all(set(row) == {"from", "to", "utilisation"} for row in score["links"])


def write_starter(capsys: Capture, folder: Path) -> None:
    """Write the files of `init`, without the label that one of the operators requires."""
    succeeds(capsys, "init", folder)
    graph = folder / "graph.json"
    graph.write_text(graph.read_text().replace('"gpu"', ""))


def refused(capsys: Capture, *arguments: object, code: int = 2) -> str:
    """Run a command that must fail with one line on stderr, and return that line."""
    capsys.readouterr()
    got = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert out == ""
    assert got == code, err
    return one_line(err)


def one_line(err: str) -> str:
    """Return the single line that a failed command printed."""
    assert err.endswith("\n")
    assert err.count("\n") == 1, err
    assert err.startswith("streamplace: ")
    return err.rstrip("\n")


def run(*arguments: object, **options: Any) -> "subprocess.CompletedProcess[str]":
    """Run `streamplace` as a separate process."""
    return subprocess.run(
        [*MODULE, *map(str, arguments)],
        text=True,
        timeout=120,
        check=False,
        **{"env": ENVIRONMENT, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
    )
