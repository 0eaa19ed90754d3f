"""Bad files read by library functions: 20,000 for each reader.

Readers are called directly, not through the command line. The files are malformed texts and
changed versions of valid files; no two files of a reader are the same. In bounded memory and time,
the reader must refuse a file with a message of one line, or read it as valid if the change has left
it valid.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.hardening.campaigns.readers.limits import STRICT
from benchmarks.hardening.campaigns.readers.watcher import WRONG
from benchmarks.hardening.harness.environment import ROOT
from benchmarks.hardening.harness.memory_limits import memory_text
from benchmarks.hardening.harness.rows import Row
from benchmarks.hardening.targets.parsers import PARSERS

GROUP = "bad files read by library functions"


def run(
    share: float = 1.0,
    seed: int = 0,
    readers: Sequence[str] = tuple(PARSERS),
    *,
    limits: str = STRICT,
) -> Iterator[Row]:
    """Yield one row per reader, all of which run in one separate process.

    Parameters
    ----------
    share
        The fraction of the 20,000 files to read, 0 to 1.
    seed
        The seed of the changes.
    readers
        Names of readers, as in `PARSERS`.
    limits
        The name of the time limits, as in `LIMITS`.
    """
    command = [
        sys.executable,
        "-m",
        "benchmarks.hardening.campaigns.readers.process",
        str(share),
        str(seed),
        limits,
        *readers,
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for name in readers:
            text = process.stdout.readline()
            if not text:
                raise RuntimeError(f"the reading process has ended before {name}")
            counts = json.loads(text)
            wrong = {**dict.fromkeys(WRONG, 0), **counts["wrong"]}
            figures = _figures(name, counts)
            yield Row(f"reader {name}", counts["tried"], wrong, figures, counts["faults"], GROUP)


def _figures(name: str, counts: dict[str, Any]) -> dict[str, str]:
    return {
        "read as valid": f"{counts['read']:,}",
        "repeats, not counted": f"{counts['repeats']:,}",
        "truncated at": f"{counts['cut']:,} of {counts['smallest']:,} offsets of the smallest file",
        "longest": f"{counts['longest_s']:.2f} s of CPU",
        "memory": memory_text(counts["peak_bytes"], PARSERS[name].torch),
        "took": f"{counts['cpu_s']:.0f} s of CPU",
    }
