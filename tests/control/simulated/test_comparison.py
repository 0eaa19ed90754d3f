"""Rules on whole traces."""

from dataclasses import dataclass, field

import pytest

from streamplace.control.observation import Observation
from streamplace.control.plans import Deployment
from streamplace.control.simulated.comparison import Prices, compare, pays
from streamplace.control.simulated.rules.base import Never
from streamplace.control.simulated.run import JobState
from tests.support.simulated import CHAIN, SMALL, constant

LARGE = Deployment({"read": ("d0",), "parse": ("d0", "d2"), "store": ("d1", "d3")})
START = JobState(0, SMALL)


@dataclass
class Scripted:
    """A rule that asks for a deployment after some windows."""

    wishes: dict[int, Deployment]
    windows: list[Observation] = field(default_factory=list)
    ends: list[tuple[float, float, float]] = field(default_factory=list)

    def step(self, observation: Observation) -> Deployment | None:
        """Return the wish after this window."""
        self.windows.append(observation)
        return self.wishes.get(len(self.windows))

    def ended(self, begun_s: float, ended_s: float, downtime_s: float) -> None:
        """Keep the times."""
        self.ends.append((begun_s, ended_s, downtime_s))


def test_never_on_a_constant_rate() -> None:
    found = compare(CHAIN, constant(800.0), START, Never(), 0)
    assert found.served_share == pytest.approx(1.0)
    assert (found.mean_waiting, found.actions, found.delayed) == (0.0, 0, 0.0)
    assert found.machine_s == pytest.approx(2 * 3600.0)


def test_an_overload_without_actions() -> None:
    found = compare(CHAIN, constant(1250.0), START, Never(), 0)
    assert found.served_share == pytest.approx(0.8)
    assert found.mean_waiting == pytest.approx(250.0 * 3610.0 / 2)
    assert found.delayed == found.offered


def test_actions_are_counted_and_judged_with_hindsight() -> None:
    rule = Scripted({2: LARGE})
    found = compare(CHAIN, constant(1250.0), START, rule, 0)
    assert (found.actions, found.paid) == (1, 1)
    assert found.served_share == pytest.approx(1.0)
    assert len(rule.windows) == 12
    (begun_s, ended_s, downtime_s), after = rule.ends[0], rule.windows[2]
    assert begun_s == 600.0
    assert ended_s == after.started_s
    assert 1.0 <= downtime_s <= 3.2
    wasted = compare(CHAIN, constant(300.0), START, Scripted({2: LARGE}), 0)
    assert (wasted.actions, wasted.paid) == (1, 0)


def test_fewer_machines_pay_if_their_price_is_higher_than_that_of_late_tuples() -> None:
    """Two machines an hour cost 7,200; 4.5 million tuples are delayed, and .9 million left."""
    trace, large = constant(900.0), JobState(0, LARGE)
    assert pays(CHAIN, trace, large, START, Prices())
    assert pays(CHAIN, constant(1250.0), large, START, Prices(delayed_tuple=0.001))
    assert not pays(CHAIN, constant(1250.0), large, START, Prices(delayed_tuple=0.002))
    assert not pays(CHAIN, trace, START, START, Prices())


def test_noise_does_not_depend_on_the_rule() -> None:
    rules = [Scripted({}), Scripted({3: LARGE})]
    for rule in rules:
        compare(CHAIN, constant(800.0), START, rule, 7)
    for one, other in zip(*(rule.windows[:3] for rule in rules), strict=True):
        assert one.readings == other.readings
