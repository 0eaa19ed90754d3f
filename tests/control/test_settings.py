"""Settings of the controller: how often it acts, and for how much."""

import json
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamplace.control.attempts import PastActions
from streamplace.control.settings import DURATION, ControllerSettings
from streamplace.errors import UsageError
from streamplace.util.settings import KIND


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"low": 0.7}, "band: must be 0 < low < target < high <= 1 (got 0.7, 0.7, 0.85)"),
        ({"high": 1.1}, "band: must be"),
        ({"most_scale_down": 0.0}, "most_scale_down: must be above 0 and at most 1 (got 0)"),
        ({"rollback_below": 1.5}, "rollback_below: must be above 0 and at most 1 (got 1.5)"),
        ({"window_s": 0.0}, "window_s: must be above 0 and at most 100,000,000 s (got 0)"),
        ({"window_s": 1e300}, "window_s: must be above 0 and at most 100,000,000 s (got 1e+300)"),
        ({"cool_down_s": float("nan")}, "cool_down_s: must be above 0 and at most 100,000,000 s"),
        ({"machine_price": -1.0}, "machine_price: must be 0 to 1e+15 (got -1)"),
        ({"delayed_tuple_price": 1e300}, "delayed_tuple_price: must be 0 to 1e+15 (got 1e+300)"),
        ({"agreeing": 0}, "agreeing: must be at least 1 (got 0)"),
        ({"actions_per_day": 0}, "actions_per_day: must be at least 1 (got 0)"),
    ],
)
def test_values_out_of_range_are_refused(changes: dict[str, float], fault: str) -> None:
    with pytest.raises(UsageError) as caught:
        ControllerSettings(**changes)  # type: ignore[arg-type]
    assert fault in str(caught.value)


def test_all_durations_are_scaled_except_those_of_flink() -> None:
    settings, short = ControllerSettings(), ControllerSettings().scaled(1 / 15)
    for field in fields(ControllerSettings):
        before, after = getattr(settings, field.name), getattr(short, field.name)
        is_scaled = field.metadata[KIND] is DURATION
        assert after == pytest.approx(before / 15 if is_scaled else before), field.name
    assert short.window_s == pytest.approx(20.0)


@pytest.mark.parametrize("factor", [1e9, 0.0, float("nan")])
def test_durations_are_in_range_after_they_are_scaled(factor: float) -> None:
    with pytest.raises(UsageError, match="window_s: must be above 0 and at most"):
        ControllerSettings().scaled(factor)
    assert ControllerSettings(block_s=1e8).scaled(1.0).block_s == 1e8


SETTINGS = ControllerSettings(
    actions_per_hour=2, actions_per_day=3, cool_down_s=600.0, block_s=1000.0
)


def test_an_hour_and_a_day_have_budgets() -> None:
    budget = PastActions(SETTINGS)
    budget.begin(0.0)
    assert budget.spent(10.0) == ""
    budget.begin(1000.0)
    assert budget.spent(3599.0) == "the budget of 2 actions an hour is spent"
    assert budget.spent(3600.0) == ""
    budget.begin(4000.0)
    assert budget.spent(10_000.0) == "the budget of 3 actions a day is spent"
    assert budget.spent(86_400.0) == ""


def test_the_cool_down_begins_where_an_action_ends() -> None:
    budget = PastActions(SETTINGS)
    assert budget.cooling(0.0) == ""
    budget.begin(1000.0)
    assert budget.cooling(1100.0) == "8.33 min of the cool-down of 10 min are left"
    budget.end(1200.0, None)
    assert budget.cooling(1799.0) == "1 s of the cool-down of 10 min are left"
    assert budget.cooling(1800.0) == ""
    assert budget.last_s == 1200.0


@given(st.lists(st.none() | st.floats(0.0, 1e4)))
def test_the_expected_downtime_is_the_longest_of_the_last_three(
    downtimes: list[float | None],
) -> None:
    budget = PastActions(SETTINGS)
    for at_s, downtime_s in enumerate(downtimes):
        budget.begin(float(at_s))
        budget.end(float(at_s), downtime_s)
    measured = [each for each in downtimes if each is not None]
    assert budget.downtime_s == (max(measured[-3:]) if measured else SETTINGS.first_downtime_s)


def test_a_plan_is_blocked_for_a_while() -> None:
    budget = PastActions(SETTINGS)
    budget.block("a=x", 100.0, 1000.0)
    assert budget.blocked("a=y", 100.0) == ""
    assert "not tried again before 1970-01-01 00:18:20" in budget.blocked("a=x", 1099.0)
    assert budget.blocked("a=x", 1100.0) == ""
    budget.block("a=y", 1100.0, 1000.0)
    assert list(budget.to_dict()["blocked"]) == ["a=y"], "what is over is forgotten"


@pytest.mark.parametrize("used", [False, True])
def test_a_restored_budget_is_the_same(used: bool) -> None:
    budget = PastActions(SETTINGS)
    if used:
        budget.begin(100.0)
        budget.end(130.0, 12.5)
        budget.block("a=x", 130.0, 1000.0)
    value = budget.to_dict()
    again = PastActions(SETTINGS)
    again.restore(json.loads(json.dumps(value)))
    assert again.to_dict() == value
    assert again.downtime_s == budget.downtime_s
    assert again.cooling(200.0) == budget.cooling(200.0)
