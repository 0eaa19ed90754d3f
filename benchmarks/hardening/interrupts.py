"""Ctrl-C and SIGTERM at random moments, to all processes of a command, as a terminal sends them."""

import random
import signal
from collections.abc import Iterator

from benchmarks.hardening.forks import Ended, Forks, temporaries
from benchmarks.hardening.kills import ORPHANS_S
from benchmarks.hardening.orphans import left
from benchmarks.hardening.rows import Row
from benchmarks.hardening.training_runs import LIMIT_S, goes_on, unfinished
from benchmarks.hardening.turns import Attempt, in_turn
from benchmarks.hardening.writing import Command, Entries

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

    early = 0

    def attempt(command: Command) -> Attempt:
        nonlocal early
        command.restore()
        before = command.entries()
        moment = chance.uniform(0.0, command.seconds)
        ended = forks.run(*command.words, number=number, after_s=moment, limit_s=LIMIT_S)
        early += ended.code == -number
        counts = ended.code not in (0, -number)  # else it came too late, or too early
        if ended.code == 0:
            found = unfinished(command, ended, before, expected)
            found += [f"says {ended.err!r}"] if ended.err else []
        else:
            found = list(faults(command, ended, before, number))
        if command.name == "train" and counts and not found:
            found = goes_on(forks, command, expected)
        if left(ended.pid, ORPHANS_S):
            found.append("a process goes on")
        return Attempt(f"{moment:.4f} s", found, counts)

    told, others = in_turn(commands, count, attempt, TRIES)
    what = "Ctrl-C" if number == signal.SIGINT else number.name
    figures = {"came after the work": str(others - early), "before it": str(early)}
    return Row(what, count, {"not clean": len(told)}, figures, told)


def faults(
    command: Command, ended: Ended, before: Entries, number: signal.Signals
) -> Iterator[str]:
    """Yield what a command that was interrupted did wrong.

    The signal itself may end it until it is loaded: before it has written or said anything.

    Parameters
    ----------
    before
        What was there when it began.
    """
    if ended.hung:
        yield "does not end"
    if ended.code == -number:
        if written := command.written_since(before):
            yield f"is ended by the signal itself, having written {sorted(written)}"
        if ended.out or ended.err:
            yield f"is ended by the signal itself, having said {ended.out + ended.err!r}"
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


def is_line(err: str, begins: str) -> bool:
    """Whether a single line was said that begins so; a newline goes before it after ^C."""
    line = err.removeprefix("\n")
    return line.startswith(begins) and line.count("\n") == 1 and line.endswith("\n")
