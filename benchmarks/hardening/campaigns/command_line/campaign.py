"""Bad files given to commands: 300 for each reader, each in a process of its own.

Every command reads the file as valid, or ends with one line and exit code 2.
"""

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.hardening.campaigns.command_line.cases import CHECKPOINT, COUNT, CaseFactory
from benchmarks.hardening.campaigns.command_line.execution import forks_row, run_fork
from benchmarks.hardening.campaigns.command_line.judgement import Verdicts
from benchmarks.hardening.harness.flink_server import serving
from benchmarks.hardening.harness.forks import Forks
from benchmarks.hardening.harness.memory_limits import most_bytes
from benchmarks.hardening.harness.rows import Row
from benchmarks.hardening.targets import warm_up
from benchmarks.hardening.targets.commands import COMMANDS, WITH_TORCH, write_good_files
from benchmarks.hardening.targets.kernel_cache import compile_all

EXECUTED = 30
SHIFT = 31


def numbers_of(name: str, share: float) -> list[int]:
    """Return the numbers of the cases of a share, evenly spread over all.

    The first number differs between readers, so that a small share of all readers has some of each
    kind of bad file.
    """
    count = max(1, round(COUNT * share))
    first = SHIFT * [*COMMANDS].index(name)
    return sorted((first + i * COUNT // count) % COUNT for i in range(count))


def run(
    share: float = 1.0, seed: int = 0, readers: Sequence[str] = tuple(COMMANDS)
) -> Iterator[Row]:
    """Yield one row per reader, and one that compares forks with fresh processes."""
    compile_all()
    most_bytes(torch=True)  # measured before the machine is busy
    with ready() as (cases, plain, torch):
        for name in readers:
            heavy = name in WITH_TORCH
            forks, verdicts = torch if heavy else plain, Verdicts(heavy)
            _run_on_good_files(verdicts, name, cases, forks, share)
            for number in numbers_of(name, share):
                with cases.case(name, number, seed) as case:
                    verdicts.judge(f"{name} {number} (seed {seed})", case, run_fork(case, forks))
            yield verdicts.row(f"command line, {name}")
        light = [name for name in readers if name not in (*WITH_TORCH, "config")]
        yield forks_row(cases, plain, light, max(1, round(EXECUTED * share)), seed)


def _run_on_good_files(
    verdicts: Verdicts, name: str, cases: CaseFactory, forks: Forks, share: float
) -> None:
    """Run each command on good files, to see that bad ones are refused for their faults."""
    for command in COMMANDS[name]:
        documents = cases.documents(name, command)
        for document in documents[: max(1, round(share * len(documents)))]:
            with cases.good(name, command, document) as case:
                verdicts.judge_good(
                    f"{' '.join(command.words)}: good", run_fork(case, forks, to_its_end=True)
                )


@contextmanager
def ready() -> Iterator[tuple[CaseFactory, Forks, Forks]]:
    """Yield a maker of cases, and two fork servers, the second with torch loaded."""
    with (
        tempfile.TemporaryDirectory(prefix="streamplace-cli-") as made,
        Forks(modules=warm_up.READING) as plain,
        Forks(modules=warm_up.READING_TORCH) as torch,
        serving() as server,
    ):
        folder = Path(made)
        given, run = write_good_files(folder), folder / "run"
        told = ["train", given.paths["GRAPH"], "--config", given.paths["CONFIG"], "-o", run, "-q"]
        if (ended := torch.run(*told)).code:
            raise RuntimeError(f"training ended with {ended.code}: {ended.err}")
        _remove_time(run / CHECKPOINT)
        yield CaseFactory(folder, given, run, server), plain, torch


def _remove_time(checkpoint: Path) -> None:
    """Set the time in a checkpoint to 0: the rest is the same in every run."""
    from streamplace.policy.signed_tensors import packed, unpacked  # noqa: PLC0415 - torch is heavy

    tensors, words = unpacked(checkpoint.read_bytes(), checkpoint.name)
    position = {**json.loads(words["position"]), "seconds": 0.0}
    checkpoint.write_bytes(packed(tensors, {**words, "position": json.dumps(position)}))
