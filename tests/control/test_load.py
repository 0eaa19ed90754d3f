"""Loads and devices that the controller can use."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from streamplace.control.decisions import State
from streamplace.control.history import History, not_running
from streamplace.control.load import Load, Parts, load_of, surge
from streamplace.control.observation import Observation, Reading
from streamplace.control.settings import ControllerSettings
from tests.support.control import observed


def load(window: Observation, served_s: float | None = 1000.0) -> Load:
    return load_of(window, served_s, ControllerSettings())


def test_a_source_that_falls_behind_is_named_though_nothing_is_busy() -> None:
    """`decode` is the source: it reads 1,000 tuples/s, and 1,200 arrive."""
    found = load(observed(0.54, growth_s={"decode": 200.0}, offered_s=1000.0))
    assert found.state is State.LAGGING
    assert found.reason == (
        "decode falls behind: 1,200 tuples/s arrive and 1,000 tuples/s are read, so 200 tuples/s "
        "more wait; no other operator holds a source back, so more instances of others do not "
        "help, and more of decode (now 1) only if each has partitions of its own; the busiest "
        "instance, of decode, is busy 54% of the time"
    )


@pytest.mark.parametrize("busiest", [0.1, 0.54, 0.8])
def test_growth_without_backpressure_is_no_overload(busiest: float) -> None:
    """Above the target, too: the plan would give instances to what does not wait for them."""
    window = observed(busiest, growth_s={"decode": 200.0}, offered_s=1200.0)
    assert load(window).state is State.LAGGING


@pytest.mark.parametrize(("busiest", "backpressured"), [(0.9, 0.0), (0.54, 0.2)])
def test_growth_with_a_reason_is_overload(busiest: float, backpressured: float) -> None:
    window = observed(
        busiest, growth_s={"decode": 200.0}, offered_s=1200.0, backpressured=backpressured
    )
    assert load(window).state is State.OVERLOADED


def test_every_source_that_falls_behind_is_named() -> None:
    """The small one counts by its own rate, of which 40 of 1,040 tuples/s would be noise."""
    window = observed(0.54, growth_s={"decode": 200.0, "count": 40.0})
    small = replace(window.readings["count"], tuples_s=60.0)
    found = load(replace(window, readings={**window.readings, "count": small}))
    assert found.reason.startswith(
        "count falls behind: 100 tuples/s arrive and 60 tuples/s are read, so 40 tuples/s more "
        "wait; decode falls behind: 1,200 tuples/s arrive"
    )
    assert "more of count (now 1) or decode (now 1) only if" in found.reason


def test_few_tuples_that_wait_by_chance_are_no_lag() -> None:
    """At 0.1 tuples/s, 30 arrive in 5 min, and 10 more wait in most of such windows by chance."""
    for growth_s, state in ((10 / 300, State.STEADY), (40 / 300, State.LAGGING)):
        window = observed(0.54, growth_s={"decode": growth_s}, offered_s=0.1)
        assert load(window, 0.1).state is state


@pytest.mark.parametrize("growth_s", [40.0, 0.0, -500.0])
def test_noise_and_what_is_worked_off_are_no_lag(growth_s: float) -> None:
    assert load(observed(0.54, growth_s={"decode": growth_s})).state is State.STEADY


FULL = observed(1.0, offered_s=1300.0, read_s=1000.0)


def test_one_window_is_enough_where_an_instance_is_full_and_tuples_pile_up() -> None:
    found = load(FULL)
    assert (found.state, found.is_sure) == (State.OVERLOADED, True)
    assert found.reason == (
        "the busiest instance, of decode, is busy 100% of the time, above 85%, and 300 tuples/s "
        "more wait, for which one window is enough"
    )


def test_tuples_pile_up_in_buffers_too() -> None:
    count = replace(FULL.readings["count"], tuples_s=800.0, arriving_s=1000.0)
    window = replace(FULL, offered_s=1000.0, readings={**FULL.readings, "count": count})
    assert surge(window) == pytest.approx(200.0)


@pytest.mark.parametrize(
    "changes",
    [
        {"offered_s": 1080.0},
        {"offered_s": 500.0},
        {"offered_s": None},
        {"read_s": None},
        {"readings": observed(0.9).readings},
        {"offered_s": 2.0, "read_s": 1.5, "seconds": 60.0},
    ],
    ids=["noise", "backlog", "hidden", "unread", "not full", "few"],
)
def test_one_window_is_not_enough(changes: dict[str, Any]) -> None:
    """Of 2 tuples/s for a minute, 33 more than usual come by chance within three deviations."""
    assert surge(replace(FULL, **changes)) == 0.0


def test_what_piles_up_in_buffers_of_an_operator_that_is_not_busy() -> None:
    """As where it waits for a service outside."""
    window = observed(0.54)
    count = replace(window.readings["count"], tuples_s=600.0, arriving_s=1000.0)
    window = replace(window, readings={**window.readings, "count": count})
    found = load(window, served_s=600.0)
    assert found.state is State.LAGGING
    assert found.reason.startswith(
        "count falls behind: 1,000 tuples/s are sent to it and 600 tuples/s are processed"
    )


def test_an_uneven_operator_is_named_with_the_share_of_its_busiest_instance() -> None:
    window = observed(1.0, hosts={"decode": ("a", "b", "c", "d"), "count": ("a",)})
    uneven = replace(window.readings["decode"], shares=(0.05, 0.85, 0.05, 0.05))
    found = load(replace(window, readings={**window.readings, "decode": uneven}))
    assert found.state is State.OVERLOADED
    assert found.reason.endswith("above 85%, with 85% of the tuples of its 4 instances")


WINDOW = observed(0.6)


IDLE = Reading(0.0, 0.0, 0.0, 0.0, 1)


def test_instances_that_do_not_run_are_named() -> None:
    part = replace(WINDOW, readings={**WINDOW.readings, "decode": replace(IDLE, instances=3)})
    assert not_running(part) == "only 1 of 3 instances of decode run"
    gone = replace(WINDOW, devices=frozenset({"b"}))
    assert not_running(gone) == "'a' is gone, where instances of decode ran"


SETTINGS = ControllerSettings()


def test_what_is_read_follows_from_what_waits() -> None:
    history = History(SETTINGS)
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
    history = History(SETTINGS)
    assert history.add(observed(0.8, 10)).state is State.STEADY
    load = history.add(observed(0.8, 11, waiting=30_000.0))
    assert load.state is State.OVERLOADED
    assert "900 tuples/s of 1,000 tuples/s are carried, so more and more wait" in load.reason
    assert history.add(observed(0.8, 12, waiting=36_000.0)).state is State.STEADY, "noise"


def test_sources_that_hold_themselves_back_are_no_overload() -> None:
    history = History(SETTINGS)
    history.add(observed(0.6, 10))
    assert history.add(observed(0.6, 11, waiting=30_000.0)).state is State.STEADY


PART_S, HIGH = 60.0, ControllerSettings.high


def part(number: int, offered_s: float | None, busy: float = 0.6) -> Observation:
    window = observed(busy, offered_s=offered_s)
    return replace(window, at_s=number * PART_S, seconds=PART_S)


def rise_s2(rates: Sequence[float | None]) -> float:
    parts = Parts(HIGH)
    for number, rate in enumerate(rates):
        assert not parts.add(part(number, rate))
    return parts.rise_s2


@pytest.mark.parametrize(
    ("rates", "rise"),
    [
        ([100, 160, 220, 280], 1.0),
        ([900, 100, 160, 400, 460], 2.0),
        ([100, 160, 220], 0.0),
        ([100, 100, 350, 400], 0.0),
        ([160, 150, 400, 500], 0.0),
        ([160, 164, 350, 400], 0.0),
        ([500, 540, 1000, 1500], 0.0),
        ([0.1, 0.16, 0.22, 0.28], 0.0),
        ([100, 160, None, 220, 280], 0.0),
        ([None, 100, 160, 220, 280], 1.0),
    ],
    ids=["ramp", "mean", "short", "step", "fall", "noise", "step and noise", "few", "gap", "late"],
)
def test_a_rate_rises_on_if_it_did_several_times_in_a_row(
    rates: Sequence[float | None], rise: float
) -> None:
    assert rise_s2(rates) == pytest.approx(rise)


def test_a_part_without_measurements_begins_anew() -> None:
    parts = Parts(HIGH)
    for number, rate in enumerate([100, 160, 220, 280]):
        parts.add(part(number, rate))
    parts.add(replace(part(4, 340), missing=("the job was started anew",)))
    parts.add(part(5, 400))
    assert parts.rise_s2 == 0.0


def test_a_part_in_which_tuples_pile_up_is_enough() -> None:
    full = replace(observed(1.0, offered_s=1300.0), read_s=1000.0, seconds=PART_S)
    assert Parts(HIGH).add(full)
    assert not Parts(HIGH).add(replace(full, missing=("a",)))
    assert not Parts(HIGH).add(replace(full, read_s=1300.0))


def test_buffers_that_fill_are_enough_where_backpressure_hides_the_rate() -> None:
    """What is read is the least that is offered, and no rate that rises on."""
    full = observed(1.0, offered_s=1000.0, hidden="held back")
    count = replace(full.readings["count"], tuples_s=800.0, arriving_s=1000.0)
    filling = replace(full, read_s=1000.0, readings={**full.readings, "count": count})
    assert Parts(HIGH).add(replace(filling, seconds=PART_S))
    assert not Parts(HIGH).add(replace(full, read_s=1000.0, seconds=PART_S))
    parts = Parts(HIGH)
    for number, rate in enumerate([100, 160, 220, 280]):
        parts.add(replace(part(number, rate), hidden="held back"))
    assert parts.rise_s2 == 0.0


@pytest.mark.parametrize(("busy", "is_enough"), [(0.8, False), (0.9, True)])
def test_a_part_above_the_band_is_enough_where_the_rate_rises_on(
    busy: float, is_enough: bool
) -> None:
    parts = Parts(HIGH)
    found = [parts.add(part(k, rate, busy)) for k, rate in enumerate([100, 160, 220, 280])]
    assert found == [False] * 3 + [is_enough]


@pytest.mark.parametrize("spread", [0.0, 0.2])
@pytest.mark.parametrize("offered_s", [5.0, 200.0])
def test_rates_without_a_trend_hardly_ever_rise_on(offered_s: float, spread: float) -> None:
    """Of counts by Poisson's law of rates with a lognormal spread: at most one part in fifty."""
    rng = np.random.default_rng(0)
    rates = offered_s * rng.lognormal(0.0, spread, 5000) if spread else np.full(5000, offered_s)
    parts, risen = Parts(HIGH), 0
    for number, count in enumerate(rng.poisson(rates * PART_S)):
        parts.add(part(number, count / PART_S))
        risen += parts.rise_s2 > 0.0
    assert risen <= 100
