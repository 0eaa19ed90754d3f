"""Archives of fuzzing inputs that are kept as seeds, one archive per reader."""

import gzip
import io
import tarfile
from pathlib import Path

from streamplace.files.writing import atomic

FOLDER = Path(__file__).parent / "seeds"
MAX_BYTES = 40_000  # of an archive


def unpack(name: str, folder: Path) -> int:
    """Write the seeds of a reader into a folder; return their number."""
    path = FOLDER / f"{name}.tar.gz"
    if not path.exists():
        return 0
    with tarfile.open(path) as archive:
        members = archive.getmembers()
        archive.extractall(folder, filter="data")
    return len(members)


def pack(name: str, folder: Path) -> int:
    """Archive the shortest inputs of a folder, as many as fit; return their number."""
    FOLDER.mkdir(exist_ok=True)
    inputs = sorted(folder.iterdir(), key=lambda path: (path.stat().st_size, path.name))
    count = len(inputs)
    while len(gzip.compress(data := _archive(inputs[:count]))) > MAX_BYTES:
        count = count * 9 // 10
    with atomic(FOLDER / f"{name}.tar.gz") as file:
        file.write(data)  # `atomic` compresses it because of the suffix
    return count


def _archive(paths: list[Path]) -> bytes:
    """Return a tar archive of files; the same files give the same bytes."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for path in sorted(paths):
            about = tarfile.TarInfo(path.name)
            about.size = path.stat().st_size
            archive.addfile(about, io.BytesIO(path.read_bytes()))
    return made.getvalue()


def readers_with_seeds() -> list[str]:
    """Return the readers that have seeds."""
    return sorted(path.name.removesuffix(".tar.gz") for path in FOLDER.glob("*.tar.gz"))
