"""Two processes that write to the same file or folder at the same time."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from benchmarks.hardening.campaigns.writers.attempts import Attempt, make_attempts
from benchmarks.hardening.campaigns.writers.training_runs import LIMIT_S, parameter_hash
from benchmarks.hardening.campaigns.writers.writing_command import WritingCommand
from benchmarks.hardening.harness.forks import Ended, Forks, temporaries
from benchmarks.hardening.harness.rows import Row

REFUSED = "another run of streamplace is writing into this folder"
ENDED = "already contains a run; see --resume"  # if the other process has already ended
TRIES = 40  # attempts until two writes coincide, which depends on the machine
LOOK_S = 0.0002  # seconds between two looks at the folder


@dataclass(frozen=True)
class ConcurrentRuns:
    """The outcomes of two processes that were started together.

    Parameters
    ----------
    most_temporaries
        The largest number of temporary files that were in the folder at the same time.
    """

    ended: list[Ended]
    most_temporaries: int


def one_folder(
    forks: tuple[Forks, Forks], commands: list[WritingCommand], expected: str, count: int
) -> Row:
    """Start a command twice with the same folder: one process succeeds, the other is refused."""

    _load_imports(forks)

    def attempt(command: WritingCommand) -> Attempt:
        command.restore()
        both = run_together(forks, command.folder, command.words, command.words).ended
        won = [ended for ended in both if ended.code == 0]
        lost = [ended for ended in both if ended.code == 2]
        faults = command.faults()
        if len(won) != 1 or len(lost) != 1 or not command.is_complete():
            faults.append(f"exits {[ended.code for ended in both]}: {[e.err for e in both]}")
        elif not faults and ENDED in lost[0].err:
            return Attempt("one after the other", faults, counts=False)
        elif lost[0].err.count("\n") != 1 or REFUSED not in lost[0].err:
            faults.append(f"prints {lost[0].err!r}")
        elif command.name == "train" and parameter_hash(won[0]) != expected:
            faults.append("has other parameters")
        return Attempt("two at once", faults)

    faults, apart = make_attempts(commands, count, attempt, TRIES)
    figures = {"not counted: one after the other": str(apart)}
    return Row(
        "two processes into one folder",
        count,
        {"without exactly one success": len(faults)},
        figures,
        faults,
    )


def one_file(
    forks: tuple[Forks, Forks], commands: list[WritingCommand], count: int, rng: random.Random
) -> Row:
    """Let two processes write the same file, which must end up with the content of one of them.

    An attempt counts if both processes had temporary files at the same moment.
    """
    old_left = new_left = 0
    _load_imports(forks)

    def attempt(command: WritingCommand) -> Attempt:
        nonlocal old_left, new_left
        command.restore()
        jobs = [command.words, command.old_words]
        rng.shuffle(jobs)
        both = run_together(forks, command.folder, *jobs)
        faults = [f"exit {one.code}: {one.err!r}" for one in both.ended if one.code]
        has_new = command.is_complete()
        if not has_new:
            faults += command.faults()
        if remaining := temporaries(command.folder):
            faults.append(f"leaves {remaining}")
        coincided = both.most_temporaries > 1
        old_left += coincided and not has_new
        new_left += coincided and has_new
        return Attempt("two at once", faults, coincided)

    faults, apart = make_attempts(commands, count, attempt, TRIES)
    figures = {
        "left the new content": str(new_left),
        "left the old content": str(old_left),
        "not counted: one after the other": str(apart),
    }
    return Row("two processes into one file", count, {"with faults": len(faults)}, figures, faults)


def run_together(
    forks: tuple[Forks, Forks], folder: Path, words: tuple[str, ...], others: tuple[str, ...]
) -> ConcurrentRuns:
    """Run two commands at the same time, both of which write into a folder."""
    ended_event, peak = threading.Event(), [0]

    def run(one: Forks, words: tuple[str, ...]) -> Ended:
        return one.run(*words, limit_s=LIMIT_S)

    def watch() -> None:
        while not ended_event.wait(LOOK_S):
            peak[0] = max(peak[0], len(temporaries(folder)))

    with ThreadPoolExecutor(3) as pool:
        watching = pool.submit(watch)
        try:
            ended = list(pool.map(run, forks, (words, others)))
        finally:
            ended_event.set()
        watching.result()
    return ConcurrentRuns(ended, peak[0])


def _load_imports(forks: tuple[Forks, Forks]) -> None:
    """Wait until both fork servers have loaded their imports, so that commands start together."""
    for one in forks:
        one.run("--version")
