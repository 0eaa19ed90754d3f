"""Decisions of the controller after an action: cool-down, roll-back, blocked plans, gaps."""

from dataclasses import replace

import pytest

from streamplace.control.controller import Controller
from streamplace.control.decisions import Action, Outcome, State
from streamplace.control.observation import Observation
from streamplace.control.plans import Deployment, Plan
from tests.support.control import (
    COSTS,
    MORE,
    SETTINGS,
    Acting,
    PlainPlanner,
    last,
    observed,
    overloads,
)


@pytest.fixture
def acted(acting: Acting) -> Controller:
    """Return a controller whose action has ended at 3,630 s, after a downtime of 5 s."""
    of, decision = acting
    during = of.step(observed(1.0, 12))
    assert (during.action, during.state) == (Action.NOTHING, State.STARTING)
    assert decision.at_s == 3600.0
    of.ended(Outcome(3630.0, succeeded=True, downtime_s=5.0))
    return of


def after(window: int, reads_s: float, offered_s: float = 1200.0) -> Observation:
    """Return a window after the action of `acted`."""
    on = {"count": ("a",), "decode": ("b", "c")}
    return observed(
        0.6, window, hosts=on, offered_s=offered_s, read_s=reads_s, waiting=None, started_s=3625.0
    )


def test_nothing_is_done_during_the_cool_down(acted: Controller) -> None:
    short = [
        observed(1.0, offered_s=2150.0, read_s=2000.0, started_s=3625.0, seconds=200.0, at_s=at_s)
        for at_s in (3960.0, 4160.0, 4360.0)
    ]
    decision = last(acted, *short[:2])
    assert (decision.action, decision.state) == (Action.NOTHING, State.COOLING_DOWN)
    assert decision.reason.endswith("but 70 s of the cool-down of 10 min are left")
    assert acted.step(short[2]).action is Action.ACT


@pytest.mark.parametrize("labels", [False, True])
def test_after_a_refusal_plans_make_do_with_present_slots(labels: bool) -> None:
    """At first, more may come; then they must do although the backlog, and so the plan, grows."""
    asked: list[tuple[float, int | None]] = []
    plain = PlainPlanner(COSTS, SETTINGS)

    def planner(observation: Observation, rate_s: float, seconds: float) -> Plan | str:
        asked.append((observation.at_s, observation.free_slots))
        return plain(observation, rate_s)

    of = Controller(SETTINGS, planner, chooses_devices=labels)
    windows = [replace(each, free_slots=2) for each in overloads(10, 20)]
    decision = last(of, *windows[:2])
    of.began(decision, decision.at_s)
    of.ended(Outcome(decision.at_s, succeeded=False, changed=False))
    of.restore(of.to_dict())
    last(of, *windows[2:])
    until_s = decision.at_s + SETTINGS.refused_s
    within = {free for at_s, free in asked if decision.at_s < at_s < until_s}
    assert within == {None if labels else 2}
    assert {free for at_s, free in asked if not decision.at_s < at_s < until_s} == {None}


def test_a_worse_job_is_rolled_back_once_and_the_plan_blocked(acted: Controller) -> None:
    first = acted.step(after(13, 800.0))
    assert (first.action, first.state) == (Action.NOTHING, State.ROLLING_BACK)
    second = acted.step(after(14, 800.0))
    assert (second.action, second.state) == (Action.ACT, State.ROLLING_BACK)
    assert second.plan is not None
    assert second.plan.deployment == Deployment({"decode": ("a",), "count": ("b",)})
    assert second.reason == (
        "act: 800 tuples/s are carried, less than 90% of the 1,000 tuples/s that were carried "
        "before the last action, so the job goes back to what ran before"
    )
    acted.began(second, second.at_s)
    acted.ended(Outcome(second.at_s + 30.0, succeeded=True))
    windows = overloads(18, 3)
    decision = last(acted, *windows)
    assert decision.action is Action.NOTHING
    assert "this plan was refused or failed" in decision.reason


@pytest.mark.parametrize(("reads_s", "offered_s"), [(950.0, 1200.0), (500.0, 500.0)])
def test_a_job_that_does_as_well_is_not_rolled_back(
    reads_s: float, offered_s: float, acted: Controller
) -> None:
    """Fewer tuples at a lower offered rate are no reason."""
    acted.step(after(13, reads_s, offered_s))
    for window in range(14, 20):
        assert acted.step(after(window, 10.0)).state is not State.ROLLING_BACK, (
            "the trial has ended"
        )


def test_a_recovery_ends_the_trial(acted: Controller) -> None:
    windows = [Observation(**{**vars(after(i, 800.0)), "started_s": 4000.0}) for i in range(16, 20)]
    assert State.ROLLING_BACK not in {acted.step(window).state for window in windows}


def test_a_rollback_needs_the_devices_of_before(acted: Controller) -> None:
    windows = [
        Observation(**{**vars(after(i, 800.0)), "devices": frozenset("bcad") - {"a"}})
        for i in (13, 14, 15)
    ]
    on = {"count": ("d",), "decode": ("b", "c")}
    windows = [Observation(**{**vars(each), "hosts": on}) for each in windows]
    decision = last(acted, *windows[:2])
    assert decision.action is Action.NOTHING
    assert "but a is gone" in decision.reason
    assert acted.step(windows[2]).state is not State.ROLLING_BACK


def test_a_failed_action_blocks_its_plan(acting: Acting) -> None:
    of, decision = acting
    of.ended(Outcome(decision.at_s + 30.0, succeeded=False, reason="no slot"))
    later = last(of, *overloads(14))
    assert later.action is Action.NOTHING
    assert "this plan was refused or failed" in later.reason
    day = last(of, *overloads(14 + 24 * 12))
    assert day.action is Action.ACT


def test_a_refused_plan_is_tried_again_after_an_hour(acting: Acting) -> None:
    of, decision = acting
    of.ended(Outcome(decision.at_s, succeeded=False, reason="no label", changed=False))
    early = of.step(overloads(12, 1)[0])
    assert early.state is State.STABILISING
    assert early.reason.endswith("2 min after the last action"), "the job was not restarted"
    assert last(of, *overloads(14)).action is Action.NOTHING
    assert last(of, *overloads(14 + 12)).action is Action.ACT


def test_an_action_that_was_interrupted_at_once_may_be_tried_again(acting: Acting) -> None:
    of, decision = acting
    ended = Outcome(decision.at_s, succeeded=False, changed=False, interrupted=True)
    of.ended(ended)
    assert last(of, *overloads(14)).action is Action.ACT


def test_the_longest_of_the_last_three_downtimes_is_expected(acting: Acting) -> None:
    of, decision = acting
    of.ended(Outcome(decision.at_s + 30.0, succeeded=True, downtime_s=100.0))
    windows = [
        observed(1.0, i, hosts=MORE, offered_s=2500.0, read_s=2000.0, started_s=3625.0)
        for i in (13, 14, 15)
    ]
    decision = last(of, *windows)
    assert decision.price == pytest.approx(2500.0 * 100.0)
