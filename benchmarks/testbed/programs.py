"""Running ip and tc: many lines a call, since starting them costs more than what they do."""

import subprocess
from collections.abc import Iterable

from benchmarks.testbed.facilities import TestbedError

PATIENCE_S = 30.0


def ip(lines: Iterable[str], namespace: str | None = None) -> str:
    """Run lines of ip, in a namespace if one is named; return what it prints."""
    return _batch(["ip", *_inside(namespace), "-batch", "-"], lines)


def tc(lines: Iterable[str], namespace: str, options: Iterable[str] = ()) -> str:
    """Run lines of tc in a namespace; return what it prints."""
    return _batch(["tc", *options, *_inside(namespace), "-batch", "-"], lines)


def _inside(namespace: str | None) -> list[str]:
    return [] if namespace is None else ["-n", namespace]


def _batch(command: list[str], lines: Iterable[str]) -> str:
    """Ctrl-C is for the run, which then cleans up; so the program is kept out of its reach."""
    try:
        done = subprocess.run(
            command,
            input="\n".join(lines),
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
            start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        raise TestbedError(f"{' '.join(command)}: no answer in {PATIENCE_S:g} s") from None
    if done.returncode:
        said = " ".join(done.stderr.split())
        raise TestbedError(f"{' '.join(command)}: {said}")
    return done.stdout
