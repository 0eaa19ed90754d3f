"""Rules on simulated jobs: when they act, and what they ask for."""

from dataclasses import replace

import numpy as np

from benchmarks.control.simulated.autoscaler import Autoscaler
from benchmarks.control.simulated.clairvoyant import Clairvoyant
from benchmarks.control.simulated.rules import Controlled, Ds2, Never
from benchmarks.control.simulated.trace import Disturbance, Trace
from streamplace.control.decisions import Action, Decision, Outcome, State
from streamplace.control.observation import Observation
from streamplace.control.plans import Plan
from tests.support.simulated import CHAIN, SMALL, constant, window_of


def window(number: int, rate_s: float, **changes: object) -> Observation:
    """Return the observation of a window of five minutes at a rate; they are counted from 0."""
    found = window_of(constant(rate_s), seed=number)
    return replace(found, at_s=300.0 * (number + 1), **changes)  # type: ignore[arg-type]


def test_never() -> None:
    assert Never().step(window(0, 5000.0)) is None


def test_ds2_acts_at_once() -> None:
    """900 tuples/s need .26 instances of read at 70%, and 1.29 of parse and of store."""
    found = Ds2(CHAIN).step(window(0, 900.0))
    assert found is not None
    assert found.parallelism == {"read": 1, "parse": 2, "store": 2}
    assert Ds2(CHAIN).step(window(0, 600.0)) is None
    assert Ds2(CHAIN).step(window(0, 600.0, readings={})) is None


def test_ds2_takes_what_is_read_for_an_unknown_rate() -> None:
    found = Ds2(CHAIN).step(window_of(constant(2500.0, hides=True)))
    assert found is not None
    assert found.parallelism == {"read": 1, "parse": 2, "store": 2}


def test_the_autoscaler_waits_until_its_window_is_full() -> None:
    """Five minutes of stabilisation and fifteen of measurements pass before it acts."""
    rule = Autoscaler(CHAIN)
    found = [rule.step(window(k, 1300.0)) for k in range(4)]
    assert found[:3] == [None] * 3
    assert found[3] is not None
    assert found[3].parallelism["parse"] >= 2
    rule.ended(1200.0, 1204.0, 2.0)
    assert rule.step(window(4, 1300.0, started_s=1204.0)) is None


def test_the_autoscaler_delays_scale_downs_by_an_hour() -> None:
    rule = Autoscaler(CHAIN)
    wide = Ds2(CHAIN).step(window(0, 3000.0))
    assert wide is not None
    found = []
    for k in range(20):
        now = window(k, 100.0)
        readings = {
            name: replace(reading, instances=len(wide.hosts[name]), busiest=0.03)
            for name, reading in now.readings.items()
        }
        found.append(rule.step(replace(now, readings=readings, hosts=wide.hosts)))
    first = next(k for k, each in enumerate(found) if each is not None)
    assert first == 3 + 12  # the window is full after 4 windows of 5 min
    assert found[first] is not None
    assert found[first].parallelism["parse"] < wide.parallelism["parse"]  # type: ignore[union-attr]


def test_the_autoscaler_leaves_a_job_within_its_band() -> None:
    rule = Autoscaler(CHAIN)
    assert [rule.step(window(k, 600.0)) for k in range(8)] == [None] * 8


def test_the_clairvoyant_acts_before_the_rate_rises() -> None:
    low, high = constant(400.0, 180), constant(2000.0, 180)
    trace = Trace("steps", np.concatenate([low.rates, high.rates]))
    rule = Clairvoyant(CHAIN, trace, SMALL, 300.0, 2.0)
    wanted = [rule.step(window(k, 400.0)) for k in range(6)]
    changes = [k for k, each in enumerate(wanted) if each is not None and k >= 5]
    assert changes == [5]  # at the end of the sixth window, when the rate rises
    assert wanted[5] is not None
    assert CHAIN.loads(wanted[5]).capacity_s >= 2000.0


def test_the_clairvoyant_uses_no_lost_device() -> None:
    trace = Trace("steps", constant(2000.0).rates, (Disturbance("d0", 0, 360, 0.0),))
    rule = Clairvoyant(CHAIN, trace, SMALL, 300.0, 2.0)
    found = rule.step(window(0, 2000.0, devices=frozenset({"d1", "d2", "d3"})))
    assert found is not None
    assert "d0" not in found.devices


class Pressing:
    """A controller that acts in every window."""

    def __init__(self) -> None:
        self.calls: list[object] = []

    def step(self, observation: Observation) -> Decision:
        """Return a decision to act."""
        plan = Plan(SMALL, 1.0, 2.0, 1.0, 1.0, 1.0)
        action = Action.ACT if observation.at_s > 300.0 else Action.ADVISE
        return Decision(observation.at_s, State.OVERLOADED, action, "because", plan)

    def began(self, decision: Decision, at_s: float) -> None:
        """Keep the call."""
        self.calls.append((decision.action, at_s))

    def ended(self, outcome: Outcome) -> None:
        """Keep the call."""
        self.calls.append(outcome)


def test_decisions_of_a_controller_are_carried_out_only_if_it_acts() -> None:
    controller = Pressing()
    rule = Controlled(controller)
    assert rule.step(window(0, 1.0)) is None
    assert rule.step(window(1, 1.0)) == SMALL
    rule.ended(600.0, 604.0, 2.0)
    assert controller.calls == [(Action.ACT, 600.0), Outcome(604.0, True, 2.0)]
    assert rule.reasons == ["advise: because", "act: because"]
