"""The commit that a result was measured with."""

import subprocess
from functools import cache
from pathlib import Path

DIRTY = "-dirty"
"""The end of a commit's name if the tree has changes."""
ROOT = Path(__file__).parent.parent
OUTPUTS = ":!benchmarks/results"
"""The recorded outputs, which runs replace, as a path that git leaves out."""


@cache
def running_commit(root: Path | None = None) -> str:
    """Return the commit of the running code, or of another checkout, determined once.

    It ends with `DIRTY` if tracked files have changes, except those in benchmarks/results.
    """
    commit = git(root or ROOT, "describe", "--always")
    changes = git(root or ROOT, "status", "--porcelain", "--untracked-files=no", "--", ".", OUTPUTS)
    return commit + DIRTY * bool(changes)


def git(root: Path, *arguments: str) -> str:
    """Return what git prints in a checkout; an empty text if it fails."""
    run = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False, cwd=root)
    return run.stdout.strip()
