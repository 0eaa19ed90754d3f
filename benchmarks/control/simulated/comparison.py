"""One rule on one trace: what is served, what waits, and which actions paid."""

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from benchmarks.control.simulated.job import SimulatedJob
from benchmarks.control.simulated.measuring import observed
from benchmarks.control.simulated.rules import Rule
from benchmarks.control.simulated.run import GAP_S, JobState, Segment, advance, restarted
from benchmarks.control.simulated.trace import STEP_S, Trace
from streamplace.control.load import Parts
from streamplace.control.settings import ControllerSettings


@dataclass(frozen=True)
class Prices:
    """Prices as in `ControllerSettings`, and the time in which an action must pay."""

    machine: float = 1.0
    delayed_tuple: float = 0.001
    horizon_s: float = 3600.0


@dataclass(frozen=True)
class Figures:
    """What a rule did on a trace.

    Parameters
    ----------
    offered, served
        Tuples.
    mean_waiting
        Mean over time of the tuples that wait at the source.
    actions, paid
        Number of restarts, and of those that paid.
    machine_s
        Seconds of devices in use.
    delayed
        Tuples that were offered in steps after which some wait.
    """

    offered: float
    served: float
    mean_waiting: float
    actions: int
    paid: int
    machine_s: float
    delayed: float

    @property
    def served_share(self) -> float:
        """Share of the offered tuples that were served."""
        return self.served / self.offered if self.offered > 0 else 1.0

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as a JSON value."""
        return asdict(self)


def compare(
    job: SimulatedJob,
    trace: Trace,
    first: JobState,
    rule: Rule,
    seed: int,
    *,
    window_s: float = 300.0,
    parts: int = 1,
    gap_s: tuple[float, float] = GAP_S,
    prices: Prices | None = None,
) -> Figures:
    """Let a rule steer a job through a trace.

    Parameters
    ----------
    seed
        Of noise and downtimes; the noise does not depend on the rule where windows are the same.
    window_s
        Length of a window, in whole steps of 10 s.
    parts
        Number of equal parts of a window, in whole steps, too. A window whose last part is enough
        for a decision is that part.
    gap_s
        Shortest and longest downtime of a restart.
    """
    prices = prices or Prices()
    every, state = round(window_s / STEP_S / parts), first
    last = Parts(ControllerSettings.high)
    noise, downtimes = (np.random.default_rng([seed, k]) for k in (0, 1))
    segments: list[Segment] = []
    actions = paid = 0
    while state.step < trace.steps:
        window: list[Segment] = []
        for _ in range(parts):
            state, part = advance(job, trace, state, min(state.step + every, trace.steps))
            window += part
            found = observed(job, trace, state, part, noise)
            is_enough = last.add(found)
            if is_enough or state.step == trace.steps:
                break
        if not is_enough and len(window) > len(part):
            found = observed(job, trace, state, window, noise)
        segments += window
        wanted = rule.step(replace(found, rise_s2=last.rise_s2))
        if wanted is None or state.step >= trace.steps:
            continue
        at_s = state.step * STEP_S
        moved, downtime_s = restarted(state, wanted, downtimes, gap_s)
        rule.ended(at_s, moved.started_s, downtime_s)
        actions += 1
        paid += pays(job, trace, state, moved, prices)
        state = moved
    return _figures(segments, actions, paid)


def pays(
    job: SimulatedJob, trace: Trace, without: JobState, acted: JobState, prices: Prices
) -> bool:
    """Return whether an action was better than none from the same state, with hindsight.

    Both go on without further actions for the horizon. The controller's criterion is applied to
    what then happens: an action that uses fewer machines pays if their price is above that of the
    further tuples that it delays, and another one if it delays fewer tuples. Tuples that still wait
    at the end count once more.
    """
    end = min(without.step + round(prices.horizon_s / STEP_S), trace.steps)
    one, other = (_figures(advance(job, trace, state, end)[1], 0, 0) for state in (acted, without))
    more = _late(one, acted) - _late(other, without)
    freed_s = other.machine_s - one.machine_s
    if freed_s > 0.0:
        return prices.machine * freed_s > prices.delayed_tuple * more
    return more < 0.0


def _late(figures: Figures, before: JobState) -> float:
    return figures.delayed + figures.offered + before.waiting - figures.served


def _figures(segments: list[Segment], actions: int, paid: int) -> Figures:
    steps = max(1, sum(len(each.served) for each in segments))
    return Figures(
        offered=sum(float(each.offered.sum()) for each in segments),
        served=sum(float(each.served.sum()) for each in segments),
        mean_waiting=sum(float(each.waiting.sum()) for each in segments) / steps,
        actions=actions,
        paid=paid,
        machine_s=sum(len(s.served) * STEP_S * len(s.deployment.devices) for s in segments),
        delayed=sum(float(each.offered[each.waiting > 0.0].sum()) for each in segments),
    )
