"""SIGKILL at random moments: of the whole of a run, and of its writing."""

import random
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from benchmarks.hardening.forks import Ended, Forks, temporaries
from benchmarks.hardening.orphans import left, members
from benchmarks.hardening.rows import Row
from benchmarks.hardening.training_runs import EVERY, LIMIT_S, RESUME, goes_on, steps_of
from benchmarks.hardening.writing import Command, Entries
from streamplace.training.trainer import CHECKPOINT

WRITES_S = 0.004  # about what it takes to bring a file to the disk
ORPHANS_S = 5.0
TRIES = 40  # for a kill that counts: some come too early or too late
FILES = 20  # that a run of training writes: config, log, and two a checkpoint


@dataclass
class Kills:
    """What was seen of the kills of one command.

    Attributes
    ----------
    counted, early, late
        Kills in the middle of the work; others, which are looked at as well.
    within
        Of those that count, how many left a file half-written.
    lost, steps
        Of training: steps done after the last checkpoint, and steps done, at each kill.
    """

    counted: int = 0
    early: int = 0
    late: int = 0
    within: int = 0
    faults: list[str] = field(default_factory=list)
    orphans: list[str] = field(default_factory=list)
    lost: list[int] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    other_hash: list[str] = field(default_factory=list)

    def look(self, command: Command, ended: Ended, wait_s: float = ORPHANS_S) -> None:
        """Look at what a killed process has left."""
        self.faults += [f"{command.name}, {ended.seconds:.3f} s: {f}" for f in command.faults()]
        if left(ended.pid, wait_s):
            self.orphans.append(f"{command.name}: a process went on, {ended.seconds:.3f} s")

    def count(self, command: Command, before: Entries, *, is_over: bool) -> bool:
        """Count a kill, if it came after the first write and before the last."""
        written = command.written_since(before)
        half = bool(written & temporaries(command.folder))
        self.early += not written
        self.late += bool(written) and is_over and not half
        if not written or (is_over and not half):
            return False
        self.counted += 1
        self.within += half
        return True


def killed(
    forks: Forks, command: Command, moment: dict[str, Any], tally: Kills, *, alone: bool = False
) -> Ended | None:
    """Run a command and kill it; return nothing if it had ended before."""
    ended = forks.run(*command.words, **moment, alone=alone, limit_s=LIMIT_S)
    if ended.hung:
        raise RuntimeError(f"{command.name} does not end: {ended.err}")
    if ended.code == -signal.SIGKILL:
        return ended
    tally.late += 1
    if ended.code:
        tally.faults.append(f"{command.name}, never killed: exit {ended.code}: {ended.err}")
    return None


def moment(command: Command, chance: random.Random, files: int) -> dict[str, Any]:
    """Return when to kill: uniform over a whole run, or within the writing of one of its files."""
    if chance.random() < 0.5:
        return {"after_s": chance.uniform(0.0, command.seconds)}
    within = {"once": command.folder, "nth": chance.randint(1, files)}
    return within | {"after_s": chance.uniform(0.0, WRITES_S)}


def kill_writers(
    forks: Forks, commands: list[Command], count: int, chance: random.Random
) -> Iterator[Row]:
    """Kill commands that write over older files, so often each, in the middle of their writing."""
    for command in commands:
        tally = Kills()
        for _ in range(TRIES * count):
            if tally.counted == count:
                break
            command.restore()
            before = command.entries()
            ended = killed(forks, command, moment(command, chance, len(command.new)), tally)
            if ended is None:
                continue
            tally.look(command, ended)
            if not tally.count(command, before, is_over=command.over()):
                continue
            again = forks.run(*command.words, limit_s=LIMIT_S)
            if again.code or not command.over() or temporaries(command.folder):
                tally.faults.append(f"{command.name} does not do it again: {again.err}")
        yield row(f"SIGKILL of `{command.name}`, after its first write", count, tally)


def kill_leaders(
    forks: Forks, commands: list[Command], count: int, chance: random.Random
) -> Iterator[Row]:
    """Kill the first process alone: those that it has started must end by themselves."""
    tally = Kills()
    for _ in range(TRIES * count):
        if tally.counted == count:
            break
        command = commands[tally.counted % len(commands)]
        command.restore()
        when = moment(command, chance, len(command.new))
        ended = killed(forks, command, when, tally, alone=True)
        if ended is None:
            continue
        started = bool(members(ended.pid))
        tally.look(command, ended)
        tally.counted += started
        tally.within += started and bool(temporaries(command.folder))
        tally.early += not started  # or they had done all, and were gone
    yield row("SIGKILL of the first of several processes", count, tally)


def kill_training(
    forks: Forks, command: Command, expected: str, count: int, chance: random.Random
) -> Iterator[Row]:
    """Kill runs in the middle of their training, so often; after each go on with a copy to the end.

    What was killed is taken up and killed again, until it is done. What is killed before the first
    step, after the last, or before it has written anything, is looked at as well and not counted.
    """
    tally, run = Kills(), command.target
    command.restore()
    whole = forks.run(*command.words, limit_s=LIMIT_S)
    command, (total, _) = replace(command, seconds=whole.seconds), steps_of(run)
    for _ in range(TRIES * count):
        if tally.counted == count:
            break
        goes = (run / CHECKPOINT).exists() and steps_of(run)[0] < total
        if not goes:
            command.restore()
        taken = replace(command, words=(*command.words, RESUME)) if goes else command
        before = command.entries()
        ended = killed(forks, taken, moment(command, chance, FILES), tally)
        if ended is None:
            continue
        tally.look(command, ended)
        done, saved = steps_of(run)
        tally.lost.append(done - saved)
        if done < saved:
            tally.faults.append(f"train: a log of {done} steps, and a checkpoint of {saved}")
        tally.other_hash += goes_on(forks, command, expected)
        if not done:
            tally.early += 1
        elif tally.count(command, before, is_over=done == total):
            tally.steps.append(done)
    yield row("SIGKILL of `train`, in the middle of it", count, tally)


def row(what: str, count: int, tally: Kills) -> Row:
    """Return a line of the table."""
    faults = list(tally.faults)
    if tally.counted < count:
        faults.append(f"only {tally.counted} of {count} kills came in time")
    wrong = {"unreadable or lost": len(faults), "orphans": len(tally.orphans)}
    figures = {
        "with a file half-written": str(tally.within),
        "besides, too early": str(tally.early),
        "too late": str(tally.late),
    }
    if tally.lost:
        wrong["lost over a checkpoint interval"] = sum(lost > EVERY for lost in tally.lost)
        wrong["other hash"] = len(tally.other_hash)
        figures["most steps lost"] = f"{max(tally.lost)} of {EVERY}"
        figures["at steps"] = f"{min(tally.steps, default=0)} to {max(tally.steps, default=0)}"
    return Row(what, tally.counted, wrong, figures, [*faults, *tally.orphans, *tally.other_hash])
