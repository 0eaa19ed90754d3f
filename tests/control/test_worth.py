"""What plans gain and cost, by the formulas of Flink's autoscaler and of the rules."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamplace.control.plans import Deployment, Plan
from streamplace.control.settings import ControllerSettings
from streamplace.control.worth import catch_up_s, planned_rate, worth_of_less, worth_of_more
from tests.support.control import observed

SETTINGS = ControllerSettings(delayed_tuple_price=0.01)
PLAN = Plan(Deployment({"decode": ("a",)}), 0.0, 2000.0, 800.0, 1.0, 3.0)
RATES, WAITING, DOWNTIMES = st.floats(1.0, 1e6), st.floats(0.0, 1e9), st.floats(0.1, 1e3)


@given(RATES, WAITING, DOWNTIMES)
def test_the_planned_capacity_is_that_of_the_autoscaler(
    rate_s: float, waiting: float, downtime_s: float
) -> None:
    """Target = lag / catch-up + rate * restart / catch-up + rate / utilisation."""
    rate = planned_rate(rate_s, waiting, downtime_s, SETTINGS)
    target = waiting / SETTINGS.catch_up_s + rate_s * downtime_s / SETTINGS.catch_up_s
    assert rate / SETTINGS.target == pytest.approx(target + rate_s / SETTINGS.target)


@given(RATES, WAITING, DOWNTIMES)
def test_a_plan_for_that_rate_catches_up_in_time(
    rate_s: float, waiting: float, downtime_s: float
) -> None:
    plan = replace(
        PLAN, carries_s=planned_rate(rate_s, waiting, downtime_s, SETTINGS) / SETTINGS.target
    )
    seconds = catch_up_s(plan, rate_s, waiting, downtime_s)
    assert seconds <= SETTINGS.catch_up_s * (1 + 1e-9)
    left = waiting + rate_s * (downtime_s + seconds) - plan.carries_s * seconds
    assert left == pytest.approx(0.0, abs=1e-6 * plan.carries_s * seconds)


def test_more_may_gain_up_to_all_that_the_plan_carries_where_the_rate_is_hidden() -> None:
    window = observed(1.0, offered_s=800.0, hidden="backpressure hides it")
    worth = worth_of_more(window, PLAN, 800.0, 60.0, SETTINGS)
    assert (worth.gain, worth.price) == (1200.0 * 3600.0, 800.0 * 60.0)
    assert worth.text.startswith(
        "800 tuples/s are carried, and more may be offered (backpressure hides it), so up to"
    )


def test_without_spare_capacity_nothing_is_caught_up() -> None:
    assert catch_up_s(PLAN, 2000.0, 0.0, 1.0) == float("inf")


@pytest.mark.parametrize(
    ("offered_s", "served_s", "gain"),
    [
        (1000.0, 1000.0, 200.0 * 3600.0),
        (1000.0, None, 200.0 * 3600.0),
        (1000.0, 500.0, 500.0 * 3600.0),
        (700.0, 700.0, 0.0),
        (700.0, 500.0, 200.0 * 3600.0),
    ],
)
def test_more_gains_what_is_not_carried(
    offered_s: float, served_s: float | None, gain: float
) -> None:
    """What the job reads limits what it carries only where it reads less than it is offered."""
    window = observed(1.0, offered_s=offered_s)
    worth = worth_of_more(window, PLAN, served_s, 30.0, SETTINGS)
    assert worth.gain == pytest.approx(gain)
    assert worth.price == pytest.approx(offered_s * 30.0)
    assert worth.unit == "tuples"
    assert worth.pays == (gain > offered_s * 30.0)


def test_less_gains_what_is_freed() -> None:
    worth = worth_of_less(PLAN, 500.0, 10.0, 30.0, SETTINGS)
    assert worth.gain == pytest.approx(2.0 * 3600.0)
    assert worth.price == pytest.approx(500.0 * 40.0 * 0.01)
    assert worth.pays
    assert worth.text == (
        "devices at a price of 2 per second are freed, 7,200 within 60 min, and 20,000 tuples are "
        "delayed, at 200"
    )
    dearer = replace(SETTINGS, delayed_tuple_price=1.0)
    assert not worth_of_less(PLAN, 500.0, 10.0, 30.0, dearer).pays
