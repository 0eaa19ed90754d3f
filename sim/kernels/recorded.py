"""Addition of recorded signatures: ``python -m streamplace.sim.kernels.recorded FOLDER``."""

import sys
from pathlib import Path

from streamplace.sim.kernels.signatures import read_signatures, write_signatures


def add(folder: Path) -> int:
    """Add the signatures that processes wrote to a folder, and return how many were new."""
    signatures, new = read_signatures(), 0
    for path in sorted(folder.glob("*.json")):
        for name, versions in read_signatures(path).items():
            if not name.startswith("streamplace."):  # of a test or an extension
                continue
            known = signatures.setdefault(name, [])
            unknown = [version for version in versions if version not in known]
            known += unknown
            new += len(unknown)
    write_signatures(signatures)
    return new


if __name__ == "__main__":
    print(f"{add(Path(sys.argv[1]))} new signatures")  # noqa: T201
