"""Bad files read in process: 20,000 for each reader.

Every file is read as valid or refused in one line, in bounded memory. No two files of a reader are
the same, and no file is a good one.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.hardening.campaigns.readers.watcher import WRONG
from benchmarks.hardening.harness.environment import ROOT
from benchmarks.hardening.harness.memory_limits import memory_text
from benchmarks.hardening.harness.rows import Row
from benchmarks.hardening.targets.kernel_cache import compile_all
from benchmarks.hardening.targets.parsers import PARSERS

GROUP = "bad files read in process"


def run(
    share: float = 1.0, seed: int = 0, readers: Sequence[str] = tuple(PARSERS)
) -> Iterator[Row]:
    """Yield one row per reader."""
    compile_all()
    told = [
        sys.executable,
        "-m",
        "benchmarks.hardening.campaigns.readers.process",
        str(share),
        str(seed),
        *readers,
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(told, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for name in readers:
            text = process.stdout.readline()
            if not text:
                raise RuntimeError(f"the reading process has ended before {name}")
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
        "memory": memory_text(seen["peak_bytes"], PARSERS[name].torch),
        "took": f"{seen['cpu_s']:.0f} s of CPU",
    }
