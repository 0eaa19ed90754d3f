"""Commands as a shell starts them, beside the forks that stand for them."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence

from benchmarks.hardening.forks import ROOT, Ended, Forks
from benchmarks.hardening.places import COUNT, OUT_NAME, Case, Places
from benchmarks.hardening.privileges import give_up
from benchmarks.hardening.rows import Row

ENDED_S = 60.0
TRAIN_S = 2.0  # since the run's config was being written
TRAIN_BYTES = 4 * 2**30  # so that one bad file does not bring the others down


def executed(case: Case) -> Ended:
    """Run a command line in a process that has been started for it."""
    begin = time.monotonic()
    told = [sys.executable, "-m", "streamplace.cli.main", *case.words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        told,
        cwd=case.folder,
        env=environment,
        preexec_fn=give_up if case.closed else None,  # noqa: PLW1509 - it takes no lock
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as process:
        out, err = process.communicate(timeout=120)
        seconds = time.monotonic() - begin
        return Ended(out, err, process.returncode, False, seconds, 0.0, 0, process.pid)


def forked(case: Case, forks: Forks, *, to_its_end: bool = False) -> Ended:
    """Run a command line in a fork; training, once it has begun, for a while, or to its end."""
    trains = case.command.trains and not to_its_end
    return forks.run(
        *case.words,
        folder=case.folder,
        closed=case.closed,
        limit_s=ENDED_S,
        once=case.folder / OUT_NAME if trains else None,
        after_s=TRAIN_S if trains else None,
        data_bytes=TRAIN_BYTES if trains else None,
    )


def same(places: Places, forks: Forks, readers: Sequence[str], count: int, seed: int) -> Row:
    """Return how many of some commands end otherwise as a fork than as a process."""
    faults, tried = [], 0
    for i in range(count):
        name, number = readers[i % len(readers)], (i * 7 + 22) % COUNT
        said = []
        for start in (lambda case: forked(case, forks), executed):
            with places.case(name, number, seed) as case:
                ended = start(case)
                said.append((ended.code, ended.out, ended.err, case.left()))
        tried += 1
        if said[0] != said[1]:
            faults.append(f"{name} {number} (seed {seed}): {said[0]!r:.200} not {said[1]!r:.200}")
    return Row("command line, processes beside forks", tried, {"differ": len(faults)}, {}, faults)
