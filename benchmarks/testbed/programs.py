"""Calls of ip and tc, with many lines per call, because starting them dominates their cost."""

import subprocess
from collections.abc import Iterable

from benchmarks.testbed.facilities import TestbedError

TIMEOUT_S = 30.0


def ip(lines: Iterable[str], namespace: str | None = None) -> str:
    """Run lines of ip, optionally in a namespace; return the output."""
    return _batch(["ip", *_inside(namespace), "-batch", "-"], lines)


def tc(lines: Iterable[str], namespace: str, options: Iterable[str] = ()) -> str:
    """Run lines of tc in a namespace; return the output."""
    return _batch(["tc", *options, *_inside(namespace), "-batch", "-"], lines)


def _inside(namespace: str | None) -> list[str]:
    return [] if namespace is None else ["-n", namespace]


def _batch(command: list[str], lines: Iterable[str]) -> str:
    """Run a program in a new session, which Ctrl-C does not reach, so that the run can clean up."""
    try:
        done = subprocess.run(
            command,
            input="\n".join(lines),
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
            start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        raise TestbedError(f"{' '.join(command)}: no answer within {TIMEOUT_S:g} s") from None
    if done.returncode:
        message = " ".join(done.stderr.split())
        raise TestbedError(f"{' '.join(command)}: {message}")
    return done.stdout
