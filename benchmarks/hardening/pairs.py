"""Two processes that write into one place at once."""

import random
from concurrent.futures import ThreadPoolExecutor

from benchmarks.hardening.forks import Ended, Forks, temporaries
from benchmarks.hardening.rows import Row
from benchmarks.hardening.training_runs import LIMIT_S, parameter_hash
from benchmarks.hardening.turns import Attempt, in_turn
from benchmarks.hardening.writing import Command

TOLD = "another run of streamplace writes into it"
OVER = "holds a run; see --resume"  # the other had ended when it began
TRIES = 10


def one_folder(
    forks: tuple[Forks, Forks], commands: list[Command], expected: str, count: int
) -> Row:
    """Begin a command twice with the same folder: one wins, the other is told."""

    _ready(forks)

    def attempt(command: Command) -> Attempt:
        command.restore()
        both = together(forks, command.words, command.words)
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
    """Let two processes write a file at once: it is the one's or the other's."""
    firsts = 0
    _ready(forks)

    def attempt(command: Command) -> Attempt:
        nonlocal firsts
        command.restore()
        jobs = [command.words, command.before]
        chance.shuffle(jobs)
        ended = together(forks, *jobs)
        found = [f"exit {one.code}: {one.err!r}" for one in ended if one.code]
        if not command.over():
            firsts += 1
            found += command.faults()
        if there := temporaries(command.folder):
            found.append(f"leaves {there}")
        return Attempt("two at once", found)

    faults, _ = in_turn(commands, count, attempt)
    figures = {"the one's": str(count - firsts), "the other's": str(firsts)}
    return Row("two processes into one file", count, {"mixed": len(faults)}, figures, faults)


def together(
    forks: tuple[Forks, Forks], words: tuple[str, ...], others: tuple[str, ...]
) -> list[Ended]:
    """Run two commands at once."""

    def run(one: Forks, told: tuple[str, ...]) -> Ended:
        return one.run(*told, limit_s=LIMIT_S)

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(run, forks, (words, others)))


def _ready(forks: tuple[Forks, Forks]) -> None:
    """Wait until both have imported what takes long: else one begins when the other has ended."""
    for one in forks:
        one.run("--version")
