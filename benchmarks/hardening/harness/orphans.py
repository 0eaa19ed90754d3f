"""Processes of a session, and those that outlive the process that started them."""

import time
from pathlib import Path


def members(session: int) -> list[int]:
    """Return the running processes of a session."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # the process has ended meanwhile
            continue
        if fields[0] not in "ZX" and int(fields[3]) == session:
            found.append(int(entry.name))
    return found


def left(session: int, seconds: float) -> list[int]:
    """Return the processes of a session that still run after a number of seconds."""
    until = time.monotonic() + seconds
    while (found := members(session)) and time.monotonic() < until:
        time.sleep(0.02)
    return found
