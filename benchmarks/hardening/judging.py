"""What is wrong with how a command ended that was told a bad file."""

import json
import os
import re
import signal
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from benchmarks.hardening.forks import Ended
from benchmarks.hardening.limits import most_bytes, told_bytes
from benchmarks.hardening.places import Case
from benchmarks.hardening.rows import Row
from streamplace.errors import StreamplaceError
from streamplace.problem.objective import MODELS
from streamplace.training.config import read_config
from streamplace.util.text import printable

CONFIG = "config.json"  # which training writes when it begins

HANG_S = 1.0  # of CPU time, or asleep, where a file is refused
WORK_S = 10.0  # where it is read there is work to do
GROUP = "command lines with bad files"
SHOWN = 40  # letters of a long name that a message shows at least
UNREAD, NOT_NAMED, EXIT_1 = "good files refused", "not named", "exit 1"
WRONG = (
    *("tracebacks", "unclear messages", NOT_NAMED, "hangs", "over 300 MB", "files left"),
    *("bad output", EXIT_1, UNREAD),
)
FAILED, REFUSED = 1, 2
WORKS = ("place", "simulate", "compare", "plan", "train")
"""Commands whose work may fail on what is read well."""
FAILURES = re.compile(
    r"found no placement that obeys|no one device may run every operator|METIS failed: "
    rf"|: ({'|'.join(MODELS)}): "
    r"|is not finite|gradients in a row were not finite"
)
"""What is said of that with exit code 1: no placement is found, no score, no policy."""
NO_MEMORY = "streamplace: out of memory"  # of a policy as large as a config says


@dataclass
class Seen:
    """What was seen of the commands of one reader.

    Parameters
    ----------
    torch
        Whether they load it.
    good
        How many good files they were told before, to see that it is the bad one which is refused.
    longest
        Seconds of CPU time, by whether a file was refused.
    """

    torch: bool
    good: int = 0
    tried: int = 0
    codes: Counter[int] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    longest: dict[bool, float] = field(default_factory=lambda: {True: 0.0, False: 0.0})
    peak_bytes: int = 0

    def judge_good(self, which: str, ended: Ended) -> None:
        """Count a good file that is refused."""
        self.good += 1
        if ended.code:
            self._blame(UNREAD, which, ended, [])

    def judge(self, which: str, case: Case, ended: Ended) -> None:
        """Count what is wrong with how a command ended."""
        left = case.left()
        self.tried += 1
        self.codes[0 if was_training(case, ended, left) else ended.code] += 1
        refused = ended.code == REFUSED
        if not has_begun(case, ended, left):
            self.peak_bytes = max(self.peak_bytes, ended.peak_bytes)
            self.longest[refused] = max(self.longest[refused], ended.cpu_seconds)
        for what in faults_of(case, ended, left, self.torch):
            self._blame(what, which, ended, left)

    def _blame(self, what: str, which: str, ended: Ended, left: list[str]) -> None:
        self.wrong[what] += 1
        said = " ".join((ended.err or ended.out).split())[-300:]
        used = f"{ended.cpu_seconds:.2f} s, {ended.asleep_seconds:.2f} s asleep"
        used += f", {ended.peak_bytes:,} bytes, left {left}"
        self.faults.append(f"{which}: {what}: exit {ended.code}, {used}: {said}")

    def row(self, what: str) -> Row:
        """Return the row of the table."""
        figures = {
            "refused": f"{self.codes[REFUSED]:,}",
            "read as valid": f"{self.codes[0]:,}",
            "failed with exit 1": f"{self.codes[FAILED]:,}",
            "good files read": f"{self.good - self.wrong[UNREAD]:,}",
            "longest refusal": f"{self.longest[True]:.2f} s of CPU",
            "longest success": f"{self.longest[False]:.2f} s of CPU",
            "memory": told_bytes(self.peak_bytes, self.torch),
        }
        wrong = {**dict.fromkeys(WRONG, 0), **self.wrong}
        return Row(what, self.tried, wrong, figures, self.faults, GROUP)


def faults_of(case: Case, ended: Ended, left: list[str], torch: bool = False) -> list[str]:
    """Return what is wrong with how a command ended on a bad file.

    Parameters
    ----------
    left
        The files that it has left behind.
    """
    if was_training(case, ended, left):
        return []
    found, begun = [], has_begun(case, ended, left)
    lines, refused = ended.err.splitlines(), ended.code == REFUSED
    if ended.code not in (0, FAILED, REFUSED) or _is_traceback(ended.err):
        found.append("tracebacks")
    elif ended.code and not (len(lines) == 1 and lines[0].startswith("streamplace: ")):
        found.append("unclear messages")
    elif (refused or (ended.code and case.command.of_server)) and not is_named(case.bad, lines[0]):
        found.append(NOT_NAMED)
    if ended.code == FAILED and not (lines and may_fail(case, lines[0], begun)):
        found.append(EXIT_1)
    limit_s = WORK_S if begun or not ended.code else HANG_S
    if ended.hung or max(ended.cpu_seconds, ended.asleep_seconds) > limit_s:
        found.append("hangs")
    if ended.peak_bytes > most_bytes(torch) and not begun:
        found.append("over 300 MB")
    if (refused and (left or ended.out)) or (ended.code == FAILED and _unsaid(case, left, lines)):
        found.append("files left")
    if ended.code == 0 and ended.out[:1] in ("{", "[") and not _is_json(ended.out):
        found.append("bad output")
    return found


def may_fail(case: Case, line: str, begun: bool) -> bool:
    """Whether exit code 1 is right where a command says this: its work failed, not its reading."""
    if case.command.of_server:
        return True  # it is asked for the address besides
    if begun and line == NO_MEMORY:
        return True
    return case.command.words[0] in WORKS and FAILURES.search(line) is not None


def has_begun(case: Case, ended: Ended, left: list[str]) -> bool:
    """Whether a bad config was read as valid, and so torch loaded.

    What is valid may still be refused: for graphs, or a run, that it does not fit.
    """
    if not case.command.trains:
        return False
    if ended.code == 0 or CONFIG in left:
        return True
    if case.closed or not os.path.isfile(case.bad):  # not so for one too long
        return False
    try:
        read_config(case.bad)
    except StreamplaceError:
        return False
    return True


def _unsaid(case: Case, left: list[str], lines: list[str]) -> list[str]:
    """Return the files left by what failed that are neither a run's nor told."""
    if case.command.trains:
        return []
    return [name for name in left if name not in " ".join(lines)]


def was_training(case: Case, ended: Ended, left: list[str]) -> bool:
    """Whether a bad config was read as valid, and was stopped while it was trained by."""
    stopped = ended.code == -signal.SIGKILL and not ended.hung
    return case.command.trains and stopped and CONFIG in left


def is_named(bad: str, line: str) -> bool:
    """Whether a line names what a command was told, or as much of that as it shows."""
    told = printable(" ".join(bad.split()))
    names = (told, repr(bad)[1:-1], told[:SHOWN] if len(told) > 2 * SHOWN else told)
    return any(name in line for name in names)


def _is_traceback(err: str) -> bool:
    return any(word in err for word in ("Traceback", "Warning", "Exception ignored"))


def _is_json(text: str) -> bool:
    def refuse(word: str) -> Any:
        raise ValueError(word)

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        return False
    return True
