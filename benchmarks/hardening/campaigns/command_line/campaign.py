"""Commands that read bad files: 300 files for each reader, each in a separate process.

Every command must read the file as valid, or end with a message of one line and exit code 2.
"""

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.hardening.campaigns.command_line.cases import CHECKPOINT, COUNT, CaseFactory
from benchmarks.hardening.campaigns.command_line.execution import (
    beyond_fresh_bytes,
    forks_row,
    run_fork,
)
from benchmarks.hardening.campaigns.command_line.judgement import Verdicts
from benchmarks.hardening.harness.flink_server import serving
from benchmarks.hardening.harness.forks import Forks
from benchmarks.hardening.harness.memory_limits import memory_limit
from benchmarks.hardening.harness.rows import Row
from benchmarks.hardening.targets import warm_up
from benchmarks.hardening.targets.commands import COMMANDS, WITH_TORCH, write_good_files
from benchmarks.hardening.targets.kernel_cache import compile_all
from streamplace.files.other_kinds import WEIGHTS

EXECUTED = 30  # command lines that are also run as fresh processes
SHIFT = 31  # difference between the first case numbers of successive readers


def numbers_of(name: str, share: float) -> list[int]:
    """Return the numbers of the cases of a share, evenly spread over all.

    The first number differs between readers, so that even a small share of all readers contains
    each kind of bad file.
    """
    count = max(1, round(COUNT * share))
    first = SHIFT * [*COMMANDS].index(name)
    return sorted((first + i * COUNT // count) % COUNT for i in range(count))


def run(
    share: float = 1.0,
    seed: int = 0,
    readers: Sequence[str] = tuple(COMMANDS),
    *,
    timed: bool = True,
) -> Iterator[Row]:
    """Yield one row per reader, and one that compares forks with fresh processes.

    Parameters
    ----------
    readers
        Names of readers, as in `COMMANDS`.
    timed
        Whether commands may use a limited CPU time only; otherwise only a command that must be
        killed counts as a hang.
    """
    compile_all()
    memory_limit(torch=True)  # measured and cached before the machine is busy
    with ready() as (cases, plain, torch):
        for name in readers:
            heavy = name in WITH_TORCH
            forks, verdicts = torch if heavy else plain, Verdicts(heavy, timed)
            _run_on_good_files(verdicts, name, cases, forks, share)
            for number in numbers_of(name, share):
                with cases.case(name, number, seed) as case:
                    verdicts.judge(f"{name} {number} (seed {seed})", case, run_fork(case, forks))
            yield verdicts.row(f"command line, {name}")
        light = [name for name in readers if name not in (*WITH_TORCH, "config")]
        if light:
            yield forks_row(cases, plain, light, max(1, round(EXECUTED * share)), seed)


def _run_on_good_files(
    verdicts: Verdicts, name: str, cases: CaseFactory, forks: Forks, share: float
) -> None:
    """Run each command on valid files, which it must accept for its refusals to mean anything."""
    for command in COMMANDS[name]:
        documents = () if command.accepts == () else cases.documents(name, command)
        for document in documents[: max(1, round(share * len(documents)))]:
            with cases.good(name, command, document) as case:
                verdicts.judge_good(
                    f"{' '.join(command.words)}: good", run_fork(case, forks, to_its_end=True)
                )


@contextmanager
def ready() -> Iterator[tuple[CaseFactory, Forks, Forks]]:
    """Yield a factory of cases, and two fork servers, the second of which has loaded torch."""
    with (
        tempfile.TemporaryDirectory(prefix="streamplace-cli-") as made,
        Forks(modules=warm_up.READING) as plain,
        Forks(modules=warm_up.READING_TORCH) as torch,
        serving() as server,
    ):
        folder = Path(made)
        good_files, run = write_good_files(folder), folder / "run"
        graph, config = good_files.paths["GRAPH"], good_files.paths["CONFIG"]
        if (ended := torch.run("train", graph, "--config", config, "-o", run, "-q")).code:
            raise RuntimeError(f"training ended with {ended.code}: {ended.err}")
        _remove_time(run / CHECKPOINT)
        plain.beyond_fresh_bytes = beyond_fresh_bytes(plain, "place", graph, "--placer", "greedy")
        policy = f"policy:file={run / WEIGHTS}"
        torch.beyond_fresh_bytes = beyond_fresh_bytes(torch, "place", graph, "--placer", policy)
        yield CaseFactory(folder, good_files, run, server), plain, torch


def _remove_time(checkpoint: Path) -> None:
    """Set the run time in a checkpoint to 0, so that it is the same in every campaign."""
    from streamplace.policy.hashed_tensors import packed, unpacked  # noqa: PLC0415 - torch is heavy

    tensors, metadata = unpacked(checkpoint.read_bytes(), checkpoint.name)
    position = {**json.loads(metadata["position"]), "seconds": 0.0}
    checkpoint.write_bytes(packed(tensors, {**metadata, "position": json.dumps(position)}))
