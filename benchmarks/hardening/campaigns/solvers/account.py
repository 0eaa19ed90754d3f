"""The results of one wrapper, which solves problems in child processes."""

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.hardening.campaigns.solvers.hang_detection import LIMITS, Limits, lines_until_hang
from benchmarks.hardening.harness.counts import Count
from benchmarks.hardening.harness.environment import ROOT, environment
from benchmarks.hardening.harness.rows import Row

MAX_DRAWN = 20  # problems drawn per problem that must reach the library
NOT_A_PROBLEM = "not a problem"  # the draw was refused as a problem
PRINTED = "bytes on stdout", "bytes on stderr"
TOO_FEW, TOO_FEW_PLACED = "too few", "too few placed"
GROUP = "odd graphs that reach a library"
KINDS = ("crashes", "hangs", "invalid", "errors", *PRINTED, TOO_FEW, TOO_FEW_PLACED)


@dataclass
class Account(Count):
    """The outcomes of the problems of one wrapper.

    Problems that reach its library count as tried.

    Parameters
    ----------
    name
        The name of the wrapper.
    seed
        The seed of the problems.
    goal
        The number of problems that must reach the library.
    """

    name: str
    seed: int
    goal: int
    reached: int = -1
    outcomes: Counter[tuple[str, bool]] = field(default_factory=Counter)
    slowest: float = 0.0

    def __post_init__(self) -> None:
        self.kinds = KINDS

    def reach(self, number: int) -> None:
        """Count a problem that reaches the library."""
        self.reached = number
        self.tried += 1

    def note(self, number: int, answer: dict[str, Any]) -> None:
        """Count the outcome that a child process reports."""
        outcome, reached = answer["outcome"], number == self.reached
        kind = "failed" if outcome == "refused" and answer["failed"] else outcome
        self.outcomes[kind, reached] += 1
        self.slowest = max(self.slowest, answer["seconds"])
        if outcome in KINDS:
            self.blame(number, outcome, answer["message"])
        out, err = answer["out"], answer["err"]
        self.wrong.update(dict(zip(PRINTED, (out, err), strict=True)))
        if out or err:
            self.fault(number, f"printed {out} and {err} bytes")

    def blame(self, number: int, kind: str, message: str) -> None:
        """Count a fault of a kind."""
        self.wrong[kind] += 1
        self.fault(number, message)

    def fault(self, number: int, message: str) -> None:
        """Add the description of a fault, with its problem."""
        self.add_fault(f"{self.name}: problem {number} of seed {self.seed}: {message}")

    def row(self) -> Row:
        """Return the row of the table."""
        counts = {
            "placed": self.outcomes["placed", True],
            "refused": self.outcomes["refused", True],
            "library failed": self.outcomes["failed", True],
            "not tried: not a valid problem": self.outcomes[NOT_A_PROBLEM, False],
            "not tried: refused without the library": self.outcomes["refused", False],
            "not tried: placed without the library": self.outcomes["placed", False],
        }
        texts = {what: f"{count:,}" for what, count in counts.items()}
        self.figures = {**texts, "slowest": f"{self.slowest:.2f} s"}
        self.wrong[TOO_FEW] = max(0, self.goal - self.tried)
        self.wrong[TOO_FEW_PLACED] = max(0, -(-self.tried // 2) - self.outcomes["placed", True])
        return super().row()


def run_wrapper(name: str, count: int, seed: int, limits: Limits = LIMITS) -> Account:
    """Try problems with a wrapper until enough of them have reached its library.

    When a process ends early, a new one continues.
    """
    account = Account(f"odd graphs: {name}", name, seed, count, group=GROUP)
    first, end = 0, MAX_DRAWN * count
    with tempfile.TemporaryDirectory() as folder:
        while account.tried < count and first < end:
            first = _until_it_ends(account, range(first, end), limits, Path(folder))
    return account


def _until_it_ends(account: Account, numbers: range, limits: Limits, folder: Path) -> int:
    """Try problems in one process; return the first number that it did not try."""
    begun, ended = numbers.start - 1, "crashes"
    with _child(account, numbers, folder) as (process, answers):
        for line in lines_until_hang(answers, process.pid, limits):
            if line is None:
                ended = "hangs"
                process.kill()
                continue
            answer = json.loads(line)
            if "begins" in answer:
                begun, ended = answer["begins"], "crashes"
            elif "reaches" in answer:
                account.reach(answer["reaches"])
            else:
                account.note(begun, answer)
                ended = ""
        code = process.wait()
    message = (folder / "err").read_text(errors="replace").strip().splitlines()[-1:]
    if begun < numbers.start:
        raise RuntimeError(f"{account.name} does not start: exit code {code} {' '.join(message)}")
    if ended or code:
        when = ended or "after the last problem"
        account.blame(begun, ended or "crashes", f"{when}: exit code {code} {' '.join(message)}")
    return begun + 1


@contextmanager
def _child(
    account: Account, numbers: range, folder: Path
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Start a process that answers through a pipe, with files as stdout and stderr."""
    answers, writes = os.pipe()
    left = account.goal - account.tried
    arguments = [account.name, account.seed, numbers.start, numbers.stop, left, writes]
    command = [
        sys.executable,
        "-m",
        "benchmarks.hardening.campaigns.solvers.child_process",
        *map(str, arguments),
    ]
    try:
        with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
            process = subprocess.Popen(
                command, stdout=out, stderr=err, pass_fds=[writes], cwd=ROOT, env=environment()
            )
        os.close(writes)
        with process:
            yield process, answers
    finally:
        os.close(answers)
