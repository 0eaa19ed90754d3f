"""The run of a study: its units on several processes, with results kept as they come."""

import sys
import time
from contextlib import closing
from functools import partial
from pathlib import Path

from streamplace.errors import within
from streamplace.execution.backends import LOCAL, Backend
from streamplace.execution.parallel import each_when_known
from streamplace.execution.progress import is_quiet, track
from streamplace.files.folder_lock import held
from streamplace.studies.folder import StudyFolder
from streamplace.studies.study import Outcome, Row, Study, Unit
from streamplace.util.text import counted

EVERY_S = 60.0
HOUR_S, MINUTE_S = 3600, 60


class TimeLeft:
    """Progress over the units of a study; on a terminal, a progress bar shows it instead.

    Parameters
    ----------
    waiting, total
        The number of units to run, and of all units; the others have results already.
    """

    def __init__(self, waiting: int, total: int) -> None:
        self._waiting, self._total, self._done = waiting, total, 0
        self._start = self._printed = time.monotonic()
        if waiting < total:
            self._print(f"resuming: {total - waiting:,} of {counted(total, 'unit')} are done")

    def advance(self) -> None:
        """Count one unit; print a line if the last one is a minute old."""
        self._done += 1
        now = time.monotonic()
        if now - self._printed < EVERY_S or sys.stderr.isatty():
            return
        self._printed = now
        left = (now - self._start) / self._done * (self._waiting - self._done)
        done = self._total - self._waiting + self._done
        self._print(f"{done:,} of {counted(self._total, 'unit')}, about {duration(left)} left")

    def _print(self, text: str) -> None:
        if not is_quiet():
            sys.stderr.write(f"streamplace: {text}\n")
            sys.stderr.flush()


def duration(seconds: float) -> str:
    """Return a duration as text, in hours and minutes, or in seconds."""
    whole = round(seconds)
    if whole < MINUTE_S:
        return f"{whole} s"
    hours, minutes = divmod(round(whole / MINUTE_S), MINUTE_S)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def run_study(
    study: Study,
    folder: str | Path,
    *,
    pictures: str | None = "png",
    jobs: int | None = None,
    backend: Backend = LOCAL,
) -> Outcome:
    """Run the units of a study that have no results in the folder, and write the outcome there.

    A run that is interrupted or killed loses only the units in progress; on a cluster, those of the
    current block (see `each_when_known`). A run that ends without any result leaves no plan.
    Results do not depend on the number of processes or the backend.

    Parameters
    ----------
    folder
        Where results are kept; created if missing.
    pictures
        ``png``, ``svg`` or ``pdf``; None: no pictures.
    jobs
        Number of processes; None: one per processor.

    Raises
    ------
    FormatError
        If the folder holds the results of another study, plan or version, or cannot be written.
    BackendError
        If the backend fails.
    StreamplaceError
        If a unit has no result; the message names it.
    """
    with held(folder) as path:
        plan = study.plan()
        results = StudyFolder(path, study.name, plan)
        waiting = [unit for unit in plan.units if unit.key not in results.done]
        work = partial(_timed_unit, study)
        progress = TimeLeft(len(waiting), len(plan.units))
        with (
            closing(results),
            closing(each_when_known(work, waiting, jobs, backend)) as found,
        ):
            for number, (rows, seconds) in track(found, len(waiting), study.name):
                results.add(waiting[number].key, rows, seconds)
                progress.advance()
        outcome = results.outcome(study)
        results.write(outcome, pictures)
    return outcome


def _timed_unit(study: Study, unit: Unit) -> tuple[list[Row], float]:
    start = time.process_time()
    with within(unit.key):
        rows = study.run(unit)
    return rows, time.process_time() - start
