"""The commit that a result was measured with."""

import subprocess
from functools import cache
from pathlib import Path

DIRTY = "-dirty"
"""The end of a commit's name if the tree has changes."""


@cache
def running_commit() -> str:
    """Return the commit of the running code, with `DIRTY` if it has changes; determined once."""
    command = ["git", "describe", "--always", "--dirty"]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=Path(__file__).parent
    ).stdout.strip()
