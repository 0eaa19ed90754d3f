"""Removal of what a run created, found by name, even if a signal interrupted the creation."""

import os
import subprocess
import time
from pathlib import Path

from benchmarks.testbed import groups
from benchmarks.testbed.facilities import TestbedError
from benchmarks.testbed.ownership import is_alive, prefix_of
from benchmarks.testbed.programs import ip

NAMESPACES = Path("/run/netns")


def prefixes_of_ended_runs() -> list[str]:
    """Return the prefixes of runs that left something behind and whose process has ended."""
    return sorted(prefix for prefix in everything() if not is_alive(prefix))


def everything() -> dict[str, list[str]]:
    """Return the network namespaces and cgroups of all runs, by prefix."""
    by_prefix: dict[str, list[str]] = {}
    for name in namespaces():
        if prefix := prefix_of(name):
            by_prefix.setdefault(prefix, []).append(name)
    for prefix, folders in groups.existing().items():
        by_prefix.setdefault(prefix, []).extend(map(str, folders))
    return by_prefix


def namespaces() -> list[str]:
    """Return the names of all network namespaces."""
    return sorted(path.name for path in NAMESPACES.glob("*")) if NAMESPACES.exists() else []


def remove(prefix: str) -> None:
    """Kill the processes of a run, and remove its cgroups and namespaces."""
    own = [name for name in namespaces() if prefix_of(name) == prefix]
    for name in own:
        for pid in _inside(name):
            groups.kill(pid)
    for folder in groups.existing().get(prefix, []):
        groups.remove(folder)
    for name in own:
        _wait_until_empty(name)
        try:
            ip([f"netns del {name}"])
        except TestbedError:
            if name in namespaces():  # otherwise another run removed it first
                raise


def _inside(namespace: str) -> list[int]:
    """Return the process ids in a namespace; empty if the namespace is incomplete."""
    command = ["ip", "netns", "pids", namespace]
    output = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return [int(pid) for pid in output.split() if int(pid) != os.getpid()]


def _wait_until_empty(namespace: str) -> None:
    until = time.monotonic() + groups.TIMEOUT_S
    while (left := _inside(namespace)) and time.monotonic() < until:
        for pid in left:
            groups.kill(pid)
        time.sleep(0.01)
