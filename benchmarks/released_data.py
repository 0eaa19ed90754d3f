"""Public data next to the repository, which benchmarks read and the repository does not contain."""

from pathlib import Path

from benchmarks.commit import ROOT
from streamplace.errors import FormatError

SHARED = ROOT.parent / "shared" / "data"


def needed(path: Path) -> Path:
    """Return a file or folder without which a benchmark cannot run.

    Raises
    ------
    FormatError
        If it is missing.
    """
    if not path.exists():
        raise FormatError(f"{path}: missing; it is public data, which the repository does not have")
    return path
