"""Windows so far: their faults, rows of windows with the same load, and the largest rate."""

import json
from dataclasses import replace
from math import inf, nan
from typing import Any

import pytest

from streamplace.control.decisions import State
from streamplace.control.history import History, fault_of, not_running
from streamplace.control.observation import Observation, Reading
from streamplace.control.settings import ControllerSettings
from tests.support.control import WINDOW_S, observed

WINDOW = observed(0.6)


IDLE = Reading(0.0, 0.0, 0.0, 0.0, 1)


def test_a_whole_window_has_no_fault() -> None:
    assert fault_of(WINDOW, None) == ""
    assert fault_of(WINDOW, WINDOW.at_s - 1.0) == ""
    assert fault_of(replace(WINDOW, waiting=None), None) == ""
    assert fault_of(replace(observed(0.99), hidden="held back"), None) == ""
    assert not_running(WINDOW) == ""


@pytest.mark.parametrize(
    ("window", "fault"),
    [
        (replace(WINDOW, missing=("a", "b")), "a; b"),
        (replace(WINDOW, readings={}), "no operator was measured"),
        (replace(WINDOW, readings={"decode": IDLE}), "nothing was measured of 'count'"),
        (replace(WINDOW, offered_s=None), "the offered rate is unknown"),
        (replace(observed(0.9), hidden="backpressure hides it"), "backpressure hides it"),
        (replace(observed(1.0), hidden="never idle", offered_s=None), "never idle"),
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


SETTINGS = ControllerSettings()


def test_windows_with_the_same_load_are_a_row() -> None:
    history = History(SETTINGS)
    for count, window in enumerate(range(10, 13), start=1):
        assert history.add(observed(0.9, window)).state is State.OVERLOADED
        assert (history.count, history.since_s) == (count, 10 * WINDOW_S)
    history.add(observed(0.6, 13))
    assert (history.state, history.count, history.since_s) == (State.STEADY, 1, 13 * WINDOW_S)


@pytest.mark.parametrize(
    "changes",
    [{"started_s": 100.0}, {"hosts": {"decode": ("c",), "count": ("b",)}}, {"at_s": 12_000.0}],
)
def test_a_new_start_other_devices_and_a_gap_end_a_row(changes: dict[str, Any]) -> None:
    history = History(SETTINGS)
    history.add(observed(0.9, 10))
    history.add(replace(observed(0.9, 11), **changes))
    assert history.count == 1


def test_a_window_that_cannot_be_used_ends_a_row() -> None:
    history = History(SETTINGS)
    history.add(observed(0.9, 10))
    history.skip(observed(0.9, 11))
    history.add(observed(0.9, 12))
    assert (history.count, history.last_s) == (1, 13 * WINDOW_S)


def test_the_largest_rate_is_that_of_the_last_hour() -> None:
    history = History(SETTINGS)
    for window, rate in enumerate([900.0, 700.0] + [500.0] * 11):
        history.add(observed(0.2, window, offered_s=rate))
    assert history.largest_rate_s == 700.0
    history.add(observed(0.2, 13, offered_s=100.0))
    assert history.largest_rate_s == 500.0


def test_a_restored_history_is_the_same() -> None:
    history, again = History(SETTINGS), History(SETTINGS)
    assert json.loads(json.dumps(history.to_dict())) == history.to_dict()
    history.add(observed(0.9, 10, waiting=100.0))
    history.add(observed(0.9, 11, waiting=700.0))
    again.restore(json.loads(json.dumps(history.to_dict())))
    assert again.to_dict() == history.to_dict()
    for each in (history, again):
        each.add(observed(0.9, 12, waiting=900.0))
    assert again.to_dict() == history.to_dict()
