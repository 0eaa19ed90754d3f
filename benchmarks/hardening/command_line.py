"""The command line: 300 bad files of each reader, each in a process, end in one line and exit 2.

python -m benchmarks.hardening.command_line READER NUMBER [SEED]   run that one again
"""

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.hardening.commands import COMMANDS, good_files
from benchmarks.hardening.executed import executed, same
from benchmarks.hardening.flink_server import serving
from benchmarks.hardening.forks import Ended, Forks
from benchmarks.hardening.kernels import compile_all
from benchmarks.hardening.parsers import PARSERS
from benchmarks.hardening.places import COUNT, Places
from benchmarks.hardening.rows import Row

HANG_S = 1.0  # of CPU time, where it is refused; where it is read there is work to do
ENDED_S = 60.0
MOST_BYTES = 300 * 2**20
WRONG = ("tracebacks", "unclear messages", "hangs", "over 300 MB", "files left", "bad output")
EXECUTED = 30
FAILED = 1


@dataclass
class Seen:
    """What was seen of the commands of one reader."""

    torch: bool
    tried: int = 0
    codes: Counter[int] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    longest_s: float = 0.0
    peak_bytes: int = 0

    def judge(self, which: str, ended: Ended, left: list[str]) -> None:
        """Count what is wrong with how a command ended."""
        self.tried += 1
        self.codes[ended.code] += 1
        self.longest_s = max(self.longest_s, ended.cpu_seconds if ended.code else 0.0)
        self.peak_bytes = max(self.peak_bytes, ended.peak_bytes)
        for what in faults_of(ended, left, self.torch):
            self.wrong[what] += 1
            said = " ".join((ended.err or ended.out).split())[-300:]
            used = f"{ended.cpu_seconds:.2f} s, {ended.peak_bytes >> 20} MiB, left {left}"
            self.faults.append(f"{which}: {what}: exit {ended.code}, {used}: {said}")

    def row(self, what: str) -> Row:
        """Return the row of the table."""
        figures = {
            "refused": f"{self.codes[2]:,}",
            "read as valid": f"{self.codes[0]:,}",
            "failed with exit 1": f"{self.codes[FAILED]:,}",
            "longest refusal": f"{self.longest_s:.2f} s of CPU",
            "memory": f"{self.peak_bytes >> 20} MiB" + " with torch" * self.torch,
        }
        return Row(
            what, self.tried, {**dict.fromkeys(WRONG, 0), **self.wrong}, figures, self.faults
        )


def faults_of(ended: Ended, left: list[str], torch: bool = False) -> list[str]:
    """Return what is wrong with how a command ended on a bad file.

    Parameters
    ----------
    left
        The files that it has left behind.
    """
    found = []
    lines = ended.err.splitlines()
    if ended.code not in (0, FAILED, 2) or any(w in ended.err for w in ("Traceback", "Warning")):
        found.append("tracebacks")
    elif ended.code and not (len(lines) == 1 and lines[0].startswith("streamplace: ")):
        found.append("unclear messages")
    if ended.hung or (ended.code and ended.cpu_seconds > HANG_S):
        found.append("hangs")
    if ended.peak_bytes > MOST_BYTES and not torch:
        found.append("over 300 MB")
    if ended.code == 2 and (left or ended.out):
        found.append("files left")
    if ended.code == 0 and ended.out[:1] in ("{", "[") and not _is_json(ended.out):
        found.append("bad output")
    return found


def numbers_of(count: int) -> list[int]:
    """Return so many numbers of cases, from everywhere among all."""
    return [i * COUNT // count for i in range(count)]


def run(
    share: float = 1.0, seed: int = 0, readers: Sequence[str] = tuple(COMMANDS)
) -> Iterator[Row]:
    """Yield a row a reader, and one of processes that start as a shell starts them."""
    compile_all()
    with _ready() as (places, plain, torch):
        for name in readers:
            heavy = PARSERS[name].torch
            seen = Seen(heavy)
            for number in numbers_of(max(1, round(COUNT * share))):
                with places.case(name, number, seed) as case:
                    ended = (torch if heavy else plain).run(
                        *case.words, folder=case.folder, limit_s=ENDED_S
                    )
                    seen.judge(f"{name} {number} (seed {seed})", ended, case.left())
            yield seen.row(f"command line, {name}")
        light = [name for name in readers if not PARSERS[name].torch]
        yield same(places, plain, light, max(1, round(EXECUTED * share)), seed)


@contextmanager
def _ready() -> Iterator[tuple[Places, Forks, Forks]]:
    """Yield where cases are made, and who starts processes, the second those with torch."""
    with (
        tempfile.TemporaryDirectory(prefix="streamplace-cli-") as made,
        Forks(modules=("benchmarks.hardening.warm_reading",)) as plain,
        Forks(modules=("benchmarks.hardening.warm_reading_torch",)) as torch,
        serving() as server,
    ):
        folder = Path(made)
        given, run = good_files(folder), folder / "run"
        told = ["train", given.paths["GRAPH"], "--config", given.paths["CONFIG"], "-o", run, "-q"]
        if (ended := torch.run(*told)).code:
            raise RuntimeError(f"training ended with {ended.code}: {ended.err}")
        yield Places(folder, given, run, server), plain, torch


def _is_json(text: str) -> bool:
    def refuse(word: str) -> Any:
        raise ValueError(word)

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        return False
    return True


def main() -> int:
    """Run one command line as a shell would, and say how it ended."""
    name, number, *seed = sys.argv[1:]
    seeded = int(seed[0]) if seed else 0
    with _ready() as (places, _, _), places.case(name, int(number), seeded) as case:
        ended = executed(case)
        print(*case.words)
        print(ended.err or ended.out)
        print(f"exit {ended.code}, left {case.left()}")
    return ended.code


if __name__ == "__main__":
    sys.exit(main())
