"""Whose is what: everything a run makes bears a name that tells its process.

``streamplace-PID-START-…``: a process id comes back one day, but not with the same start.
"""

import os
from pathlib import Path

PREFIX = "streamplace-"


def started(pid: int) -> str | None:
    """Return when a process started, in the kernel's ticks; None where there is none."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = told.rpartition(")")[2].split()  # the name before it may hold anything
    return None if fields[0] in ("Z", "X") else fields[19]


def own_prefix() -> str:
    """Return what the names of this process begin with."""
    return f"{PREFIX}{os.getpid()}-{started(os.getpid())}-"


def prefix_of(name: str) -> str | None:
    """Return the prefix of the run that a name belongs to; None if it is not of a run."""
    parts = name.split("-")
    if not name.startswith(PREFIX) or len(parts) < 4:
        return None
    if not all(part.isascii() and part.isdigit() for part in parts[1:3]):
        return None
    return "-".join([*parts[:3], ""])


def is_alive(prefix: str) -> bool:
    """Return whether the process that a prefix tells still runs."""
    _, pid, start, _ = prefix.split("-")
    return started(int(pid)) == start
