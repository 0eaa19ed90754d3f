"""Readers: 20,000 bad files each are read as valid, or refused in one line, in bounded memory.

No two files of a reader are the same, and none is a good one.

python -m benchmarks.hardening.readers READER NUMBER [SEED]   write that file, and read it again
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.hardening.forks import ROOT
from benchmarks.hardening.kernels import compile_all
from benchmarks.hardening.limits import told_bytes
from benchmarks.hardening.numbered import spoilt
from benchmarks.hardening.parsers import PARSERS
from benchmarks.hardening.rows import Row
from benchmarks.hardening.watching import WRONG
from streamplace.errors import StreamplaceError

GROUP = "bad files read in process"


def run(
    share: float = 1.0, seed: int = 0, readers: Sequence[str] = tuple(PARSERS)
) -> Iterator[Row]:
    """Yield a row a reader."""
    compile_all()
    told = [sys.executable, "-m", "benchmarks.hardening.reading", str(share), str(seed), *readers]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(told, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for name in readers:
            text = process.stdout.readline()
            if not text:
                raise RuntimeError(f"the process that reads has ended before {name}")
            seen = json.loads(text)
            wrong = {**dict.fromkeys(WRONG, 0), **seen["wrong"]}
            figures = _figures(name, seen)
            yield Row(f"reader {name}", seen["tried"], wrong, figures, seen["faults"], GROUP)


def _figures(name: str, seen: dict[str, Any]) -> dict[str, str]:
    return {
        "read as valid": f"{seen['read']:,}",
        "repeats, not counted": f"{seen['repeats']:,}",
        "cut off at": f"{seen['cut']:,} of {seen['smallest']:,} offsets of the smallest",
        "longest": f"{seen['longest_s']:.2f} s of CPU",
        "memory": told_bytes(seen["peak_bytes"], PARSERS[name].torch),
        "took": f"{seen['cpu_s']:.0f} s of CPU",
    }


def main() -> int:
    """Write a bad file into this folder, and say what is said of it."""
    name, number, *seed = sys.argv[1:]
    parser = PARSERS[name]
    seeded = int(seed[0]) if seed else 0
    document = spoilt(parser.documents(), int(number), seeded, parser.faults)
    Path(document.name).write_bytes(document.data)
    print(f"{document.name}: {len(document.data):,} bytes: {document.data[:300]!r}")
    try:
        value = parser.read("." if parser.of_folder else document.name)
        print(f"{value!r:.300}")
        parser.use(value)
    except StreamplaceError as error:
        print(error)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
