"""The command line: 300 bad files of each reader, each in a process, end in one line and exit 2.

python -m benchmarks.hardening.command_line READER NUMBER [SEED]   run that one again
"""

import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.hardening import warm
from benchmarks.hardening.commands import COMMANDS, WITH_TORCH, good_files
from benchmarks.hardening.executed import executed, forked, same
from benchmarks.hardening.flink_server import serving
from benchmarks.hardening.forks import Forks
from benchmarks.hardening.judging import Seen
from benchmarks.hardening.kernels import compile_all
from benchmarks.hardening.limits import most_bytes
from benchmarks.hardening.places import CHECKPOINT, COUNT, Places
from benchmarks.hardening.rows import Row

EXECUTED = 30
SHIFT = 31


def numbers_of(name: str, share: float) -> list[int]:
    """Return the numbers of the cases of a share: from everywhere among all.

    They begin elsewhere for each reader, so that a small share of all readers has some of each
    kind of bad file.
    """
    count = max(1, round(COUNT * share))
    first = SHIFT * [*COMMANDS].index(name)
    return sorted((first + i * COUNT // count) % COUNT for i in range(count))


def run(
    share: float = 1.0, seed: int = 0, readers: Sequence[str] = tuple(COMMANDS)
) -> Iterator[Row]:
    """Yield a row a reader, and one of processes that start as a shell starts them."""
    compile_all()
    most_bytes(torch=True)  # measured before there is much to do
    with _ready() as (places, plain, torch):
        for name in readers:
            heavy = name in WITH_TORCH
            forks, seen = torch if heavy else plain, Seen(heavy)
            _read_good(seen, name, places, forks, share)
            for number in numbers_of(name, share):
                with places.case(name, number, seed) as case:
                    seen.judge(f"{name} {number} (seed {seed})", case, forked(case, forks))
            yield seen.row(f"command line, {name}")
        light = [name for name in readers if name not in (*WITH_TORCH, "config")]
        yield same(places, plain, light, max(1, round(EXECUTED * share)), seed)


def _read_good(seen: Seen, name: str, places: Places, forks: Forks, share: float) -> None:
    """Tell each command a good file that it takes, or all; else nobody knows what it refuses."""
    for command in COMMANDS[name]:
        documents = places.documents(name, command)
        for document in documents[: max(1, round(share * len(documents)))]:
            with places.good(name, command, document) as case:
                seen.judge_good(
                    f"{' '.join(command.words)}: good", forked(case, forks, to_its_end=True)
                )


@contextmanager
def _ready() -> Iterator[tuple[Places, Forks, Forks]]:
    """Yield where cases are made, and who starts processes, the second those with torch."""
    with (
        tempfile.TemporaryDirectory(prefix="streamplace-cli-") as made,
        Forks(modules=warm.READING) as plain,
        Forks(modules=warm.READING_TORCH) as torch,
        serving() as server,
    ):
        folder = Path(made)
        given, run = good_files(folder), folder / "run"
        told = ["train", given.paths["GRAPH"], "--config", given.paths["CONFIG"], "-o", run, "-q"]
        if (ended := torch.run(*told)).code:
            raise RuntimeError(f"training ended with {ended.code}: {ended.err}")
        _without_time(run / CHECKPOINT)
        yield Places(folder, given, run, server), plain, torch


def _without_time(checkpoint: Path) -> None:
    """Say in a checkpoint that it took no time: all else is the same in every run."""
    from streamplace.policy.weights import packed, unpacked  # noqa: PLC0415 - torch is heavy

    tensors, words = unpacked(checkpoint.read_bytes(), checkpoint.name)
    position = {**json.loads(words["position"]), "seconds": 0.0}
    checkpoint.write_bytes(packed(tensors, {**words, "position": json.dumps(position)}))


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
