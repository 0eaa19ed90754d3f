"""The run of a study: its units on several processes, with results kept as they come."""

import time
from contextlib import closing
from functools import partial
from pathlib import Path

from streamplace.errors import within
from streamplace.execution.backends import LOCAL, Backend
from streamplace.execution.parallel import each_when_known
from streamplace.execution.progress import track
from streamplace.files.folder_lock import held
from streamplace.studies.folder import StudyFolder
from streamplace.studies.progress import TimeLeft
from streamplace.studies.study import Outcome, Row, Study, Unit


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
