"""Ctrl-C and SIGTERM at random moments, sent to all processes of a command, as a terminal does."""

import random
import signal
from collections.abc import Iterator

from benchmarks.hardening.campaigns.writers.attempts import Attempt, make_attempts
from benchmarks.hardening.campaigns.writers.kills import ORPHANS_S
from benchmarks.hardening.campaigns.writers.training_runs import (
    LIMIT_S,
    completion_faults,
    resumption_faults,
)
from benchmarks.hardening.campaigns.writers.writing_command import Entries, WritingCommand
from benchmarks.hardening.harness.forks import Ended, Forks, temporaries
from benchmarks.hardening.harness.orphans import survivors
from benchmarks.hardening.harness.rows import Row

MESSAGES = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
CODE = {signal.SIGINT: 130, signal.SIGTERM: 143}
TRIES = 40  # attempts until a signal comes during the work


def interrupt(
    forks: Forks,
    commands: list[WritingCommand],
    expected: str,
    signum: signal.Signals,
    count: int,
    rng: random.Random,
) -> Row:
    """Interrupt commands in turn, `count` times in total.

    Parameters
    ----------
    expected
        The hash of the parameters at the end of `train`.
    """

    early = 0

    def attempt(command: WritingCommand) -> Attempt:
        nonlocal early
        command.restore()
        before = command.entries()
        moment = rng.uniform(0.0, command.seconds)
        ended = forks.run(*command.words, signum=signum, after_s=moment, limit_s=LIMIT_S)
        early += ended.code == -signum
        counts = ended.code not in (0, -signum)  # otherwise the signal came too late or too early
        if ended.code == 0:
            found_faults = completion_faults(command, ended, before, expected)
            found_faults += [f"prints {ended.err!r}"] if ended.err else []
        else:
            found_faults = list(faults(command, ended, before, signum))
        if command.name == "train" and counts and not found_faults:
            found_faults = resumption_faults(forks, command, expected)
        if survivors(ended.pid, ORPHANS_S):
            found_faults.append("a process is still running")
        return Attempt(f"{moment:.4f} s", found_faults, counts)

    faults_found, mistimed = make_attempts(commands, count, attempt, TRIES)
    what = "Ctrl-C" if signum == signal.SIGINT else signum.name
    figures = {
        "not counted: after the work": str(mistimed - early),
        "not counted: before the work": str(early),
    }
    return Row(what, count, {"with faults": len(faults_found)}, figures, faults_found)


def faults(
    command: WritingCommand, ended: Ended, before: Entries, signum: signal.Signals
) -> Iterator[str]:
    """Yield the faults of an interrupted command.

    The signal itself may end a command that has neither written nor printed anything.

    Parameters
    ----------
    before
        The files when the command started.
    """
    if ended.hung:
        yield "does not end"
    if ended.code == -signum:
        if written := command.written_since(before):
            yield f"was ended by the signal itself after it wrote {sorted(written)}"
        if ended.out or ended.err:
            yield f"was ended by the signal itself after it printed {ended.out + ended.err!r}"
    else:
        resumable = command.name == "train" and "resume with --resume" in ended.err
        message = MESSAGES[signal.SIGINT] if resumable else MESSAGES[signum]
        if ended.code != (CODE[signal.SIGINT] if resumable else CODE[signum]):
            yield f"exit {ended.code}: {ended.err!r}"
        elif not is_line(ended.err, f"streamplace: {message}"):
            yield f"prints {ended.err!r}"
    yield from command.faults()
    if remaining := temporaries(command.folder):
        yield f"leaves {remaining}"


def is_line(err: str, begins: str) -> bool:
    """Return whether stderr is one line that starts with `begins`, after a possible newline."""
    line = err.removeprefix("\n")
    return line.startswith(begins) and line.count("\n") == 1 and line.endswith("\n")
