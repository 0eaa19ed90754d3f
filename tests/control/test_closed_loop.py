"""The controller and its planner on a plain job, whose capacity follows from its numbers."""

from collections.abc import Mapping
from dataclasses import replace

import streamplace as sp
from streamplace.control.controller import Controller
from streamplace.control.decisions import Action, Decision, Outcome, State
from streamplace.control.observation import Observation
from streamplace.control.planning import SizePlanner
from streamplace.control.settings import ControllerSettings
from tests.support.control import WINDOW_S, measured

SETTINGS = ControllerSettings()
SECONDS = {"decode": 1e-3, "count": 4e-4}
DOWNTIME_S = 30.0


class Job:
    """A chain of two operators on devices with more cores than instances, without state."""

    def __init__(self) -> None:
        self.graph = sp.StreamGraph(
            [sp.Operator(name, each * 1e9, 0.0) for name, each in SECONDS.items()],
            [sp.Stream("decode", "count")],
        )
        self.cluster = sp.Cluster([sp.Device(f"d{i}", 1000.0, cores=16) for i in range(3)])
        self.hosts: Mapping[str, tuple[str, ...]] = {"decode": ("d0",), "count": ("d0",)}
        self.present = {*self.cluster.names}
        self.waiting, self.started_s, self.number, self.down_s = 0.0, 0.0, 9, 0.0
        self.of = Controller(SETTINGS, SizePlanner(self.graph, self.cluster, SETTINGS))

    def window(self, offered_s: float) -> Observation:
        """Return the next window, at an offered rate in tuples/s."""
        self.number += 1
        carries_s = min(len(self.hosts[name]) / each for name, each in SECONDS.items())
        capacity = carries_s * (WINDOW_S - self.down_s)
        reads = min(offered_s * WINDOW_S + self.waiting, capacity)
        self.waiting += offered_s * WINDOW_S - reads
        self.down_s = 0.0
        return replace(
            measured(self.graph, self.cluster, self.hosts, reads / WINDOW_S),
            at_s=(self.number + 1) * WINDOW_S,
            offered_s=offered_s,
            waiting=self.waiting,
            started_s=self.started_s,
            devices=frozenset(self.present),
        )

    def run(self, rates: list[float]) -> list[Decision]:
        """Run the job at one rate per window, and carry out all that is decided."""
        decisions = []
        for rate in rates:
            window = self.window(rate)
            decision = self.of.step(window)
            decisions.append(decision)
            if decision.action is Action.ACT and decision.plan is not None:
                self.of.began(decision, window.at_s)
                self.hosts, self.down_s = decision.plan.deployment.hosts, DOWNTIME_S
                self.started_s = window.at_s + DOWNTIME_S
                self.of.ended(Outcome(self.started_s, succeeded=True, downtime_s=DOWNTIME_S))
        return decisions


def actions(decisions: list[Decision]) -> int:
    return sum(decision.action is Action.ACT for decision in decisions)


def test_a_step_up_and_a_step_down_take_one_action_each() -> None:
    job = Job()
    assert actions(job.run([600.0] * 4)) == 0
    up = job.run([1500.0] * 8)
    assert actions(up) == 1
    assert up[1].action is Action.ACT, "two windows agree"
    assert up[-1].state is State.STEADY
    assert job.waiting == 0.0
    assert {name: len(on) for name, on in job.hosts.items()} == {"decode": 3, "count": 1}
    assert actions(job.run([1500.0] * 20)) == 0


def test_fewer_instances_are_used_only_if_that_frees_machines() -> None:
    job = Job()
    job.hosts = {"decode": ("d0", "d0", "d1"), "count": ("d2",)}
    down = job.run([300.0] * 14)
    assert actions(down) == 1
    assert down[11].action is Action.ACT, "an hour is twelve windows"
    assert {name: len(on) for name, on in job.hosts.items()} == {"decode": 2, "count": 1}
    again = job.run([300.0] * 30)
    assert actions(again) == 0
    assert "which does not pay" in again[-1].reason


def test_after_the_loss_of_a_device_overload_decides() -> None:
    """Flink moves what ran there; plans use other devices, and the returned one only if needed."""
    job = Job()
    job.hosts = {"decode": ("d0", "d1"), "count": ("d0",)}
    assert actions(job.run([1200.0] * 3)) == 0
    job.present.discard("d1")
    lost = job.run([1200.0])
    assert lost[0].state is State.RECOVERING
    job.hosts, job.started_s = {"decode": ("d0",), "count": ("d0",)}, job.number * WINDOW_S + 310.0
    recovered = job.run([1200.0] * 6)
    assert recovered[0].state is State.STABILISING
    assert actions(recovered) == 1
    assert "d1" not in {device for on in job.hosts.values() for device in on}
    job.present.add("d1")
    assert actions(job.run([1200.0] * 6)) == 0


def test_an_overload_that_buffers_take_is_acted_on() -> None:
    """The source reads all, and nothing waits there; count processes 2,500 of 4,000 tuples/s."""
    job = Job()
    hosts = {"decode": tuple(f"d{i % 3}" for i in range(6)), "count": ("d0",)}
    for number in (10, 11):
        window = measured(job.graph, job.cluster, hosts, 4000.0, at_s=number * WINDOW_S)
        count = replace(window.readings["count"], tuples_s=2500.0, busy=1.0, busiest=1.0)
        readings = {**window.readings, "count": replace(count, arriving_s=4000.0)}
        decision = job.of.step(replace(window, readings=readings, waiting=0.0))
    assert decision.action is Action.ACT
    assert "2,500 tuples/s of the offered 4,000 tuples/s are carried" in decision.reason
    assert decision.plan is not None
    assert decision.plan.deployment.parallelism["count"] > 1
