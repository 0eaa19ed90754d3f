"""The same done to several commands in turn, and again where it came too late to matter."""

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.hardening.writing import Command


@dataclass(frozen=True)
class Attempt:
    """What was done to a command once.

    Parameters
    ----------
    told
        How, so that it can be done again.
    faults
        What the command did wrong.
    counts
        Whether it came in time.
    """

    told: str
    faults: list[str]
    counts: bool = True


def in_turn(
    commands: list[Command], count: int, attempt: Callable[[Command], Attempt], tries: int = 1
) -> tuple[list[str], int]:
    """Make so many attempts that count; return the faults, and how many did not count.

    Parameters
    ----------
    tries
        For each; that none of them counts is a fault.
    """
    faults: list[str] = []
    late = 0
    for i in range(count):
        command = commands[i % len(commands)]
        for _ in range(tries):
            made = attempt(command)
            faults += [f"{command.name}, {made.told}: {fault}" for fault in made.faults]
            if made.counts:
                break
            late += 1
        else:
            faults.append(f"{command.name}: comes too late, {tries} times")
    return faults, late
