"""Checkpoints: runs at a moment, from which they can go on."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from streamplace.sim.engine.records import EngineState, Rules, copied
from streamplace.sim.engine.snapshots import Order, Snapshot
from streamplace.sim.engine.tables import Places
from streamplace.sim.engine.tick_length import Timed
from streamplace.sim.flow import Flow, Ints

RECORDS = (
    "operators",
    "streams",
    "devices",
    "links",
    "sources",
    "arrivals",
    "windows",
    "slots",
    "sets",
    "lists",
)
ARRAYS = ("slot_totals", "out_totals", "reached", "totals", "scratch", "latency", "arrived")
JOB = ("source", "target", "selectivity", "instructions", "bits", "operator_cores")
CLUSTER = ("capacity", "cores", "gap_s", "seconds_per_bit", "overhead_s")


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A run after some ticks, with all that waits and all that was counted.

    Parameters
    ----------
    tick
        The next tick.
    state, rules, timing, link
        See `streamplace.sim.engine.simulation.Simulation.ready`.
    devices
        (V,) the placement.
    flow
        The flow in its places.
    places, order
        Indices into the state, in the flow's order.
    since
        The counters at the start, or at the last restart.
    """

    tick: int
    state: EngineState
    rules: Rules
    timing: Timed
    link: Ints
    devices: Ints
    flow: Flow
    places: Places
    order: Order
    since: Snapshot

    @property
    def at_s(self) -> float:
        """Seconds since the start of the first run."""
        return self.tick * self.rules.tick_s

    @property
    def snapshot(self) -> Snapshot:
        """The counters now."""
        return Snapshot.of(self.state, self.tick, self.order)

    def tick_at(self, at_s: float, duration_s: float | None = None) -> int:
        """Return the tick of a time.

        Parameters
        ----------
        duration_s
            The latest time; None: the end of the timing.

        Raises
        ------
        ValueError
            If it is before this checkpoint or after the end.
        """
        tick_s, last = self.rules.tick_s, self.timing.ticks
        if duration_s is not None:
            last = max(1, round(duration_s / tick_s))
        first, end = self.tick * tick_s, last * tick_s
        if not first - 0.5 * tick_s <= at_s <= end + 0.5 * tick_s:
            raise ValueError(f"time: must be from {first:g} to {end:g} s (got {at_s:g})")
        return min(max(round(at_s / tick_s), self.tick), last)

    def copied_state(self) -> EngineState:
        """Return a copy of what a run changes; the rest is shared."""
        kept = self.state._asdict()
        changing: dict[str, Any] = {name: copied(kept[name]) for name in RECORDS}
        return self.state._replace(**changing, **{name: kept[name].copy() for name in ARRAYS})

    def going_on(self, timing: Timed) -> "Checkpoint":
        """Return this checkpoint with the rates, the speeds and the length of another timing."""
        rows = (timing.ticks, self.state.arrived.shape[1])
        arrived, latency = np.zeros(rows), np.zeros(rows)
        arrived[: self.tick] = self.state.arrived[: self.tick]
        latency[: self.tick] = self.state.latency[: self.tick]
        state = self.state._replace(
            offered=timing.offered,
            speed=timing.speed,
            speed_from=timing.speed_from,
            arrived=arrived,
            latency=latency,
        )
        return replace(self, state=state, timing=timing)


def same_job(one: Flow, other: Flow) -> bool:
    """Return whether two flows, in their places, have equal operators, streams and devices."""
    return one is other or all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in JOB + CLUSTER
    )
