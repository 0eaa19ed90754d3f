"""The version of streamplace that runs."""

import subprocess
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[2]


def version_and_commit(root: Path = ROOT) -> str:
    """Return the version and, of a Git checkout, the commit, which ends with ``-dirty`` if changed.

    Parameters
    ----------
    root
        The folder that holds the package; only if it is that of a checkout, it has a commit.
    """
    found = version("streamplace")
    if not (root / ".git").exists():
        return found
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    try:
        run = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):  # git is missing, or refuses the folder
        return found
    return f"{found} (commit {run.stdout.strip()})"
