"""Windows that are, and are not, a ground for decisions."""

from dataclasses import replace
from math import inf, nan

import pytest

from streamplace.control.observation import Observation, Reading
from streamplace.control.usable import fault_of, not_running
from tests.support.control import observed

WINDOW = observed(0.6)
IDLE = Reading(0.0, 0.0, 0.0, 0.0, 1)


def test_a_whole_window_has_no_fault() -> None:
    assert fault_of(WINDOW, None) == ""
    assert fault_of(WINDOW, WINDOW.at_s - 1.0) == ""
    assert fault_of(replace(WINDOW, waiting=None), None) == ""
    assert not_running(WINDOW) == ""


@pytest.mark.parametrize(
    ("window", "fault"),
    [
        (replace(WINDOW, missing=("a", "b")), "a; b"),
        (replace(WINDOW, readings={}), "no operator was measured"),
        (replace(WINDOW, readings={"decode": IDLE}), "nothing was measured of 'count'"),
        (replace(WINDOW, offered_s=None), "the offered rate is unknown"),
        (replace(WINDOW, offered_s=inf), "rates or times of the window are not numbers"),
        (replace(WINDOW, waiting=-1.0), "rates or times of the window are not numbers"),
        (replace(WINDOW, read_s=nan), "rates or times of the window are not numbers"),
        (replace(WINDOW, seconds=0.0), "rates or times of the window are not numbers"),
        (observed(nan), "the measurements of count are not numbers of at least 0"),
        (observed(-0.1), "the measurements of count are not numbers of at least 0"),
    ],
)
def test_faults_are_named(window: Observation, fault: str) -> None:
    assert fault_of(window, None).startswith(fault)


@pytest.mark.parametrize("last_s", [WINDOW.at_s, WINDOW.at_s + 100.0])
def test_stale_measurements_are_named(last_s: float) -> None:
    assert fault_of(WINDOW, last_s).startswith("the measurements are stale: those of ")


def test_instances_that_do_not_run_are_named() -> None:
    part = replace(WINDOW, readings={**WINDOW.readings, "decode": replace(IDLE, instances=3)})
    assert not_running(part) == "only 1 of 3 instances of decode run"
    gone = replace(WINDOW, devices=frozenset({"b"}))
    assert not_running(gone) == "'a' is gone, where instances of decode ran"
