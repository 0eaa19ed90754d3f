"""What the controller decides in single cases, computed by hand."""

import json
from dataclasses import replace
from math import inf
from typing import Any

import pytest

from streamplace.control.controller import Controller
from streamplace.control.decisions import Action, Outcome, State
from streamplace.control.observation import Observation
from streamplace.control.plans import Plan, Planner
from streamplace.errors import FormatError, UsageError
from tests.support.control import (
    COSTS,
    SETTINGS,
    Acting,
    PlainPlanner,
    controller,
    last,
    observed,
    overloads,
)

WIDE = {"decode": ("a", "b", "c"), "count": ("d",)}


def test_within_the_band_nothing_is_done() -> None:
    decision = last(controller(), observed(0.62), observed(0.62, 11))
    assert decision.action is Action.NOTHING
    assert decision.state is State.STEADY
    assert decision.reason == (
        "nothing: the busiest instance, of decode, is busy 62% of the time, within 40% to 85%"
    )
    assert decision.plan is None


def test_a_job_that_falls_behind_without_a_busy_operator_is_left_alone() -> None:
    windows = [observed(0.54, i, growth_s={"decode": 400.0}) for i in range(10, 14)]
    decision = last(controller(), *windows)
    assert (decision.action, decision.state) == (Action.NOTHING, State.LAGGING)
    assert decision.reason.startswith("nothing: decode falls behind: 1,400 tuples/s arrive")


def test_what_has_no_busy_time_is_named_in_every_decision() -> None:
    window = observed(0.62, not_timed={"count": "accumulated-busy-time"})
    assert last(controller(), window).reason == (
        "nothing: the busiest instance, of decode, is busy 62% of the time, within 40% to 85%; "
        "count is kept as it is, since its accumulated-busy-time is missing"
    )


def test_one_overloaded_window_is_not_enough() -> None:
    decision = last(controller(), observed(0.6), *overloads(11, 1))
    assert (decision.action, decision.state) == (Action.NOTHING, State.OVERLOADED)
    assert decision.reason.endswith("in 1 of the 2 windows in a row that must agree")


def sure(number: int, **others: Any) -> Observation:
    """Return a window in which 300 of 1,300 tuples/s pile up."""
    return observed(1.0, number, offered_s=1300.0, read_s=1000.0, **others)


def test_one_window_in_which_tuples_pile_up_is_enough() -> None:
    decision = last(controller(), observed(0.6), sure(11))
    assert decision.action is Action.ACT
    assert "for which one window is enough, and 1,000 tuples/s of the offered" in decision.reason


def test_the_cool_down_does_not_hold_where_tuples_still_pile_up() -> None:
    """Windows until the job is stable do not count, and other overloads wait for the cool-down."""
    of = controller()
    of.began(last(of, observed(0.6), sure(11)), 3600.0)
    of.ended(Outcome(3601.0, True, 1.0))
    early = last(of, sure(12, started_s=3601.0))
    assert (early.action, early.state) == (Action.NOTHING, State.STABILISING)
    hot = last(of, observed(0.9, 13, started_s=3601.0), observed(0.9, 14, started_s=3601.0))
    assert hot.action is not Action.ACT
    assert last(of, sure(15, started_s=3601.0)).action is Action.ACT


def test_a_plan_reaches_ahead_of_a_rate_that_rises_on() -> None:
    """By a half of 1,300 tuples/s within the cool-down; three instances carry 1,300 with headroom,
    and so do two without."""
    plans = {}
    for rise_s2 in (0.0, 650.0 / SETTINGS.cool_down_s, 10.0):
        decision = last(controller(), observed(0.6), sure(11, rise_s2=rise_s2))
        assert decision.plan is not None
        plans[rise_s2] = decision.plan.deployment.parallelism["decode"], decision.reason
    counts, reasons = zip(*plans.values(), strict=True)
    assert counts == (2, 3, 4)
    assert "cool-down" not in reasons[0]
    assert reasons[1].endswith(", for 1,950 tuples/s, since the rate rises on")
    assert ", for 2,600 tuples/s, since" in reasons[2], "at most twice the rate"


def test_a_rate_that_rises_on_is_acted_on_before_tuples_pile_up() -> None:
    """At 90% and 900 tuples/s, 1,000 are carried, and 1,200 will be offered."""
    risen = observed(0.9, 11, offered_s=900.0, rise_s2=300.0 / SETTINGS.cool_down_s)
    decision = last(controller(), observed(0.6), risen)
    assert decision.action is Action.ACT
    assert "and the rate rises on, for which one window is enough" in decision.reason
    assert "900 tuples/s and 300 tuples/s more at the end of the cool-down" in decision.reason
    assert decision.gain == pytest.approx(200.0 * SETTINGS.horizon_s)


def test_what_may_come_is_no_reason_to_leave_a_job_overloaded() -> None:
    class Small(PlainPlanner):
        def __call__(
            self, observation: Observation, rate_s: float, seconds: float = inf
        ) -> Plan | str:
            return "too few devices" if rate_s > 1500.0 else super().__call__(observation, rate_s)

    decision = last(
        Controller(SETTINGS, Small(COSTS, SETTINGS)), observed(0.6), sure(11, rise_s2=1.0)
    )
    assert decision.action is Action.ACT
    assert "cool-down" not in decision.reason


def test_overload_is_acted_on_if_that_pays() -> None:
    decision = last(controller(), *overloads())
    assert (decision.action, decision.state) == (Action.ACT, State.OVERLOADED)
    assert decision.unit == "tuples"
    assert decision.gain == pytest.approx(200.0 * 3600.0)
    assert decision.price == pytest.approx(1200.0 * 60.0)
    assert decision.plan is not None
    # 60,000 tuples wait and 72,000 more will: 1,200 + 0.7 * 132,000 / 1,800 = 1,251.33 tuples/s
    assert decision.plan.rate_s == pytest.approx(1251.0 + 1 / 3)
    assert decision.plan.deployment.parallelism == {"count": 1, "decode": 2}
    assert decision.reason == (
        "act: the busiest instance, of decode, is busy 100% of the time, above 85%, and 1,000 "
        "tuples/s of the offered 1,200 tuples/s are carried, so 720,000 tuples are gained within "
        "60 min, and 72,000 tuples are delayed by a restart of 60 s; the plan is decode from 1 to "
        "2 instances, on 3 devices"
    )


@pytest.mark.parametrize(("took_s", "named"), [(61.0, True), (2.0, False), (None, False)])
def test_a_checkpoint_that_took_longer_than_a_restart_is_named(
    took_s: float | None, named: bool
) -> None:
    """Behind full buffers, a savepoint takes as long, or the next checkpoint."""
    windows = [replace(each, checkpoint_s=took_s) for each in overloads()]
    reason = last(controller(), *windows).reason
    text = "; the last checkpoint took 61 s, and a change may wait as long for one"
    assert reason.endswith(text) == named


def test_a_shortfall_that_does_not_pay_is_left_alone() -> None:
    offered = 1000.0 * (1.0 + 60.0 / 3600.0)  # 0 < shortfall * horizon < rate * downtime
    decision = last(controller(), *overloads(offered_s=offered - 1.0))
    assert decision.action is Action.NOTHING
    assert "which does not pay" in decision.reason
    assert decision.plan is not None
    assert decision.gain is not None
    assert decision.price is not None
    assert 0.0 < decision.gain < decision.price


@pytest.mark.parametrize(("offered_s", "late"), [(1870.0, False), (1990.0, True)])
def test_a_plan_that_does_not_catch_up_in_time_says_so(offered_s: float, late: bool) -> None:
    """Two instances carry 2,000 tuples/s: what waits is worked off in 863 s, or in 11,940 s."""
    of = Controller(SETTINGS, PlainPlanner(COSTS, SETTINGS, most=2))
    windows = [observed(1.0, i, offered_s=offered_s, read_s=1000.0) for i in (10, 11)]
    decision = last(of, *windows)
    assert decision.action is Action.ACT
    assert decision.gain == pytest.approx((offered_s - 1000.0) * 3600.0)
    text = (
        ", which carries 2,000 tuples/s and would not work off within 30 min what waits after a "
        "restart at 1,990 tuples/s; add devices, or raise --catch-up"
    )
    assert decision.reason.endswith(text) == late


def limited(most: int) -> Planner:
    """Return a planner that has no plan for rates that some instances of decode do not carry."""
    plain = PlainPlanner(COSTS, SETTINGS, most=most)

    def planned(observation: Observation, rate_s: float, seconds: float) -> Plan | str:
        plan = plain(observation, rate_s)
        assert isinstance(plan, Plan)
        return plan if plan.carries_s >= rate_s else f"at most {plan.carries_s:,.0f} tuples/s"

    return planned


def test_where_no_plan_carries_all_the_one_that_carries_most_is_made() -> None:
    of = Controller(SETTINGS, limited(3))
    windows = [observed(1.0, i, offered_s=5000.0, read_s=1000.0) for i in (10, 11)]
    decision = last(of, *windows)
    assert decision.action is Action.ACT
    assert decision.plan is not None
    assert decision.plan.deployment.parallelism == {"decode": 3, "count": 1}
    assert decision.gain == pytest.approx(2000.0 * 3600.0)
    assert decision.reason.endswith(
        "1,000 tuples/s of the offered 5,000 tuples/s are carried, so 7,200,000 tuples are gained "
        "within 60 min, and 300,000 tuples are delayed by a restart of 60 s; the plan is decode "
        "from 1 to 3 instances, on 4 devices, which carries 3,000 tuples/s, and no plan carries "
        "all: at most 3,000 tuples/s"
    )


@pytest.mark.parametrize(("running", "acts"), [(20, False), (18, True)])
def test_a_plan_that_hardly_carries_more_replaces_nothing(running: int, acts: bool) -> None:
    """An instance more carries 1,000 tuples/s: 4.8% of what the plan carries is noise, 5.3% not."""
    on = {"decode": ("a",) * running, "count": ("d",) * 8}
    read_s = 1000.0 * running
    windows = [observed(1.0, i, hosts=on, offered_s=4e4, read_s=read_s) for i in (10, 11)]
    decision = last(Controller(SETTINGS, limited(running + 1)), *windows)
    assert (decision.action is Action.ACT) == acts
    fault = f"what waits is worked off within 30 min): at most {1000 * (running + 1):,} tuples/s"
    assert decision.reason.endswith(fault) == (not acts)


def test_a_plan_that_carries_more_but_not_all_waits_for_the_cool_down() -> None:
    """Tuples pile up all the time, which is no reason to replace such plans one after another."""
    of = Controller(replace(SETTINGS, stabilisation_s=1.0), limited(3))
    windows = [observed(1.0, i, offered_s=5000.0, read_s=1000.0) for i in (10, 11, 12)]
    decision = last(of, *windows[:2])
    of.began(decision, decision.at_s)
    of.ended(Outcome(decision.at_s + 1.0, succeeded=True))
    again = replace(windows[2], at_s=decision.at_s + 302.0, started_s=decision.at_s)
    decision = of.step(again)
    assert (decision.action, decision.state) == (Action.NOTHING, State.COOLING_DOWN)
    assert "no plan carries all" in decision.reason, "it would have been carried out"
    assert decision.reason.endswith("but 4.98 min of the cool-down of 10 min are left")


@pytest.mark.parametrize("refuses", [False, True])
def test_what_waits_already_is_no_reason_to_leave_a_job_overloaded(refuses: bool) -> None:
    """Two instances carry 2,000 tuples/s, and would take 12,590 s for 10⁷ tuples that wait."""
    of_rate = PlainPlanner(COSTS, SETTINGS, most=2)

    def planner(observation: Observation, rate_s: float, seconds: float) -> Plan | str:
        return "too few devices" if refuses and rate_s > 2000.0 else of_rate(observation, rate_s)

    many = [replace(each, waiting=1e7) for each in overloads()]
    decision = last(Controller(SETTINGS, planner), *many)
    assert decision.action is Action.ACT
    assert decision.plan is not None
    assert decision.plan.rate_s == pytest.approx(1200.0 + 0.7 * 72_000.0 / 1800.0)
    assert decision.reason.endswith(
        "the plan is decode from 1 to 2 instances, on 3 devices, which works off what waits within "
        "3.5 h only"
    )


def test_a_rate_without_a_plan_is_explained() -> None:
    of = Controller(SETTINGS, lambda *_: "too few devices")
    reason = last(of, *overloads()).reason
    assert reason.endswith(
        "but there is no plan for 1,251 tuples/s (1,200 tuples/s arrive, and what waits is worked "
        "off within 30 min), nor for 5% more than the 1,000 tuples/s that are carried: "
        "too few devices"
    )
    windows = [observed(1.0, i, read_s=0.0) for i in (10, 11)]
    reason = last(Controller(SETTINGS, lambda *_: "all are gone"), *windows).reason
    assert reason.endswith(", nor for any lower rate: all are gone")


@pytest.mark.parametrize(
    ("window_s", "took_s", "limit"), [(300.0, 25.0, "40 s"), (30.0, 9.0, "15 s")]
)
def test_all_searches_for_a_plan_have_one_limit(
    window_s: float, took_s: float, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a clock that only searches advance, none begins once the time is over."""
    now_s, allowed = 0.0, list[float]()
    monkeypatch.setattr("time.perf_counter", lambda: now_s)

    def slow(observation: Observation, rate_s: float, seconds: float) -> str:
        nonlocal now_s
        allowed.append(seconds)
        now_s += took_s
        return "none was found"

    reason = last(Controller(replace(SETTINGS, window_s=window_s), slow), *overloads()).reason
    assert reason.endswith(
        f", nor was one for less found within the {limit} for plans: none was found"
    )
    total_s = min(40.0, window_s / 2)
    assert allowed == [total_s / 4, (total_s - took_s) / 4]


def test_many_searches_within_the_limit_have_less_and_less_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now_s, allowed, plan_of = 0.0, list[float](), limited(3)
    monkeypatch.setattr("time.perf_counter", lambda: now_s)

    def thorough(observation: Observation, rate_s: float, seconds: float) -> Plan | str:
        nonlocal now_s
        allowed.append(seconds)
        now_s += seconds
        return plan_of(observation, rate_s, seconds)

    of = Controller(replace(SETTINGS, agreeing=1), thorough)
    decision = of.step(observed(1.0, offered_s=5e6, read_s=0.0))
    assert decision.plan is not None
    assert decision.plan.carries_s == 3000.0
    assert 5 < len(allowed) <= 12, "halved geometrically"
    assert allowed == sorted(allowed, reverse=True)
    assert sum(allowed) < 40.0


def test_a_plan_that_carries_just_the_rate_is_late_but_carries_all() -> None:
    windows = [observed(1.0, i, offered_s=2000.0, read_s=1000.0) for i in (10, 11)]
    reason = last(Controller(SETTINGS, PlainPlanner(COSTS, SETTINGS, most=2)), *windows).reason
    assert "which carries 2,000 tuples/s and would not work off within 30 min" in reason
    assert "no plan carries all" not in reason


def test_lost_headroom_is_only_advised() -> None:
    windows = [observed(0.9, i, offered_s=900.0) for i in (10, 11, 12)]
    decision = last(controller(), *windows)
    assert (decision.action, decision.gain) == (Action.ADVISE, 0.0)
    assert "only headroom is lost" in decision.reason


@pytest.mark.parametrize("backpressured", [0.04, 0.5])
def test_backpressure_is_an_overload(backpressured: float) -> None:
    windows = [observed(0.6, i, backpressured=backpressured) for i in (10, 11)]
    state = last(controller(), *windows).state
    assert state is (State.OVERLOADED if backpressured > 0.05 else State.STEADY)


def test_less_is_planned_for_the_largest_rate_of_the_whole_time() -> None:
    rates = [300.0] * 5 + [800.0] + [300.0] * 6
    windows = [
        observed(0.3, i, hosts=WIDE, offered_s=rate) for i, rate in enumerate(rates, start=10)
    ]
    of = controller()
    for window in windows[:-1]:
        decision = of.step(window)
        assert (decision.action, decision.state) == (Action.NOTHING, State.UNDERUSED)
    assert decision.reason.endswith("for 55 min of 60 min")
    decision = of.step(windows[-1])
    assert decision.action is Action.ACT
    assert decision.plan is not None
    assert decision.plan.rate_s == pytest.approx(800.0 + 0.7 * 800.0 * 60.0 / 1800.0)
    assert decision.plan.deployment.parallelism == {"count": 1, "decode": 2}
    # one device is freed; 800 tuples/s wait for 60 s, and then until 1,200 spare tuples/s
    # have worked off the 48,000, which takes 40 s
    assert decision.unit == "money"
    assert decision.gain == pytest.approx(3600.0)
    assert decision.price == pytest.approx(800.0 * 100.0 * 0.001)


def test_a_plan_that_is_what_runs_is_nothing() -> None:
    # decode is not busy enough to explain the backpressure, so DS2 keeps the numbers
    on = {"count": ("a",), "decode": ("b",)}
    windows = [observed(0.5, i, hosts=on, offered_s=600.0, backpressured=0.3) for i in (10, 11)]
    decision = last(controller(), *windows)
    assert (decision.action, decision.plan) == (Action.NOTHING, None)
    assert decision.reason.endswith("but the plan is what runs already")


def test_other_devices_are_no_change_where_they_cannot_be_chosen_or_carry_no_more() -> None:
    on = {"count": ("c",), "decode": ("d",)}
    windows = [observed(0.5, i, hosts=on, offered_s=600.0, backpressured=0.3) for i in (10, 11)]
    decision = last(controller(), *windows)
    assert (decision.action, decision.plan) == (Action.NOTHING, None)
    assert decision.reason.endswith("but no plan carries more than the 1,000 tuples/s of what runs")
    decision = last(controller(chooses_devices=False), *windows)
    assert decision.reason.endswith("but the plan is what runs already")


@pytest.mark.parametrize(
    ("changes", "state", "part"),
    [
        ({"missing": ("decode has no busy time",)}, State.BLIND, "decode has no busy time"),
        ({"offered_s": None}, State.BLIND, "the offered rate is unknown"),
        ({"at_s": 100.0}, State.BLIND, "the measurements are stale"),
        ({"waiting": float("nan")}, State.BLIND, "not numbers of at least 0"),
        ({"started_s": 3200.0}, State.STABILISING, "2 min after the last start of the job"),
        ({"devices": frozenset("bcd")}, State.RECOVERING, "'a' is gone"),
        ({"hosts": {"decode": (), "count": ("b",)}}, State.RECOVERING, "only 0 of 1 instance"),
    ],
)
def test_what_cannot_be_used_is_no_ground_for_action(
    changes: dict[str, object], state: State, part: str
) -> None:
    of = controller()
    of.step(overloads()[0])
    changed = Observation(**{**vars(overloads()[1]), **changes})
    decision = of.step(changed)
    assert (decision.action, decision.state) == (Action.NOTHING, state)
    assert part in decision.reason
    later = of.step(overloads(11, 3)[1])
    assert later.action is Action.NOTHING, "the row begins anew"


def test_only_the_last_decision_can_begin() -> None:
    of = controller()
    steady = of.step(observed(0.6))
    with pytest.raises(UsageError, match="not the last one, or is not to act"):
        of.began(steady, steady.at_s)
    with pytest.raises(UsageError, match="no action is under way"):
        of.ended(Outcome(0.0, succeeded=True))


def test_an_interrupted_action_is_still_under_way(acting: Acting) -> None:
    of, decision = acting
    again = controller()
    again.restore(json.loads(json.dumps(of.to_dict())))
    assert again.step(observed(1.0, 12)).state is State.STARTING
    again.ended(Outcome(decision.at_s + 400.0, succeeded=True))
    assert again.to_dict()["attempt"]["ended"] == decision.at_s + 400.0


@pytest.mark.parametrize("value", [{}, {"version": 2}, {"version": 1}, {"version": 1, "budget": 3}])
def test_other_states_are_refused_in_one_line(value: dict[str, object]) -> None:
    with pytest.raises(FormatError, match="state of the controller: ") as caught:
        controller().restore(value)
    assert len(str(caught.value).splitlines()) == 1
