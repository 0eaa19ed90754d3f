"""A patch, applied on import, that makes streamplace write files in place, and slowly."""

import gzip
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from streamplace.files import writing

PARTS = 20


@contextmanager
def _in_place(target: Path, verify: Callable[[bytes], object] | None = None) -> Iterator[IO[bytes]]:
    gathered = target.with_name(f"{writing.TEMPORARY}gathered")
    with gathered.open("wb") as file:
        yield file
    data = gathered.read_bytes()
    if target.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    gathered.unlink()
    with target.open("wb", buffering=0) as file:
        for i in range(PARTS):
            file.write(data[len(data) * i // PARTS : len(data) * (i + 1) // PARTS])
            time.sleep(0.05)


writing._replacing = _in_place
