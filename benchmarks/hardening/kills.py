"""SIGKILL at random moments: of the whole of a run, and of its writing."""

import random
import shutil
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.hardening.forks import Ended, Forks, temporaries
from benchmarks.hardening.orphans import left
from benchmarks.hardening.rows import Row
from benchmarks.hardening.writing import EVERY, Command, parameter_hash, steps_of
from streamplace.training.trainer import CHECKPOINT

WRITES_S = 0.004  # about what it takes to bring a file to the disk
ORPHANS_S = 5.0
LIMIT_S = 120.0
TRIES = 4  # for a kill: some come when it is over
FILES = 20  # that a run of training writes: config, log, and two a checkpoint


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


def killed(forks: Forks, command: Command, chance: random.Random, *, alone: bool = False) -> Ended:
    """Run a command and kill it at a random moment; again if it had ended before."""
    for _ in range(TRIES * 10):
        moment = _moment(command, chance, len(command.new))
        ended = forks.run(*command.words, **moment, alone=alone, limit_s=LIMIT_S)
        if _was_killed(command, ended):
            return ended
        command.restore()
    raise RuntimeError(f"{command.name} is over before it can be killed: {ended.err}")


def _moment(command: Command, chance: random.Random, files: int) -> dict[str, Any]:
    """Return when to kill: uniform over a whole run, or within the writing of one of its files."""
    if chance.random() < 0.5:
        return {"after_s": chance.uniform(0.0, command.seconds)}
    within = {"once": command.folder, "nth": chance.randint(1, files)}
    return within | {"after_s": chance.uniform(0.0, WRITES_S)}


def _was_killed(command: Command, ended: Ended) -> bool:
    if ended.hung:
        raise RuntimeError(f"{command.name} does not end: {ended.err}")
    return ended.code == -signal.SIGKILL


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
    """Kill runs in the middle of their training, so often; after each go on with a copy to the end.

    What is killed before the first step or after the last is looked at as well, and not counted.
    What was killed is taken up and killed again, until it is done.
    """
    tally, run, others = Tally(), command.target, 0
    command.restore()
    whole = forks.run(*command.words, limit_s=LIMIT_S)
    command, (total, _) = replace(command, seconds=whole.seconds), steps_of(run)
    for _ in range(TRIES * count):
        resume = ["--resume"] if (run / CHECKPOINT).exists() and steps_of(run)[0] < total else []
        if not resume:
            command.restore()
        moment = _moment(command, chance, FILES)
        ended = forks.run(*command.words, *resume, **moment, limit_s=LIMIT_S)
        if not _was_killed(command, ended):
            continue
        tally.look(command, ended)
        done, saved = steps_of(run)
        tally.lost.append(done - saved)
        copy = run.with_name("copy")
        shutil.copytree(run, copy)
        tally.other_hash += _other_hash(forks, command, copy, expected, saved)
        shutil.rmtree(copy)
        if 0 < done < total:
            tally.steps.append(done)
        else:
            others += 1
        if len(tally.steps) == count:
            break
    else:
        tally.faults.append(f"only {len(tally.steps)} of {count} in the middle of the training")
    counted = row("SIGKILL of `train`, in the middle of it", len(tally.steps), tally)
    figures = {**counted.figures, "besides, before the first step or after the last": str(others)}
    yield replace(counted, figures=figures)


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
        figures["at steps"] = f"{min(tally.steps, default=0)} to {max(tally.steps, default=0)}"
    return Row(what, count, wrong, figures, [*tally.faults, *tally.orphans, *tally.other_hash])
