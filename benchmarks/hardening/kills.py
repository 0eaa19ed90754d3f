"""SIGKILL at random moments: of the whole of a run, and of its writing."""

import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.hardening.forks import Ended, Forks, temporaries
from benchmarks.hardening.orphans import left
from benchmarks.hardening.rows import Row
from benchmarks.hardening.writing import EVERY, Command, parameter_hash, steps_of
from streamplace.training.trainer import CHECKPOINT

WRITES_S = 0.004  # about what it takes to bring a file to the disk
ORPHANS_S = 5.0
LIMIT_S = 120.0
TRIES = 4  # for a kill: some come when it is over


@dataclass
class Tally:
    """What was seen of the kills of one command."""

    faults: list[str] = field(default_factory=list)
    orphans: list[str] = field(default_factory=list)
    within: int = 0
    lost: list[int] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    other_hash: list[str] = field(default_factory=list)

    def look(self, command: Command, ended: Ended, wait_s: float = ORPHANS_S) -> None:
        """Look at what a killed process has left."""
        self.within += bool(temporaries(command.folder))
        self.faults += [f"{command.name}, {ended.seconds:.3f} s: {f}" for f in command.faults()]
        if left(ended.pid, wait_s):
            self.orphans.append(f"{command.name}: a process went on, {ended.seconds:.3f} s")


def killed(
    forks: Forks, command: Command, chance: random.Random, *more: str, alone: bool = False
) -> Ended:
    """Run a command and kill it at a random moment; again if it had ended before.

    Half of the moments are uniform over a whole run, half within the writing of a file.
    """
    for _ in range(TRIES * 10):
        if chance.random() < 0.5:
            ended = forks.run(
                *command.words,
                *more,
                after_s=chance.uniform(0.0, command.seconds),
                alone=alone,
                limit_s=LIMIT_S,
            )
        else:
            ended = forks.run(
                *command.words,
                *more,
                once=command.folder,
                after_s=chance.uniform(0.0, WRITES_S),
                alone=alone,
                limit_s=LIMIT_S,
            )
        if ended.hung:
            raise RuntimeError(f"{command.name} does not end: {ended.err}")
        if ended.code == -9:
            return ended
        if not more:
            command.restore()
    raise RuntimeError(f"{command.name} is over before it can be killed: {ended.err}")


def kill_writers(
    forks: Forks, commands: list[Command], count: int, chance: random.Random
) -> Iterator[Row]:
    """Kill commands that write over older files, so often each."""
    for command in commands:
        tally = Tally()
        for _ in range(count):
            command.restore()
            tally.look(command, killed(forks, command, chance))
            ended = forks.run(*command.words, limit_s=LIMIT_S)
            if ended.code or not command.over() or temporaries(command.folder):
                tally.faults.append(f"{command.name} does not do it again: {ended.err}")
        yield row(f"SIGKILL of `{command.name}`", count, tally)


def kill_leaders(
    forks: Forks, commands: list[Command], count: int, chance: random.Random
) -> Iterator[Row]:
    """Kill the first process alone: those that it has started must end by themselves."""
    tally = Tally()
    for i in range(count):
        command = commands[i % len(commands)]
        command.restore()
        tally.look(command, killed(forks, command, chance, alone=True))
    yield row("SIGKILL of the first of several processes", count, tally)


def kill_training(
    forks: Forks, command: Command, expected: str, count: int, chance: random.Random
) -> Iterator[Row]:
    """Kill every run twice; after each kill go on with a copy to the end."""
    tally = Tally()
    run = command.target
    for i in range(count):
        if i % 2 == 0:
            command.restore()
        there = (run / CHECKPOINT).exists()
        ended = killed(forks, command, chance, *(["--resume"] if there else []))
        tally.look(command, ended)
        done, saved = steps_of(run)
        tally.lost.append(done - saved)
        tally.steps.append(done)
        copy = run.with_name("copy")
        shutil.copytree(run, copy)
        tally.other_hash += _other_hash(forks, command, copy, expected, saved)
        shutil.rmtree(copy)
    yield row("SIGKILL of `train`", count, tally)


def _other_hash(forks: Forks, command: Command, run: Path, expected: str, saved: int) -> list[str]:
    """Go on to the end; return what is wrong with what comes of it."""
    words = [str(run) if word == str(command.target) else word for word in command.words]
    ended = forks.run(*words, *(["--resume"] if saved else []), limit_s=LIMIT_S)
    if ended.code:
        return [f"train --resume after step {saved}: exit {ended.code}: {ended.err}"]
    if parameter_hash(ended) != expected or temporaries(run):
        return [f"train --resume after step {saved}: other parameters"]
    return []


def row(what: str, count: int, tally: Tally) -> Row:
    """Return a line of the table."""
    wrong = {"unreadable or lost": len(tally.faults), "orphans": len(tally.orphans)}
    figures = {"with a file half-written": str(tally.within)}
    if tally.lost:
        wrong["lost over a checkpoint interval"] = sum(lost > EVERY for lost in tally.lost)
        wrong["other hash"] = len(tally.other_hash)
        figures["most steps lost"] = f"{max(tally.lost)} of {EVERY}"
        figures["at steps"] = f"{min(tally.steps)} to {max(tally.steps)}"
    return Row(what, count, wrong, figures, [*tally.faults, *tally.orphans, *tally.other_hash])
