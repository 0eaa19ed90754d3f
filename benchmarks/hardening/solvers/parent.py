"""What becomes of processes that give problems to a wrapper."""

import json
import os
import select
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.hardening.forks import ROOT
from benchmarks.hardening.rows import Row

LIMIT_S = 120.0  # of one problem, and of the start
NOT_GIVEN = "not given"  # what is drawn and is no problem


@dataclass
class Account:
    """What came of the problems that a wrapper was given."""

    name: str
    seed: int
    came: Counter[str] = field(default_factory=Counter)
    out: int = 0
    err: int = 0
    slowest: float = 0.0
    slowest_number: int = -1
    faults: list[str] = field(default_factory=list)

    def note(self, number: int, answer: dict[str, Any]) -> None:
        """Count what a process says of a problem."""
        self.came[answer["came"]] += 1
        self.out += answer["out"]
        self.err += answer["err"]
        if answer["seconds"] > self.slowest:
            self.slowest, self.slowest_number = answer["seconds"], number
        if answer["came"] in ("invalid", "errors"):
            self.fault(number, answer["said"])
        if answer["out"] or answer["err"]:
            self.fault(number, f"printed {answer['out']} and {answer['err']} bytes")

    def fault(self, number: int, said: str) -> None:
        """Tell what went wrong, and of which problem."""
        self.faults.append(f"{self.name}: problem {number} of seed {self.seed}: {said}")

    @property
    def given(self) -> int:
        """How many problems the wrapper was given."""
        return self.came.total() - self.came[NOT_GIVEN]

    def row(self, what: str) -> Row:
        """Return the line of the table."""
        wrong = {kind: self.came[kind] for kind in ("crashes", "hangs", "invalid", "errors")}
        wrong |= {"bytes on stdout": self.out, "on stderr": self.err}
        figures = {
            "placed": f"{self.came['placed']:,}",
            "refused": f"{self.came['refused']:,}",
            "slowest": f"{self.slowest:.2f} s",
        }
        return Row(what, self.given, wrong, figures, self.faults)


def account(name: str, count: int, seed: int, limit_s: float = LIMIT_S) -> Account:
    """Give so many problems to a wrapper, in a new process after every one that ended early."""
    found, first = Account(name, seed), 0
    with tempfile.TemporaryDirectory() as folder:
        while (left := count - found.given) > 0:
            first = _until_it_ends(found, first, left, limit_s, Path(folder))
    return found


def _until_it_ends(found: Account, first: int, count: int, limit_s: float, folder: Path) -> int:
    """Give problems to one process; return the first that it has not looked at."""
    begun, ended = first - 1, "crashes"
    with _child(found, first, count, folder) as (process, answers):
        for line in _lines(answers, limit_s):
            if line is None:
                ended = "hangs"
                process.kill()
                continue
            answer = json.loads(line)
            if "begins" in answer:
                begun, ended = answer["begins"], "crashes"
            else:
                found.note(begun, answer)
                ended = ""
        code = process.wait()
    said = (folder / "err").read_text(errors="replace").strip().splitlines()[-1:]
    if begun < first:
        raise RuntimeError(f"{found.name} does not start: exit code {code} {' '.join(said)}")
    if ended or code:
        found.came[ended or "crashes"] += 1
        found.fault(begun, f"{ended or 'at the end'}: exit code {code} {' '.join(said)}")
    return begun + 1


@contextmanager
def _child(
    found: Account, first: int, count: int, folder: Path
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Start a process whose answers are read from a pipe, and whose stdout and stderr are files."""
    answers, writes = os.pipe()
    told = [found.name, found.seed, first, count, writes]
    command = [sys.executable, "-m", "benchmarks.hardening.solvers.child", *map(str, told)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    try:
        with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
            process = subprocess.Popen(
                command, stdout=out, stderr=err, pass_fds=[writes], cwd=ROOT, env=environment
            )
        os.close(writes)
        with process:
            yield process, answers
    finally:
        os.close(answers)


def _lines(answers: int, limit_s: float) -> Iterator[bytes | None]:
    """Yield whole lines until there are no more; None whenever none came for so long."""
    rest = b""
    while True:
        if not select.select([answers], [], [], limit_s)[0]:
            yield None
            continue
        some = os.read(answers, 65536)
        if not some:
            return
        *lines, rest = (rest + some).split(b"\n")
        yield from lines
