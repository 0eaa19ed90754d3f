"""Assessment of how commands end after reading a bad file."""

import json
import os
import re
import signal
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from benchmarks.hardening.campaigns.command_line.cases import Case
from benchmarks.hardening.harness.forks import Ended
from benchmarks.hardening.harness.memory_limits import memory_limit, memory_text
from benchmarks.hardening.harness.rows import Row
from streamplace.errors import StreamplaceError
from streamplace.problem.objective import MODELS
from streamplace.training.config import read_config
from streamplace.util.text import printable

CONFIG = "config.json"  # training writes it when it starts

HANG_S = 1.0  # longest CPU time, and longest sleep, of a command that refuses the file
WORK_S = 10.0  # the same for a command that reads the file as valid and continues
GROUP = "command lines with bad files"
SHOWN = 40  # characters of a long name that a message must show at least
UNREAD, NOT_NAMED, EXIT_1 = "valid files refused", "file not named", "exit 1"
WRONG = (
    *("tracebacks", "unclear messages", NOT_NAMED, "hangs", "over 300 MB", "left files"),
    *("bad output", EXIT_1, UNREAD),
)
"""Kinds of faults; "exit 1" is exit code 1 without a message that justifies it."""
FAILED, REFUSED = 1, 2
WORKS = ("place", "simulate", "compare", "plan", "train")
"""Commands that may fail although their input is valid."""
FAILURES = re.compile(
    r"found no placement that obeys|no single device may run every operator|METIS failed: "
    rf"|: ({'|'.join(MODELS)}): "
    r"|is not finite|gradients in a row were not finite"
)
"""The messages of such failures, which have exit code 1: no placement, no score, no policy."""
NO_MEMORY = "streamplace: out of memory"  # justified: a config may define a policy of any size


@dataclass
class Verdicts:
    """Counts of how the commands of one reader ended.

    Parameters
    ----------
    torch
        Whether the commands load torch.
    timed
        Whether the CPU time and sleep of a command are limited.
    good
        The number of valid files that the commands were run on.
    longest
        The longest CPU time in seconds, by whether the file was refused.
    """

    torch: bool
    timed: bool = True
    good: int = 0
    tried: int = 0
    codes: Counter[int] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    longest: dict[bool, float] = field(default_factory=lambda: {True: 0.0, False: 0.0})
    peak_bytes: int = 0

    def judge_good(self, which: str, ended: Ended) -> None:
        """Count a valid file, and a fault if it was refused."""
        self.good += 1
        if ended.code:
            self._blame(UNREAD, which, ended, [])

    def judge(self, which: str, case: Case, ended: Ended) -> None:
        """Count a bad file, and the faults in how its command ended."""
        added = case.added_files()
        self.tried += 1
        self.codes[0 if was_killed_in_training(case, ended, added) else ended.code] += 1
        refused = ended.code == REFUSED
        if not config_was_valid(case, ended, added):
            self.peak_bytes = max(self.peak_bytes, ended.peak_bytes)
            self.longest[refused] = max(self.longest[refused], ended.cpu_seconds)
        for what in faults_of(case, ended, added, self.torch, timed=self.timed):
            self._blame(what, which, ended, added)

    def _blame(self, what: str, which: str, ended: Ended, added: list[str]) -> None:
        self.wrong[what] += 1
        message = " ".join((ended.err or ended.out).split())[-300:]
        used = f"{ended.cpu_seconds:.2f} s, {ended.asleep_seconds:.2f} s asleep"
        used += f", {ended.peak_bytes:,} bytes, added {added}"
        self.faults.append(f"{which}: {what}: exit {ended.code}, {used}: {message}")

    def row(self, what: str) -> Row:
        """Return the row of the table."""
        figures = {
            "refused": f"{self.codes[REFUSED]:,}",
            "read as valid": f"{self.codes[0]:,}",
            "failed with exit 1": f"{self.codes[FAILED]:,}",
            "valid files read": f"{self.good - self.wrong[UNREAD]:,}",
            "longest refusal": f"{self.longest[True]:.2f} s of CPU",
            "longest success": f"{self.longest[False]:.2f} s of CPU",
            "memory": memory_text(self.peak_bytes, self.torch),
        }
        wrong = {**dict.fromkeys(WRONG, 0), **self.wrong}
        return Row(what, self.tried, wrong, figures, self.faults, GROUP)


def faults_of(
    case: Case, ended: Ended, added: list[str], torch: bool = False, *, timed: bool = True
) -> list[str]:
    """Return the faults in how a command with a bad file ended.

    Parameters
    ----------
    added
        The names of the files that it added to its folder.
    torch
        Whether the command loads torch.
    timed
        Whether its CPU time and sleep are limited; a killed command is a fault in any case.
    """
    if was_killed_in_training(case, ended, added):
        return []
    faults, config_valid = [], config_was_valid(case, ended, added)
    lines, refused = ended.err.splitlines(), ended.code == REFUSED
    if ended.code not in (0, FAILED, REFUSED) or _is_traceback(ended.err):
        faults.append("tracebacks")
    elif ended.code and not (len(lines) == 1 and lines[0].startswith("streamplace: ")):
        faults.append("unclear messages")
    elif (refused or (ended.code and case.command.reads_server)) and not any(
        is_named(file, lines[0]) for file in (case.bad, *_unsuitable(case, refused))
    ):
        faults.append(NOT_NAMED)
    if ended.code == FAILED and not (lines and may_fail(case, lines[0], config_valid)):
        faults.append(EXIT_1)
    limit_s = WORK_S if config_valid or not ended.code else HANG_S
    too_long = timed and max(ended.cpu_seconds, ended.asleep_seconds) > limit_s
    if ended.hung or too_long:
        faults.append("hangs")
    if ended.peak_bytes > memory_limit(torch) and not config_valid:
        faults.append("over 300 MB")
    failed = ended.code == FAILED
    if (refused and (added or ended.out)) or (failed and _unnamed_files(case, added, lines)):
        faults.append("left files")
    if ended.code == 0 and ended.out[:1] in ("{", "[") and not _is_json(ended.out):
        faults.append("bad output")
    return faults


def _unsuitable(case: Case, refused: bool) -> list[str]:
    """Return the files that a server's answers may make unsuitable, so that a refusal names one."""
    if not (refused and case.command.reads_server):
        return []
    return [word for word in case.words if word.endswith(".json") and os.path.isfile(word)]


def may_fail(case: Case, line: str, config_valid: bool) -> bool:
    """Return whether a message justifies exit code 1: the work failed, not the reading."""
    if case.command.reads_server:
        return True  # whether it names the address is checked elsewhere
    if config_valid and line == NO_MEMORY:
        return True
    return case.command.words[0] in WORKS and FAILURES.search(line) is not None


def config_was_valid(case: Case, ended: Ended, added: list[str]) -> bool:
    """Return whether a mutated config was read as valid, so that torch was loaded.

    A valid config may still be refused because it does not fit the graphs or the run.
    """
    if not case.command.trains:
        return False
    if ended.code == 0 or CONFIG in added:
        return True
    if case.closed or not os.path.isfile(case.bad):  # False if the name is too long
        return False
    try:
        read_config(case.bad)
    except StreamplaceError:
        return False
    return True


def _unnamed_files(case: Case, added: list[str], lines: list[str]) -> list[str]:
    """Return the files that a failed command added but did not name; training may add any."""
    if case.command.trains:
        return []
    return [name for name in added if name not in " ".join(lines)]


def was_killed_in_training(case: Case, ended: Ended, added: list[str]) -> bool:
    """Return whether a mutated config was valid, so that its training was killed on purpose."""
    stopped = ended.code == -signal.SIGKILL and not ended.hung
    return case.command.trains and stopped and CONFIG in added


def is_named(bad: str, line: str) -> bool:
    """Return whether a line names the bad file, or the beginning of a long name."""
    shown = printable(" ".join(bad.split()))
    names = (
        shown,
        repr(bad)[1:-1],
        shown[:SHOWN] if len(shown) > 2 * SHOWN else shown,
    )
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
