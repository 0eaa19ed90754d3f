"""The windows so far: what agrees, since when, and what the sources read."""

import json
from dataclasses import replace
from typing import Any

import pytest

from streamplace.control.decisions import State
from streamplace.control.history import History
from streamplace.control.rules import Rules
from tests.support.control import WINDOW_S, observed

RULES = Rules()


def test_windows_with_the_same_load_are_a_row() -> None:
    history = History(RULES)
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
    history = History(RULES)
    history.add(observed(0.9, 10))
    history.add(replace(observed(0.9, 11), **changes))
    assert history.count == 1


def test_a_window_that_cannot_be_used_ends_a_row() -> None:
    history = History(RULES)
    history.add(observed(0.9, 10))
    history.skip(observed(0.9, 11))
    history.add(observed(0.9, 12))
    assert (history.count, history.last_s) == (1, 13 * WINDOW_S)


def test_the_largest_rate_is_that_of_the_last_hour() -> None:
    history = History(RULES)
    for window, rate in enumerate([900.0, 700.0] + [500.0] * 11):
        history.add(observed(0.2, window, offered_s=rate))
    assert history.largest_rate_s == 700.0
    history.add(observed(0.2, 13, offered_s=100.0))
    assert history.largest_rate_s == 500.0


def test_what_is_read_follows_from_what_waits() -> None:
    history = History(RULES)
    history.add(observed(0.9, 10, waiting=500.0))
    assert history.served_s is None, "it is unknown how many waited before"
    history.add(observed(0.9, 11, waiting=30_500.0))
    assert history.served_s == pytest.approx(900.0)
    history.skip(observed(0.9, 12, waiting=10_500.0, offered_s=None))
    history.add(observed(0.9, 13, waiting=0.0))
    assert history.served_s == pytest.approx(1035.0), "a backlog is worked off"
    history.add(observed(0.9, 14, waiting=None))
    assert history.served_s == 1000.0, "nothing is known to wait"
    history.add(observed(0.9, 15, waiting=0.0, read_s=123.0))
    assert history.served_s == 123.0


def test_tuples_that_wait_more_and_more_are_an_overload() -> None:
    history = History(RULES)
    assert history.add(observed(0.8, 10)).state is State.STEADY
    load = history.add(observed(0.8, 11, waiting=30_000.0))
    assert load.state is State.OVERLOADED
    assert "900 tuples/s of 1,000 tuples/s are carried, so more and more wait" in load.reason
    assert history.add(observed(0.8, 12, waiting=36_000.0)).state is State.STEADY, "noise"


def test_sources_that_hold_themselves_back_are_no_overload() -> None:
    history = History(RULES)
    history.add(observed(0.6, 10))
    assert history.add(observed(0.6, 11, waiting=30_000.0)).state is State.STEADY


def test_a_restored_history_is_the_same() -> None:
    history, again = History(RULES), History(RULES)
    assert json.loads(json.dumps(history.to_dict())) == history.to_dict()
    history.add(observed(0.9, 10, waiting=100.0))
    history.add(observed(0.9, 11, waiting=700.0))
    again.restore(json.loads(json.dumps(history.to_dict())))
    assert again.to_dict() == history.to_dict()
    for each in (history, again):
        each.add(observed(0.9, 12, waiting=900.0))
    assert again.to_dict() == history.to_dict()
