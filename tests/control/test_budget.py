"""The budget of actions: counts per hour and day, pauses, downtimes and blocked plans."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamplace.control.budget import Budget
from streamplace.control.rules import Rules

RULES = Rules(actions_per_hour=2, actions_per_day=3, cool_down_s=600.0, block_s=1000.0)


def test_an_hour_and_a_day_have_budgets() -> None:
    budget = Budget(RULES)
    budget.begin(0.0)
    assert budget.spent(10.0) == ""
    budget.begin(1000.0)
    assert budget.spent(3599.0) == "the budget of 2 actions an hour is spent"
    assert budget.spent(3600.0) == ""
    budget.begin(4000.0)
    assert budget.spent(10_000.0) == "the budget of 3 actions a day is spent"
    assert budget.spent(86_400.0) == ""


def test_the_cool_down_begins_where_an_action_ends() -> None:
    budget = Budget(RULES)
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
    budget = Budget(RULES)
    for at_s, downtime_s in enumerate(downtimes):
        budget.begin(float(at_s))
        budget.end(float(at_s), downtime_s)
    measured = [each for each in downtimes if each is not None]
    assert budget.downtime_s == (max(measured[-3:]) if measured else RULES.first_downtime_s)


def test_a_plan_is_blocked_for_a_while() -> None:
    budget = Budget(RULES)
    budget.block("a=x", 100.0, 1000.0)
    assert budget.blocked("a=y", 100.0) == ""
    assert "not tried again before 1970-01-01 00:18:20" in budget.blocked("a=x", 1099.0)
    assert budget.blocked("a=x", 1100.0) == ""
    budget.block("a=y", 1100.0, 1000.0)
    assert list(budget.to_dict()["blocked"]) == ["a=y"], "what is over is forgotten"


@pytest.mark.parametrize("used", [False, True])
def test_a_restored_budget_is_the_same(used: bool) -> None:
    budget = Budget(RULES)
    if used:
        budget.begin(100.0)
        budget.end(130.0, 12.5)
        budget.block("a=x", 130.0, 1000.0)
    value = budget.to_dict()
    again = Budget(RULES)
    again.restore(json.loads(json.dumps(value)))
    assert again.to_dict() == value
    assert again.downtime_s == budget.downtime_s
    assert again.cooling(200.0) == budget.cooling(200.0)
