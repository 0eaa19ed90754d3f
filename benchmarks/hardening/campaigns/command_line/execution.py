"""Execution of a case as a fresh process or as a fork."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace

from benchmarks.hardening.campaigns.command_line.cases import COUNT, OUT_NAME, Case, CaseFactory
from benchmarks.hardening.harness.environment import ROOT
from benchmarks.hardening.harness.forks import Ended, Forks
from benchmarks.hardening.harness.privileges import drop_override
from benchmarks.hardening.harness.rows import Row

TIMES = re.compile(r"\d{4}-\d\d-\d\dT[\d:+]+|in \S+ s(?=$|;)", re.MULTILINE)
"""Texts that differ between two runs."""
KILL_S = 120.0  # wall time after which a command is killed
TRAIN_S = 2.0  # training is killed this long after it has written its config
TRAIN_BYTES = 4 * 2**30  # data memory of training, since a config may ask for any amount


def run_process(case: Case) -> Ended:
    """Run a command line in a fresh process."""
    begin = time.monotonic()
    command = [sys.executable, "-m", "streamplace.cli.main", *case.words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command,
        cwd=case.folder,
        env=environment,
        preexec_fn=drop_override if case.closed else None,  # noqa: PLW1509 - it takes no lock
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as process:
        out, err = process.communicate(timeout=120)
        seconds = time.monotonic() - begin
        return Ended(out, err, process.returncode, False, seconds, 0.0, 0, process.pid)


def beyond_fresh_bytes(forks: Forks, *words: str) -> int:
    """Return by how much the peak memory of a fork exceeds that of a fresh process, in bytes.

    A fork shares the memory of its server, which has loaded what all commands need.
    """
    measure = (
        "import resource, subprocess, sys; "
        "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    command = [sys.executable, "-m", "streamplace.cli.main", *words]
    fresh = subprocess.run(
        [sys.executable, "-c", measure, *command],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return max(0, forks.run(*words).peak_bytes - 1024 * int(fresh.stdout))


def run_fork(case: Case, forks: Forks, *, to_its_end: bool = False) -> Ended:
    """Run a command line in a fork.

    Unless `to_its_end`, training is killed soon after it has started.
    """
    trains = case.command.trains and not to_its_end
    ended = forks.run(
        *case.words,
        folder=case.folder,
        closed=case.closed,
        limit_s=KILL_S,
        once=case.folder / OUT_NAME if trains else None,
        after_s=TRAIN_S if trains else None,
        data_bytes=TRAIN_BYTES if trains else None,
    )
    return replace(ended, peak_bytes=max(0, ended.peak_bytes - forks.beyond_fresh_bytes))


def forks_row(
    cases: CaseFactory, forks: Forks, readers: Sequence[str], count: int, seed: int
) -> Row:
    """Compare the results of commands run as forks and as fresh processes."""
    faults, tried = [], 0
    for i in range(count):
        # numbers far apart, so that there are bad files of all kinds
        name, number = readers[i % len(readers)], (i * 7 + 22) % COUNT
        results = []
        for start in (lambda case: run_fork(case, forks), run_process):
            with cases.case(name, number, seed) as case:
                ended = start(case)
                texts = (TIMES.sub("TIME", text) for text in (ended.out, ended.err))
                results.append((ended.code, *texts, case.added_files()))
        tried += 1
        if results[0] != results[1]:
            fork, process = results
            both = f"{fork!r:.200} as a fork, {process!r:.200} as a process"
            faults.append(f"{name} {number} (seed {seed}): {both}")
    return Row(
        "command lines, forks compared with fresh processes",
        tried,
        {"differ": len(faults)},
        {},
        faults,
    )
