"""Two processes that write into one place at once."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from benchmarks.hardening.forks import Ended, Forks, temporaries
from benchmarks.hardening.rows import Row
from benchmarks.hardening.training_runs import LIMIT_S, parameter_hash
from benchmarks.hardening.turns import Attempt, in_turn
from benchmarks.hardening.writing import Command

TOLD = "another run of streamplace writes into it"
OVER = "holds a run; see --resume"  # the other had ended when it began
TRIES = 40  # until both write at one moment, which the machine decides
LOOK_S = 0.0002


@dataclass(frozen=True)
class Both:
    """How two processes ended that were to run at once.

    Parameters
    ----------
    half_written
        The most temporaries that were in the folder at one moment.
    """

    ended: list[Ended]
    half_written: int


def one_folder(
    forks: tuple[Forks, Forks], commands: list[Command], expected: str, count: int
) -> Row:
    """Begin a command twice with the same folder: one wins, the other is told."""

    _ready(forks)

    def attempt(command: Command) -> Attempt:
        command.restore()
        both = together(forks, command.folder, command.words, command.words).ended
        won = [ended for ended in both if ended.code == 0]
        lost = [ended for ended in both if ended.code == 2]
        found = command.faults()
        if len(won) != 1 or len(lost) != 1 or not command.over():
            found.append(f"exits {[ended.code for ended in both]}: {[e.err for e in both]}")
        elif not found and OVER in lost[0].err:
            return Attempt("one after the other", found, counts=False)
        elif lost[0].err.count("\n") != 1 or TOLD not in lost[0].err:
            found.append(f"says {lost[0].err!r}")
        elif command.name == "train" and parameter_hash(won[0]) != expected:
            found.append("has other parameters")
        return Attempt("two at once", found)

    faults, apart = in_turn(commands, count, attempt, TRIES)
    figures = {"one after the other": str(apart)}
    return Row("two processes into one folder", count, {"not one": len(faults)}, figures, faults)


def one_file(
    forks: tuple[Forks, Forks], commands: list[Command], count: int, chance: random.Random
) -> Row:
    """Let two processes write a file at once: it is the one's or the other's.

    At once they were if both had it half-written at one moment; else they try again.
    """
    firsts = lasts = 0
    _ready(forks)

    def attempt(command: Command) -> Attempt:
        nonlocal firsts, lasts
        command.restore()
        jobs = [command.words, command.before]
        chance.shuffle(jobs)
        both = together(forks, command.folder, *jobs)
        found = [f"exit {one.code}: {one.err!r}" for one in both.ended if one.code]
        over = command.over()
        if not over:
            found += command.faults()
        if there := temporaries(command.folder):
            found.append(f"leaves {there}")
        met = both.half_written > 1
        firsts += met and not over
        lasts += met and over
        return Attempt("two at once", found, met)

    faults, apart = in_turn(commands, count, attempt, TRIES)
    figures = {
        "the one's": str(lasts),
        "the other's": str(firsts),
        "one after the other": str(apart),
    }
    return Row("two processes into one file", count, {"mixed": len(faults)}, figures, faults)


def together(
    forks: tuple[Forks, Forks], folder: Path, words: tuple[str, ...], others: tuple[str, ...]
) -> Both:
    """Run two commands at once that write into a folder."""
    over, most = threading.Event(), [0]

    def run(one: Forks, told: tuple[str, ...]) -> Ended:
        return one.run(*told, limit_s=LIMIT_S)

    def watch() -> None:
        while not over.wait(LOOK_S):
            most[0] = max(most[0], len(temporaries(folder)))

    with ThreadPoolExecutor(3) as pool:
        watching = pool.submit(watch)
        try:
            ended = list(pool.map(run, forks, (words, others)))
        finally:
            over.set()
        watching.result()
    return Both(ended, most[0])


def _ready(forks: tuple[Forks, Forks]) -> None:
    """Wait until both have imported what takes long: else one begins when the other has ended."""
    for one in forks:
        one.run("--version")
