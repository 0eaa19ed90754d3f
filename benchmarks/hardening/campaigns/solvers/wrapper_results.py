"""The results of one wrapper of a solver, which solves problems in child processes."""

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

MAX_DRAWN = 20  # problems tried at most per problem of the goal; some never reach the library
NOT_A_PROBLEM = "not a problem"  # the draw is invalid, so streamplace refuses to create it
PRINTED = "bytes on stdout", "bytes on stderr"
TOO_FEW, TOO_FEW_PLACED = "too few", "too few placed"
GROUP = "unusual graphs that reach a library"
KINDS = ("crashes", "hangs", "invalid", "errors", *PRINTED, TOO_FEW, TOO_FEW_PLACED)
"""Kinds of faults. The last two are shortfalls: of problems that reached the library, compared with
the goal, and of problems among these that were placed, compared with half of them.
"""


@dataclass
class WrapperResults(Count):
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
    reached
        The index of the last problem that reached the library; -1: none yet.
    outcomes
        The number of problems by outcome, and by whether they reached the library.
    slowest
        The longest time for a problem, in seconds.
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


def run_wrapper(name: str, count: int, seed: int, limits: Limits = LIMITS) -> WrapperResults:
    """Try problems with a wrapper until `count` of them have reached its library.

    When a process ends early, a new one continues.
    """
    results = WrapperResults(f"unusual graphs: {name}", name, seed, count, group=GROUP)
    first, end = 0, MAX_DRAWN * count
    with tempfile.TemporaryDirectory() as folder:
        while results.tried < count and first < end:
            first = _run_process(results, range(first, end), limits, Path(folder))
    return results


def _run_process(results: WrapperResults, numbers: range, limits: Limits, folder: Path) -> int:
    """Try problems in one process; return the first number that it did not try."""
    # `fault` is the kind of fault if the process ends now
    begun, fault = numbers.start - 1, "crashes"
    with _child(results, numbers, folder) as (process, answers):
        for line in lines_until_hang(answers, process.pid, limits):
            if line is None:
                fault = "hangs"
                process.kill()
                continue
            answer = json.loads(line)
            if "begins" in answer:
                begun, fault = answer["begins"], "crashes"
            elif "reaches" in answer:
                results.reach(answer["reaches"])
            else:
                results.note(begun, answer)
                fault = ""
        code = process.wait()
    message = (folder / "err").read_text(errors="replace").strip().splitlines()[-1:]
    if begun < numbers.start:
        raise RuntimeError(f"{results.name} does not start: exit code {code} {' '.join(message)}")
    if fault or code:
        when = fault or "after the last problem"
        results.blame(begun, fault or "crashes", f"{when}: exit code {code} {' '.join(message)}")
    return begun + 1


@contextmanager
def _child(
    results: WrapperResults, numbers: range, folder: Path
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Start a process that answers through a pipe, with files as stdout and stderr."""
    read_end, write_end = os.pipe()
    left = results.goal - results.tried
    arguments = [results.name, results.seed, numbers.start, numbers.stop, left, write_end]
    command = [
        sys.executable,
        "-m",
        "benchmarks.hardening.campaigns.solvers.child_process",
        *map(str, arguments),
    ]
    try:
        with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
            process = subprocess.Popen(
                command, stdout=out, stderr=err, pass_fds=[write_end], cwd=ROOT, env=environment()
            )
        os.close(write_end)
        with process:
            yield process, read_end
    finally:
        os.close(read_end)
