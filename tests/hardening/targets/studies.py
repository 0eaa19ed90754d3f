"""The readers of the files of a study's folder, and the use of what they return."""

from pathlib import Path

from streamplace.papers.ni2020.study.study import DreamStudy
from streamplace.papers.studies.run import (
    PLAN,
    RESULTS,
    Found,
    check_plan,
    outcome_of,
    read_results,
)
from tests.corpus import study_files
from tests.hardening.targets.consumers import use_result


def read_plan(folder: str) -> int:
    """Return the version of the plan in a folder of the study."""
    return check_plan(Path(folder) / PLAN, study_files.STUDY, study_files.plan().settings)


def read_found(folder: str) -> Found:
    """Return the results in a folder of the study."""
    units = [unit.key for unit in study_files.plan().units]
    return read_results(Path(folder) / RESULTS, units)[0]


def use_found(found: Found) -> None:
    """Make the tables of the study if no unit is missing."""
    plan = study_files.plan()
    if all(unit.key in found for unit in plan.units):
        use_result(outcome_of(DreamStudy(), plan, found, Path(RESULTS)).to_dict())
