"""What fuzzing has found worth keeping, for the next time: an archive of inputs a reader."""

import gzip
import io
import tarfile
from pathlib import Path

from benchmarks.hardening.parsers import PARSERS
from streamplace.files.atomic import atomic

FOLDER = Path(__file__).parent / "corpus"
MOST_BYTES = 40_000


def unpack(name: str, folder: Path) -> int:
    """Write the kept inputs of a reader into a folder; return how many there are."""
    path = FOLDER / f"{name}.tar.gz"
    if not path.exists():
        return 0
    with tarfile.open(path) as archive:
        members = archive.getmembers()
        archive.extractall(folder, filter="data")
    return len(members)


def pack(name: str, folder: Path) -> int:
    """Keep the inputs in a folder, the shortest, as many as fit; return how many that are."""
    FOLDER.mkdir(exist_ok=True)
    found = sorted(folder.iterdir(), key=lambda path: (path.stat().st_size, path.name))
    count = len(found)
    while len(gzip.compress(data := _archive(found[:count]))) > MOST_BYTES:
        count = count * 9 // 10
    with atomic(FOLDER / f"{name}.tar.gz") as file:
        file.write(data)  # which zips it, as the name says
    return count


def _archive(paths: list[Path]) -> bytes:
    """Return files as .tar: the same files give the same bytes."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for path in sorted(paths):
            about = tarfile.TarInfo(path.name)
            about.size = path.stat().st_size
            archive.addfile(about, io.BytesIO(path.read_bytes()))
    return made.getvalue()


def kept() -> list[str]:
    """Return the readers of which inputs are kept."""
    return [name for name in PARSERS if (FOLDER / f"{name}.tar.gz").exists()]
