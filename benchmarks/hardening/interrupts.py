"""Ctrl-C and SIGTERM at random moments, to all processes of a command, as a terminal sends them."""

import random
import shutil
import signal
from collections.abc import Iterator

from benchmarks.hardening.forks import Ended, Forks, temporaries
from benchmarks.hardening.kills import LIMIT_S, ORPHANS_S
from benchmarks.hardening.orphans import left
from benchmarks.hardening.rows import Row
from benchmarks.hardening.writing import Command, parameter_hash
from streamplace.training.trainer import CHECKPOINT

SAID = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
CODE = {signal.SIGINT: 130, signal.SIGTERM: 143}
TRIES = 40


def interrupt(
    forks: Forks,
    commands: list[Command],
    expected: str,
    number: signal.Signals,
    count: int,
    chance: random.Random,
) -> Row:
    """Interrupt commands in turn, so often in all.

    Parameters
    ----------
    expected
        The hash of the parameters that `train` ends with.
    """
    faults: list[str] = []
    over = 0
    for i in range(count):
        command = commands[i % len(commands)]
        for _ in range(TRIES):
            command.restore()
            moment = chance.uniform(0.0, command.seconds)
            ended = forks.run(*command.words, number=number, after_s=moment, limit_s=LIMIT_S)
            found = list(_faults(command, ended, number))
            if ended.code not in (0, -number):
                break
            over += 1  # the work was done when the signal came
            faults += [f"{command.name}, {moment:.4f} s: {fault}" for fault in found]
        else:
            found = ["is over whenever the signal comes"]
        if command.name == "train" and not found:
            found = list(_taken_up(forks, command, expected))
        faults += [f"{command.name}, {moment:.4f} s: {fault}" for fault in found]
    what = "Ctrl-C" if number == signal.SIGINT else number.name
    return Row(what, count, {"not clean": len(faults)}, {"came after the work": str(over)}, faults)


def _faults(command: Command, ended: Ended, number: signal.Signals) -> Iterator[str]:
    """Yield what a command that was interrupted did wrong."""
    if ended.hung:
        yield "does not end"
    if ended.code in (0, -number):
        if not command.over() or ended.err:
            yield f"exit {ended.code}, as if it were done: {ended.err!r}"
    else:
        trained = command.name == "train" and "go on with --resume" in ended.err
        said = SAID[signal.SIGINT] if trained else SAID[number]
        if ended.code != (CODE[signal.SIGINT] if trained else CODE[number]):
            yield f"exit {ended.code}: {ended.err!r}"
        elif not is_line(ended.err, f"streamplace: {said}"):
            yield f"says {ended.err!r}"
    yield from command.faults()
    if found := temporaries(command.folder):
        yield f"leaves {found}"
    if left(ended.pid, ORPHANS_S):
        yield "a process goes on"


def is_line(err: str, begins: str) -> bool:
    """Whether a single line was said that begins so; a newline goes before it after ^C."""
    line = err.removeprefix("\n")
    return line.startswith(begins) and line.count("\n") == 1 and line.endswith("\n")


def _taken_up(forks: Forks, command: Command, expected: str) -> Iterator[str]:
    resume = ["--resume"] if (command.target / CHECKPOINT).exists() else []
    ended = forks.run(*command.words, *resume, limit_s=LIMIT_S)
    if ended.code or parameter_hash(ended) != expected:
        yield f"does not go on as before: exit {ended.code}: {ended.err!r}"
    shutil.rmtree(command.target)
    command.target.mkdir()
