"""The length of a tick: how long it may be, and the arrays that depend on it."""

from fractions import Fraction
from math import ceil, lcm
from typing import NamedTuple

import numpy as np

from sim.closed_form import bottleneck
from sim.engine import records
from sim.engine.records import Records, blank
from sim.engine.scene import Scene
from sim.engine.settings import MOST_TICKS, Settings
from sim.engine.snapshots import EngineError
from sim.flow import Columns, Floats, Flow, Ints
from sim.jit import kernel
from sim.links import ends_of

FINEST = 100  # parts of a tick: what is longer by less is taken for whole


class Timed(NamedTuple):
    """What depends on the length of a tick."""

    tick_s: float
    ticks: int
    measured: int  # the first that is
    period: int  # ticks after which everything begins again
    offered: Floats  # (sources, ticks) tuples; (sources, 1) if they never change
    speed: Floats  # (changes + 1, D) factor of each device's capacity
    speed_from: Ints  # (changes + 1,) ticks, the first 0
    windows: Records
    slots: Records


def lay_out_ticks(
    tick_s: float, settings: Settings, scene: Scene, rates: dict[int, float], devices: int
) -> Timed:
    """Lay out a run in ticks.

    What is measured is a whole number of periods, the last ones, where one fits.

    Parameters
    ----------
    rates
        Tuples/s that each source is offered, by operator.

    Raises
    ------
    EngineError
        If there are too many ticks.
    """
    if settings.duration_s > MOST_TICKS * tick_s:
        raise EngineError(f"more than {MOST_TICKS:,} ticks: queues this small need {tick_s:.3g} s")
    ticks = max(1, round(settings.duration_s / tick_s))
    measured = min(round(settings.measured_from_s / tick_s), ticks - 1)
    period = _period(tick_s, scene)
    if period <= ticks - measured:
        measured = ticks - (ticks - measured) // period * period
    speed, speed_from = _speed(tick_s, ticks, scene, devices)
    offered = _offered(tick_s, ticks, scene, rates)
    windows = _windows(tick_s, scene)
    return Timed(tick_s, ticks, measured, period, offered, speed, speed_from, *windows)


def longest_tick(
    flow: Flow, placement: Ints, settings: Settings, scene: Scene, sources: int
) -> float:
    """Return seconds a tick: as told, or less, so that no queue and no window is too small for it.

    Twice what a stream brings in a tick must fit into a queue. It brings what is offered at the
    most, less what devices (when they are fastest), links and, under backpressure, everything
    behind it hold back.

    Parameters
    ----------
    flow
        With the selectivities of windows, see `with_windows`.
    sources
        Their number.
    """
    advances = [window.advance_s for window in scene.windows.values()]
    longest, queue = min([settings.tick_s, *advances]), settings.queue
    factors = [max(profile.factor) for profile in scene.profiles.values()]
    peak = max([*factors, *[1.0] * (sources > len(factors))])
    most = peak * float(flow.stream_tuples.max(initial=0.0))
    if queue == 0 or 2.0 * most * longest <= queue:
        return longest
    on_device, on_link = bottleneck.utilisations(flow, placement)
    on_device /= _fastest_devices(scene, flow.devices)
    if settings.backpressure and sources == 1:
        most /= max(1.0, peak * float(on_device.max()), peak * float(on_link.max(initial=0.0)))
    else:
        if settings.scheduler == "dynamic" or settings.allocation == "uniform":
            on_device[:] = 0.0  # an operator may have more of its device than it is offered
        most = _fastest(
            flow.columns, placement, peak * on_device, peak * on_link, settings.backpressure, peak
        )
    return longest / max(1, ceil(2.0 * most * longest / queue))


def _fastest_devices(scene: Scene, devices: int) -> Floats:
    """Return the largest factor of its capacity that each device ever has, (D,), at least 1."""
    factor = np.ones(devices)
    for speed in scene.speeds:
        factor[speed.device] = max(factor[speed.device], speed.factor)
    return factor


@kernel
def _fastest(
    flow: Columns,
    placement: Ints,
    on_device: Floats,
    on_link: Floats,
    pushes: bool,
    peak: float,
) -> float:
    """Return the most tuples/s that any stream brings: all is held back by what is before it."""
    devices = flow.capacity.shape[0]
    share = np.zeros(placement.shape[0])
    for v in range(placement.shape[0]):
        share[v] = 1.0 if flow.source_tuples[v] > 0.0 else 0.0
    most = 0.0
    for e in range(flow.source.shape[0]):
        v, w = flow.source[e], flow.target[e]
        a, b = placement[v], placement[w]
        sent = min(share[v], 1.0 / on_device[a])
        passed = sent
        if a != b:
            sends, receives = ends_of(flow.nic, devices, a, b)
            passed = min(sent, 1.0 / on_link[sends], 1.0 / on_link[receives])
        share[w] = max(share[w], passed)
        most = max(most, peak * flow.stream_tuples[e] * (passed if pushes else sent))
    return most


def _period(tick_s: float, scene: Scene) -> int:
    """Return ticks after which windows and profiles are where they began.

    Two and a half ticks are five: what begins between two ticks does so at the nearer one.
    """
    lengths = [window.advance_s for window in scene.windows.values()]
    lengths += [p.every_s for p in scene.profiles.values() if p.every_s is not None]
    ticks = [Fraction(length / tick_s).limit_denominator(FINEST) for length in lengths]
    return lcm(*(max(1, length.numerator) for length in ticks))


def _windows(tick_s: float, scene: Scene) -> tuple[Records, Records]:
    every = list(scene.windows.values())
    made = blank(records.WINDOW, len(every))
    slots = np.array([window.slots for window in every], dtype=np.int64)
    made["ratio"] = [window.ratio for window in every]
    made["count"] = [-1.0 if w.count is None else w.count for w in every]
    made["advance"] = [window.advance_s / tick_s for window in every]
    made["due"] = np.round(made["advance"])
    made["closed"] = 1
    made["slots"] = slots
    made["first_slot"] = made["slot"] = np.cumsum(slots) - slots
    return made, blank(records.SLOT, int(slots.sum()))


def _offered(tick_s: float, ticks: int, scene: Scene, rates: dict[int, float]) -> Floats:
    """Return the tuples offered to each source in each tick, (sources, ticks) or (sources, 1)."""
    rate = np.array(list(rates.values()))[:, None]
    if not scene.profiles:
        return rate * tick_s
    at: Floats = np.arange(ticks + 1, dtype=np.float64) * tick_s
    full_s = [
        np.diff(scene.profiles[v].seconds_at_full_rate(at))
        if v in scene.profiles
        else np.full(ticks, tick_s)
        for v in rates
    ]
    return np.asarray(rate * np.array(full_s))


def _speed(tick_s: float, ticks: int, scene: Scene, devices: int) -> tuple[Floats, Ints]:
    """Return the factors of devices' capacity, (changes + 1, D), and from which tick on."""
    speeds = sorted(scene.speeds, key=lambda speed: speed.from_s)
    at = [min(round(min(speed.from_s / tick_s, float(ticks))), ticks) for speed in speeds]
    rows = [np.ones(devices)]
    for speed in speeds:
        rows.append(rows[-1].copy())
        rows[-1][speed.device] = speed.factor
    return np.array(rows), np.array([0, *at], dtype=np.int32)
