"""Progress, programs and termination of the scripts in this folder."""

import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager


class ScriptError(Exception):
    """A program that a script runs, or a cluster that it starts, has failed."""


def say(what: str) -> None:
    """Print progress to stderr."""
    print(what, file=sys.stderr, flush=True)


def call(command: Sequence[str]) -> str:
    """Run a program that must succeed and return its stdout."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        raise ScriptError(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")
    return done.stdout


def streamplace(*arguments: str) -> str:
    """Run a command of streamplace and return its stdout."""
    return call([sys.executable, "-m", "streamplace.cli.main", *arguments])


def terminated(number: int, frame: object) -> None:
    """Exit with an exception, so that Flink is stopped."""
    raise SystemExit(128 + number)


@contextmanager
def script(name: str) -> Iterator[None]:
    """Stop Flink on SIGTERM, and end with one line where something has failed."""
    signal.signal(signal.SIGTERM, terminated)
    try:
        yield
    except ScriptError as error:
        sys.exit(f"{name}: {error}")
