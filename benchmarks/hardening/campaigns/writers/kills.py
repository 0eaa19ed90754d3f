"""SIGKILL at random moments of a run, or while a file is being written."""

import random
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from benchmarks.hardening.campaigns.writers.training_runs import (
    EVERY,
    LIMIT_S,
    RESUME,
    resumption_faults,
    steps_of,
)
from benchmarks.hardening.campaigns.writers.writing_command import Entries, WritingCommand
from benchmarks.hardening.harness.forks import Ended, Forks, temporaries
from benchmarks.hardening.harness.orphans import members, survivors
from benchmarks.hardening.harness.rows import Row
from streamplace.files.training_logs import CHECKPOINT

WRITES_S = 0.004  # about the time to write a file to the disk
ORPHANS_S = 60.0  # the longest wait for child processes to end
TRIES = 40  # per counted kill: some kills come too early or too late
FILES = 20  # written by a training run: config, log, and two per checkpoint


@dataclass
class Kills:
    """Counts of the kills of one command.

    Attributes
    ----------
    counted, early, late
        The numbers of kills during, before and after the work. The files are checked after each.
    half_written
        The number of counted kills that left a half-written file.
    lost, steps
        For each kill of training, the number of steps since the last checkpoint, and the total.
    """

    counted: int = 0
    early: int = 0
    late: int = 0
    half_written: int = 0
    faults: list[str] = field(default_factory=list)
    orphans: list[str] = field(default_factory=list)
    lost: list[int] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    other_hash: list[str] = field(default_factory=list)

    def check(self, command: WritingCommand, ended: Ended, wait_s: float = ORPHANS_S) -> None:
        """Check the files and processes that a killed process left."""
        self.faults += [f"{command.name}, {ended.seconds:.3f} s: {f}" for f in command.faults()]
        if survivors(ended.pid, wait_s):
            self.orphans.append(f"{command.name}, {ended.seconds:.3f} s: a process still runs")

    def count_kill(self, command: WritingCommand, before: Entries, *, is_over: bool) -> bool:
        """Count a kill if it came between the first and the last write; return whether it did."""
        written = command.written_since(before)
        half = bool(written & temporaries(command.folder))
        self.early += not written
        self.late += bool(written) and is_over and not half
        if not written or (is_over and not half):
            return False
        self.counted += 1
        self.half_written += half
        return True


def run_and_kill(
    forks: Forks,
    command: WritingCommand,
    when: dict[str, Any],
    tally: Kills,
    *,
    alone: bool = False,
) -> Ended | None:
    """Run a command and kill it; return None if it ended before the kill.

    Parameters
    ----------
    when
        The time of the kill, as arguments of `Forks.run`; see `kill_moment`.
    tally
        The counts to which a late kill, or a failure without a kill, is added.
    alone
        Whether to kill only the process itself, without its child processes.
    """
    ended = forks.run(*command.words, **when, alone=alone, limit_s=LIMIT_S)
    if ended.hung:
        raise RuntimeError(f"{command.name} does not end: {ended.err}")
    if ended.code == -signal.SIGKILL:
        return ended
    tally.late += 1
    if ended.code:
        tally.faults.append(f"{command.name}, never killed: exit {ended.code}: {ended.err}")
    return None


def kill_moment(command: WritingCommand, rng: random.Random, files: int) -> dict[str, Any]:
    """Draw the time of a kill: anywhere in a run, or while one of its files is being written.

    Parameters
    ----------
    files
        The number of files that the command writes.

    Returns
    -------
    dict
        Arguments of `Forks.run`.
    """
    if rng.random() < 0.5:
        return {"after_s": rng.uniform(0.0, command.seconds)}
    moment = {"once": command.folder, "nth": rng.randint(1, files)}
    return moment | {"after_s": rng.uniform(0.0, WRITES_S)}


def kill_writers(
    forks: Forks, commands: list[WritingCommand], count: int, rng: random.Random
) -> Iterator[Row]:
    """Kill each command `count` times while it overwrites older files."""
    for command in commands:
        tally = Kills()
        for _ in range(TRIES * count):
            if tally.counted == count:
                break
            command.restore()
            before = command.entries()
            ended = run_and_kill(forks, command, kill_moment(command, rng, len(command.new)), tally)
            if ended is None:
                continue
            tally.check(command, ended)
            if not tally.count_kill(command, before, is_over=command.is_complete()):
                continue
            again = forks.run(*command.words, limit_s=LIMIT_S)
            if again.code or not command.is_complete() or temporaries(command.folder):
                tally.faults.append(f"{command.name} cannot be repeated: {again.err}")
        yield kills_row(f"SIGKILL of `{command.name}`, after its first write", count, tally)


def kill_parents(
    forks: Forks, commands: list[WritingCommand], count: int, rng: random.Random
) -> Iterator[Row]:
    """Kill only the first of several processes: its child processes must end by themselves."""
    tally = Kills()
    for _ in range(TRIES * count):
        if tally.counted == count:
            break
        command = commands[tally.counted % len(commands)]
        command.restore()
        when = kill_moment(command, rng, len(command.new))
        ended = run_and_kill(forks, command, when, tally, alone=True)
        if ended is None:
            continue
        started = bool(members(ended.pid))
        tally.check(command, ended)
        tally.counted += started
        tally.half_written += started and bool(temporaries(command.folder))
        tally.early += not started  # or its child processes had already ended
    yield kills_row("SIGKILL of the first of several processes", count, tally)


def kill_training(
    forks: Forks, command: WritingCommand, expected: str, count: int, rng: random.Random
) -> Iterator[Row]:
    """Kill training runs `count` times; after each kill, resume a copy and finish it.

    A killed run is resumed and killed again until it ends. After kills before the first step, after
    the last step or before the first write, the files are checked, but the kill is not counted.
    """
    tally, run = Kills(), command.target
    command.restore()
    uninterrupted = forks.run(*command.words, limit_s=LIMIT_S)
    command, (total, _) = replace(command, seconds=uninterrupted.seconds), steps_of(run)
    for _ in range(TRIES * count):
        if tally.counted == count:
            break
        resumes = (run / CHECKPOINT).exists() and steps_of(run)[0] < total
        if not resumes:
            command.restore()
        resumed = replace(command, words=(*command.words, RESUME)) if resumes else command
        before = command.entries()
        ended = run_and_kill(forks, resumed, kill_moment(command, rng, FILES), tally)
        if ended is None:
            continue
        tally.check(command, ended)
        done, saved = steps_of(run)
        tally.lost.append(done - saved)
        if done < saved:
            tally.faults.append(f"train: {done} steps in the log, but {saved} in the checkpoint")
        tally.other_hash += resumption_faults(forks, command, expected)
        if not done:
            tally.early += 1
        elif tally.count_kill(command, before, is_over=done == total):
            tally.steps.append(done)
    yield kills_row("SIGKILL of `train`, during its steps", count, tally)


def kills_row(what: str, count: int, tally: Kills) -> Row:
    """Return a row of the table."""
    faults = list(tally.faults)
    if tally.counted < count:
        faults.append(f"only {tally.counted} of {count} kills came during the work")
    wrong = {"unreadable or lost": len(faults), "orphans": len(tally.orphans)}
    figures = {
        "left a half-written file": str(tally.half_written),
        "not counted: too early": str(tally.early),
        "not counted: too late": str(tally.late),
    }
    if tally.lost:
        wrong["lost more than a checkpoint interval"] = sum(lost > EVERY for lost in tally.lost)
        wrong["other final parameters"] = len(tally.other_hash)
        figures["steps lost at most"] = f"{max(tally.lost)} of {EVERY}"
        figures["killed at steps"] = (
            f"{min(tally.steps, default=0)} to {max(tally.steps, default=0)}"
        )
    return Row(what, tally.counted, wrong, figures, [*faults, *tally.orphans, *tally.other_hash])
