"""Detection of processes that outlive the process that started their session."""

import time
from pathlib import Path


def members(session: int) -> list[int]:
    """Return the running processes of a session."""
    running = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # the process has ended in the meantime
            continue
        is_running = fields[0] not in "ZX"  # neither a zombie nor dead
        if is_running and int(fields[3]) == session:
            running.append(int(entry.name))
    return running


def survivors(session: int, seconds: float) -> list[int]:
    """Wait until a session has no running process, at most `seconds`; return those that remain."""
    until = time.monotonic() + seconds
    while (running := members(session)) and time.monotonic() < until:
        time.sleep(0.02)
    return running
