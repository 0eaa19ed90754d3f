"""Running the command line, in this process and as a real one."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from streamplace.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"
MODULE = [sys.executable, "-m", "streamplace.cli.main"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}

Capture = pytest.CaptureFixture[str]


def succeeds(capsys: Capture, *arguments: object) -> str:
    """Run a command that must exit 0, and return its stdout."""
    capsys.readouterr()
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert code == 0, err
    return out


def refused(capsys: Capture, *arguments: object, code: int = 2) -> str:
    """Run a command that must be refused in one line on stderr, and return that line."""
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
    """Run `streamplace` as a process of its own."""
    return subprocess.run(
        [*MODULE, *map(str, arguments)],
        text=True,
        timeout=120,
        check=False,
        **{"env": ENVIRONMENT, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
    )
