"""Names of namespaces and cgroups that identify the process that created them.

Their form is ``streamplace-PID-START-…``. A process id can be reused, but not with the same start
time.
"""

import os
from pathlib import Path

PREFIX = "streamplace-"


def started(pid: int) -> str | None:
    """Return the start time of a process in the kernel's ticks, or None if it does not run."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()  # the name in brackets may contain anything
    return None if fields[0] in ("Z", "X") else fields[19]


def own_prefix() -> str:
    """Return the prefix of all names of this process."""
    return f"{PREFIX}{os.getpid()}-{started(os.getpid())}-"


def prefix_of(name: str) -> str | None:
    """Return the prefix of the run that a name belongs to, or None if it belongs to no run."""
    parts = name.split("-")
    if not name.startswith(PREFIX) or len(parts) < 4:
        return None
    if not all(part.isascii() and part.isdigit() for part in parts[1:3]):
        return None
    return "-".join([*parts[:3], ""])


def is_alive(prefix: str) -> bool:
    """Return whether the process of a prefix still runs."""
    _, pid, start, _ = prefix.split("-")
    return started(int(pid)) == start
