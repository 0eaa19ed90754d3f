"""Rules that hold on every trace: random loads, faults, restarts and outcomes."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import pytest

from streamplace.control.controller import Controller
from streamplace.control.decisions import Action, Decision, Outcome, State
from streamplace.control.load import surge
from streamplace.control.observation import Observation
from streamplace.control.plans import Deployment
from streamplace.control.settings import ControllerSettings
from tests.support.control import DEVICES, HOSTS, WINDOW_S, PlainPlanner, observed
from tests.support.share import Share

SETTINGS = ControllerSettings(
    cool_down_s=1500.0, actions_per_hour=2, actions_per_day=6, block_s=20_000.0
)
COSTS = {"decode": 1e-3, "count": 2e-4}
WINDOWS = 120
HOUR_S, DAY_S = 3600.0, 86_400.0
LOADS = ("band", "busy", "growing", "low", "backpressured")
FAULTS = ("hidden", "missing", "stale", "gone", "restarted")


class Trace:
    """A job whose load changes at random, with faults of its measurements and machines."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.hosts: Mapping[str, tuple[str, ...]] = HOSTS
        self.started_s, self.waiting = 0.0, 0.0
        self.load, self.left = "band", 0
        self.knows_reads = seed % 2 == 0  # otherwise they follow from the tuples that wait

    def window(self, number: int) -> Observation:
        """Return the window of a number."""
        rng = self.rng
        if not self.left:
            self.load, self.left = rng.choice(LOADS), rng.randint(1, 25)
        self.left -= 1
        offered = rng.uniform(0.9, 1.1) * (300.0 if self.load == "low" else 1500.0)
        reads = offered * (rng.uniform(0.4, 0.9) if self.load == "growing" else 1.0)
        busy = {"band": (0.4, 0.85), "low": (0.05, 0.4), "backpressured": (0.4, 0.85)}
        self.waiting += (offered - reads) * WINDOW_S
        if self.load != "growing":
            self.waiting = 0.0
        made = observed(
            rng.uniform(*busy.get(self.load, (0.86, 1.0))),
            number,
            hosts=self.hosts,
            offered_s=offered,
            backpressured=0.5 if self.load == "backpressured" else 0.0,
            waiting=self.waiting,
            read_s=reads if self.knows_reads else None,
            started_s=self.started_s,
        )
        return self.faulty(made) if rng.random() < 0.05 else made

    def faulty(self, made: Observation) -> Observation:
        """Return a window with a random fault."""
        match self.rng.choice(FAULTS):
            case "hidden":
                return replace(made, offered_s=None)
            case "missing":
                return replace(made, missing=("decode has no busy time",))
            case "stale":
                return replace(made, at_s=made.at_s - WINDOW_S)
            case "gone":
                gone = self.rng.choice(sorted(DEVICES))
                return replace(made, devices=DEVICES - {gone})
            case _:
                self.started_s = made.at_s - self.rng.uniform(0.0, WINDOW_S)
                return replace(made, started_s=self.started_s)


@dataclass
class Record:
    """The actions of a trace, and a plain check of each further one."""

    begun: list[float] = field(default_factory=list)
    ended_s: float = -DAY_S
    under_way: Decision | None = None
    blocked: dict[str, float] = field(default_factory=dict)

    def check(self, window: Observation, decision: Decision) -> None:
        """Check that a decision keeps the rules."""
        at_s = window.at_s
        assert decision.reason.startswith(f"{decision.action}: ")
        if decision.action is not Action.ACT:
            return
        assert decision.plan is not None
        assert self.under_way is None
        assert sum(at_s - each < HOUR_S for each in self.begun) < SETTINGS.actions_per_hour
        assert sum(at_s - each < DAY_S for each in self.begun) < SETTINGS.actions_per_day
        cooled = at_s - max([self.ended_s, *self.begun]) >= SETTINGS.cool_down_s
        assert cooled or surge(window) > 0.0
        begin_s = at_s - WINDOW_S
        assert begin_s >= max(self.ended_s, window.started_s) + SETTINGS.stabilisation_s
        assert window.offered_s is not None
        assert not window.missing
        assert decision.plan.deployment.devices <= window.devices
        assert self.blocked.get(decision.plan.deployment.key, 0.0) <= at_s
        if decision.state is State.ROLLING_BACK:
            return
        assert decision.gain is not None
        assert decision.price is not None
        assert decision.gain > decision.price
        busiest = max(reading.busiest for reading in window.readings.values())
        held = max(reading.backpressured for reading in window.readings.values())
        growing = bool(window.waiting)
        assert not SETTINGS.low <= busiest <= SETTINGS.high or held or growing


def controller() -> Controller:
    return Controller(SETTINGS, PlainPlanner(COSTS, SETTINGS))


def decisions(seed: int, *, restores: bool = False, shuffles: bool = False) -> Iterator[Decision]:
    """Run the controller on a trace, check each decision, and yield it.

    Parameters
    ----------
    restores
        Whether another controller goes on from the saved state after every call.
    shuffles
        Whether mappings of windows are in another order.
    """
    trace, record, of = Trace(seed), Record(), controller()
    for number in range(10, 10 + WINDOWS):
        window = trace.window(number)
        if record.under_way and record.ended_s <= window.at_s:
            _end(record.under_way, trace, record, of)
        of = _restored(of) if restores else of
        decision = of.step(_shuffled(window) if shuffles else window)
        record.check(window, decision)
        yield decision
        if decision.action is Action.ACT and trace.rng.random() < 0.9:
            of = _restored(of) if restores else of
            of.began(decision, decision.at_s)
            record.under_way = decision
            record.begun.append(decision.at_s)
            record.ended_s = decision.at_s + trace.rng.uniform(1.0, 700.0)
            if decision.state is State.ROLLING_BACK:
                record.blocked[Deployment(trace.hosts).key] = decision.at_s + SETTINGS.block_s


def _end(decision: Decision, trace: Trace, record: Record, of: Controller) -> None:
    """End an action, with a random outcome."""
    assert decision.plan is not None
    rng, at_s = trace.rng, record.ended_s
    succeeded = rng.random() < 0.8
    if succeeded:
        trace.hosts, trace.started_s = decision.plan.deployment.hosts, at_s - 0.5
    else:
        record.blocked[decision.plan.deployment.key] = at_s + SETTINGS.block_s
    record.under_way = None
    of.ended(Outcome(at_s, succeeded, rng.choice([None, rng.uniform(1.0, 100.0)])))


def _restored(of: Controller) -> Controller:
    again = controller()
    again.restore(json.loads(json.dumps(of.to_dict(), allow_nan=False)))
    return again


def _shuffled(window: Observation) -> Observation:
    """Return a window whose mappings are in the opposite order."""
    turned: dict[str, Any] = {
        name: dict(reversed(getattr(window, name).items())) for name in ("readings", "hosts")
    }
    return replace(window, **turned)


@pytest.mark.parametrize("first", [0, pytest.param(1, marks=pytest.mark.long)])
def test_decisions_keep_the_rules(first: int, share: Share) -> None:
    """The quick test runs 40 traces; the long one runs a share of 1,000."""
    seeds = share.of(range(40, 1040)) if first else range(40)
    counts = dict.fromkeys([*Action, *State], 0)
    del counts[Action.REFUSED]  # what carries actions out refuses them, not the controller
    del counts[State.LAGGING]  # simulated sources read all that nothing holds back
    for seed in seeds:
        for decision in decisions(seed):
            counts[decision.action] += 1
            counts[decision.state] += 1
    assert all(counts.values()), counts


def test_a_restored_controller_decides_the_same() -> None:
    for seed in range(12):
        assert list(decisions(seed, restores=True)) == list(decisions(seed))


def test_the_order_of_mappings_does_not_matter() -> None:
    for seed in range(12):
        pairs = zip(decisions(seed, shuffles=True), decisions(seed), strict=True)
        assert all(turned == plain for turned, plain in pairs)
