"""Decisions as lines of JSON."""

import json

from streamplace.control.decisions import Action, Decision, State
from streamplace.control.plans import Deployment, Plan


def test_a_decision_is_a_line_of_json() -> None:
    plan = Plan(Deployment({"decode": ("a", "b")}), 1000.0, 2000.0, 500.0, 2.0, 1.0)
    decision = Decision(
        1_700_000_000.0, State.OVERLOADED, Action.ACT, "why", plan, 3.0, 1.0, "tuples"
    )
    assert json.loads(json.dumps(decision.to_dict())) == {
        "at": "2023-11-14T22:13:20+00:00",
        "state": "overloaded",
        "plan": {"parallelism": {"decode": 2}, "hosts": {"decode": ["a", "b"]}},
        "gain": 3.0,
        "price": 1.0,
        "unit": "tuples",
        "decision": "act",
        "reason": "act: why",
    }


def test_a_decision_without_a_plan_has_no_worth() -> None:
    value = Decision(0.0, State.STEADY, Action.NOTHING, "why").to_dict()
    assert (value["plan"], value["gain"], value["price"], value["unit"]) == (None, None, None, "")
