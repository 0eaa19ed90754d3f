"""Progress, programs and termination of the scripts in this folder."""

import subprocess
import sys
from collections.abc import Sequence

from local_flink import FlinkError


def say(what: str) -> None:
    """Print progress to stderr."""
    print(what, file=sys.stderr, flush=True)


def call(command: Sequence[str]) -> str:
    """Run a program that must succeed and return its stdout."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        raise FlinkError(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")
    return done.stdout


def terminated(number: int, frame: object) -> None:
    """Exit with an exception, so that Flink is stopped."""
    raise SystemExit(128 + number)
