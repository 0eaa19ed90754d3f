"""Measurement of the memory of a process that works on a unit of a study."""

import pytest

from benchmarks.worker_memory import STUDIES, measured, study_of
from tests.support.studies import Squares


@pytest.mark.long
def test_a_unit_is_measured_until_it_ends() -> None:
    study = Squares(3)
    peak, ended = measured(study, study.plan().units[0], seconds=60.0)
    assert ended
    assert 50 < peak < 2000


@pytest.mark.long
def test_a_unit_that_fails_is_an_error() -> None:
    study = Squares(3, fails_at=0)
    with pytest.raises(RuntimeError, match="number 0: ended with exit code 1"):
        measured(study, study.plan().units[0], seconds=60.0)


@pytest.mark.long
@pytest.mark.parametrize("path", STUDIES.values())
def test_every_study_has_units(path: str) -> None:
    assert study_of(path).plan().units
