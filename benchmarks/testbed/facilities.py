"""Checks that the machine has what the emulator needs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from streamplace.errors import StreamplaceError

MOUNTS = Path("/proc/mounts")
CONTROLLERS = ("cpu", "cpuacct")
PROGRAMS = {"ip": "iproute2", "tc": "iproute2", "unshare": "util-linux"}


class TestbedError(StreamplaceError):
    """The machine cannot run the emulator, or a part of it failed or does not answer."""

    needs_file = False


def check() -> None:
    """Raise TestbedError with everything that is missing."""
    if missing := lacking():
        raise TestbedError(f"the testbed cannot run here: {', '.join(missing)}")


def lacking() -> list[str]:
    """Return what the machine lacks, as short phrases."""
    if sys.platform != "linux":
        return ["not Linux"]
    missing = [] if os.geteuid() == 0 else ["not root"]
    for program, package in PROGRAMS.items():
        missing += [] if shutil.which(program) else [f"no {program} ({package})"]
    mounted = hierarchies()
    missing += [f"no cgroup v1 controller {name}" for name in CONTROLLERS if name not in mounted]
    if not missing:
        missing += [f"cannot write {mounted[name]}" for name in CONTROLLERS if not _open(name)]
        missing += [] if _new_namespace() else ["cannot create network namespaces"]
    return missing


def hierarchies() -> dict[str, Path]:
    """Return the mount point of each cgroup v1 controller."""
    mounts: dict[str, Path] = {}
    for line in MOUNTS.read_text().splitlines() if MOUNTS.exists() else ():
        _, where, kind, options, *_ = line.split()
        if kind == "cgroup":
            mounts |= {name: Path(where) for name in options.split(",") if name in CONTROLLERS}
    return mounts


def _open(controller: str) -> bool:
    return os.access(hierarchies()[controller], os.W_OK)


def _new_namespace() -> bool:
    tried = ["unshare", "--net", "true"]
    return subprocess.run(tried, capture_output=True, check=False).returncode == 0
