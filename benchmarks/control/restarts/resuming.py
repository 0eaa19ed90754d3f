"""Runs that stop at a time and go on: with the same placement, or restarted with another one."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.control.restarts.checkpoint import Checkpoint, same_job
from benchmarks.control.restarts.restart import carry_over
from streamplace.sim.engine.loop import advance, wait_ticks
from streamplace.sim.engine.simulation import Simulation
from streamplace.sim.engine.snapshots import RunTrace, Snapshot, check
from streamplace.sim.flow import Ints, checked

LONGER = 1e-9  # relative difference of ticks that is rounding


def run_until(
    simulation: Simulation,
    placement: NDArray[np.integer],
    at_s: float,
    tick_s: float | None = None,
) -> Checkpoint:
    """Run one placement from the start to a time, from which `resume` goes on.

    Parameters
    ----------
    placement, tick_s
        See `Simulation.run`.
    at_s
        Seconds since the start, at most the duration of the settings, in whole ticks.

    Raises
    ------
    ValueError
        If `placement` or `at_s` does not fit.
    EngineError
        If the run could not be continued to that time.
    """
    devices = checked(simulation.flow, placement)[0]
    state, rules, timing, link = simulation.ready(devices, tick_s)
    start = Checkpoint(
        0,
        state,
        rules,
        timing,
        link,
        devices,
        simulation.inner,
        simulation.places,
        simulation.order,
        Snapshot.of(state, 0, simulation.order),
    )
    return _continued(start, start.tick_at(at_s))


def resume(
    simulation: Simulation,
    checkpoint: Checkpoint,
    until_s: float,
    placement: NDArray[np.integer] | None = None,
    *,
    downtime_s: float = 0.0,
    operators: tuple[Ints, Ints] | None = None,
) -> Checkpoint:
    """Go on from a checkpoint, with the same or another placement and numbers of instances.

    Without a placement, or with the same one and no downtime, the run goes on as if it had not
    stopped. Otherwise it is restarted, as from a savepoint: see `restart`. The
    simulation may be of another flow, with other instances of the same operators on the same
    number of devices; its scene and its duration count from the start of the first run.

    Parameters
    ----------
    checkpoint
        A checkpoint of this or another simulation. It is not changed.
    until_s
        Seconds since the start of the first run.
    placement
        (V,) device indices; None: those of the checkpoint.
    downtime_s
        Seconds, in whole ticks, during which nothing is processed or sent. Sources go on to be
        offered tuples, and drop those beyond `Settings.source_queue`.
    operators
        Numbers of the operators that the instances of the checkpoint's flow and those of this
        one belong to, (V,) each. None: both flows have the same instances and streams.

    Raises
    ------
    ValueError
        If `placement`, `until_s`, `downtime_s` or `operators` does not fit, or if the queues of
        the new placement need shorter ticks than those of the checkpoint.
    EngineError
        If the run could not be continued to that time.
    """
    tick_s = checkpoint.rules.tick_s
    stop = checkpoint.tick_at(until_s, simulation.settings.first_duration_s)
    placement = checkpoint.devices if placement is None else placement
    devices = checked(simulation.flow, placement)[0]
    if not 0 <= downtime_s < np.inf:
        raise ValueError(f"downtime_s: must be at least 0 and finite (got {downtime_s:g})")
    down = round(min(downtime_s / tick_s, 2.0 * stop))
    if checkpoint.tick + down > stop:
        raise ValueError(f"until_s: must be after the downtime (got {until_s:g} s)")
    if _goes_on(simulation, checkpoint, devices) and operators is None and not down:
        return _continued(checkpoint.going_on(simulation.timed(tick_s)), stop)
    if tick_s > (most := simulation.tick_for(devices)) * (1 + LONGER):
        raise ValueError(
            f"placement: needs ticks of at most {most:g} s, but the checkpoint has {tick_s:g} s"
        )
    state, rules, timing, link = simulation.ready(devices, tick_s)
    empty = replace(
        checkpoint,
        state=state,
        rules=rules,
        timing=timing,
        link=link,
        devices=devices,
        flow=simulation.inner,
        places=simulation.places,
        order=simulation.order,
    )
    restarted = carry_over(checkpoint, empty, simulation.expected, operators)
    return _continued(restarted, stop, down)


def trace(simulation: Simulation, checkpoint: Checkpoint) -> RunTrace:
    """Return the trace of a run from its start, or its last restart, to a checkpoint.

    Raises
    ------
    ValueError
        If there is no tick between them.
    SceneError
        If no tuple that could reach a sink is offered in this time.
    EngineError
        If tuples were created or lost.
    """
    begin, end = checkpoint.since, checkpoint.tick
    if begin.tick == end:
        raise ValueError("checkpoint: must be after the restart; nothing was run since")
    timing, state = checkpoint.timing, checkpoint.state
    offered = timing.offered[:, :end] if simulation.scene.profiles else timing.offered
    timing = timing._replace(measured=begin.tick, ticks=end, offered=offered)
    return RunTrace(
        timing.tick_s,
        timing.period,
        begin=begin,
        end=checkpoint.snapshot,
        series=(),
        link=checkpoint.link,
        sink=simulation.tables.ends[0],
        stream=simulation.tables.ends[1],
        latency=state.latency[:end],
        arrived=state.arrived[:end],
        devices=checkpoint.devices,
        due=simulation.due(timing),
        lost=check(state, simulation.inner.target, simulation.order),
    )


def _goes_on(simulation: Simulation, checkpoint: Checkpoint, devices: Ints) -> bool:
    """Return whether the same instances would run on the same devices."""
    same = same_job(checkpoint.flow, simulation.inner)
    return same and np.array_equal(devices, checkpoint.devices)


def _continued(checkpoint: Checkpoint, stop: int, down: int = 0) -> Checkpoint:
    """Return the checkpoint at a tick; nothing runs in the first `down` ticks before it."""
    state, begin = checkpoint.copied_state(), checkpoint.tick
    state = advance(state, checkpoint.rules, begin, begin + down, wait_ticks)
    state = advance(state, checkpoint.rules, begin + down, stop)
    return replace(checkpoint, state=state, tick=stop)
