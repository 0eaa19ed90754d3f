"""Repeated attempts to stop commands at the right moment."""

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.hardening.campaigns.writers.writing_command import WritingCommand


@dataclass(frozen=True)
class Attempt:
    """One attempt on a command.

    Parameters
    ----------
    description
        How to repeat the attempt.
    faults
        The faults of the command.
    counts
        Whether the attempt came at the right moment.
    """

    description: str
    faults: list[str]
    counts: bool = True


def make_attempts(
    commands: list[WritingCommand],
    count: int,
    attempt: Callable[[WritingCommand], Attempt],
    tries: int = 1,
) -> tuple[list[str], int]:
    """Make `count` well-timed attempts, on commands in turn.

    Return the faults, and the number of mistimed attempts.

    Parameters
    ----------
    tries
        The largest number of attempts until one is well timed; it is a fault if none is.
    """
    faults: list[str] = []
    mistimed = 0
    for i in range(count):
        command = commands[i % len(commands)]
        for _ in range(tries):
            made = attempt(command)
            faults += [f"{command.name}, {made.description}: {fault}" for fault in made.faults]
            if made.counts:
                break
            mistimed += 1
        else:
            faults.append(f"{command.name}: {tries} attempts at the wrong moment")
    return faults, mistimed
