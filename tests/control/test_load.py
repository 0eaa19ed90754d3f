"""The load of single windows, and its reasons in words."""

from dataclasses import replace

import pytest

from streamplace.control.decisions import State
from streamplace.control.load import Load, load_of
from streamplace.control.observation import Observation
from streamplace.control.rules import Rules
from tests.support.control import observed

GROWS = {"decode": 40.0}


def load(window: Observation, served_s: float | None = 1000.0) -> Load:
    return load_of(window, served_s, Rules())


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
