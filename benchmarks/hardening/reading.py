"""The process that forks one for each reader, and ends those of which nothing is heard any more.

python -m benchmarks.hardening.reading SHARE SEED READER …   a line of JSON a reader
"""

import json
import mmap
import os
import select
import signal
import struct
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

from benchmarks.hardening.limits import most_bytes
from benchmarks.hardening.numbered import CUT_AT
from benchmarks.hardening.odd_files import ODD
from benchmarks.hardening.parsers import PARSERS
from benchmarks.hardening.seen import Seen
from benchmarks.hardening.using import line, use_graph
from benchmarks.hardening.watching import watch

COUNT = 20_000
SHIFT = 31
SILENT_S = 90  # on one file: it hangs where no signal is heard


def numbers_of(name: str, share: float) -> list[int]:
    """Return the numbers of the bad files of a share: from everywhere among all.

    A third of them, at most, are bad as a whole, bombs, and in other encodings: others for each
    reader, so that a small share of all readers has all of these.
    """
    count = max(1, round(COUNT * share))
    few = min(count // 3, CUT_AT)
    first = SHIFT * [*PARSERS].index(name)
    told = sorted((first + i * CUT_AT // few) % CUT_AT for i in range(few))
    left = count - few
    return told + [CUT_AT + i * (COUNT - CUT_AT) // left for i in range(left)]


def seen_of(name: str, share: float, seed: int) -> Seen:
    """Read the bad files of one reader in a fork of this process; return what was seen."""
    most_bytes(PARSERS[name].torch)  # measured once, not in every fork
    told, writes = os.pipe()
    progress = mmap.mmap(-1, 8)
    child = os.fork()
    if not child:
        code = 1
        try:
            os.close(told)
            with tempfile.TemporaryDirectory(prefix="streamplace-readers-") as folder:
                os.chdir(folder)
                seen = watch(
                    PARSERS[name], Path(folder), numbers_of(name, share), [*ODD], seed, progress
                )
            with os.fdopen(writes, "w") as file:
                json.dump(seen.to_dict(), file)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(writes)
    text = _told(told, child, progress)
    _, status = os.waitpid(child, 0)
    if text:
        found = json.loads(text)
        return Seen(**{**found, "wrong": Counter(found["wrong"])})
    seen = Seen(tried=struct.unpack("q", progress[:8])[0])
    code = os.waitstatus_to_exitcode(status)
    seen.blame("tracebacks", f"{name}, file {seen.tried} of it (seed {seed})", f"ended with {code}")
    return seen


def main() -> None:
    """Print what was seen of each reader."""
    share, seed = float(sys.argv[1]), int(sys.argv[2])
    use_graph(line())  # compiled kernels are loaded once
    for name in sys.argv[3:]:
        print(json.dumps(seen_of(name, share, seed).to_dict()), flush=True)


def _told(handle: int, child: int, progress: mmap.mmap) -> bytes:
    """Return what a child writes; end it where it does not get on."""
    text, before, since = b"", progress[:8], time.monotonic()
    while True:
        if select.select([handle], [], [], 1.0)[0]:
            piece = os.read(handle, 2**16)
            if not piece:
                os.close(handle)
                return text
            text += piece
        if progress[:8] != before:
            before, since = progress[:8], time.monotonic()
        elif time.monotonic() - since > SILENT_S and not text:
            os.kill(child, signal.SIGKILL)


if __name__ == "__main__":
    main()
