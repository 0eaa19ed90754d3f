"""The length of a tick, and the arrays that depend on it."""

from fractions import Fraction
from math import ceil, lcm
from typing import NamedTuple

import numpy as np

from streamplace.sim.closed_form import bottleneck
from streamplace.sim.engine import records
from streamplace.sim.engine.records import Records, blank
from streamplace.sim.engine.scene import Scene
from streamplace.sim.engine.settings import MOST_TICKS, Settings
from streamplace.sim.engine.snapshots import EngineError
from streamplace.sim.flow import Columns, Floats, Flow, Ints
from streamplace.sim.jit import kernel
from streamplace.sim.links import ends_of, uplinks_of

# Periods are rounded to fractions of a tick with at most this denominator, or none would repeat.
FINEST = 100


class Timed(NamedTuple):
    """The parts of a run that depend on the length of a tick."""

    tick_s: float
    ticks: int
    measured: int  # first measured tick
    period: int  # ticks after which all windows and profiles repeat
    offered: Floats  # (sources, ticks) tuples; (sources, 1) if constant
    speed: Floats  # (changes + 1, D) factor of each device's capacity
    speed_from: Ints  # (changes + 1,) ticks; the first is 0
    windows: Records
    slots: Records
    queues: Floats  # (E,) largest number of tuples that may wait on each stream

    def until(self, duration_s: float, measured_from_s: float) -> "Timed":
        """Return the timing of a run that ends earlier.

        The measured time is a whole number of periods at its end, if at least one fits.
        """
        ticks = max(1, round(duration_s / self.tick_s))
        measured = min(round(measured_from_s / self.tick_s), ticks - 1)
        if self.period <= ticks - measured:
            measured = ticks - (ticks - measured) // self.period * self.period
        return self._replace(ticks=ticks, measured=measured)


def lay_out_ticks(
    tick_s: float,
    duration_s: float,
    settings: Settings,
    scene: Scene,
    rates: dict[int, float],
    devices: int,
    queues: Floats,
) -> Timed:
    """Return the timing of a run; see `Timed.until`.

    Parameters
    ----------
    duration_s
        Simulated seconds, at least those of the settings.
    rates
        Tuples/s offered to each source, by operator.
    queues
        (E,) largest number of tuples that may wait on each stream with this tick.

    Raises
    ------
    EngineError
        If there are too many ticks.
    """
    if duration_s > MOST_TICKS * tick_s:
        raise EngineError(
            f"more than {MOST_TICKS:,} ticks: the small queues need ticks of {tick_s:.3g} s"
        )
    ticks = max(1, round(duration_s / tick_s))
    period = _period(tick_s, scene)
    speed, speed_from = _speed(tick_s, ticks, scene, devices)
    offered = _offered(tick_s, ticks, scene, rates)
    windows = _windows(tick_s, scene)
    timing = Timed(tick_s, ticks, 0, period, offered, speed, speed_from, *windows, queues)
    return timing.until(duration_s, settings.measured_from_s)


def longest_tick(
    flow: Flow, placement: Ints, settings: Settings, scene: Scene, sources: int
) -> float:
    """Return the seconds per tick: those of the settings, or fewer for small queues and windows.

    Twice the tuples that a stream brings in a tick must fit into a queue. A stream brings at most
    the peak offered rate, limited by devices (at their fastest), links and, with backpressure,
    everything downstream.

    Parameters
    ----------
    flow
        Flow with the selectivities of windows; see `with_windows`.
    sources
        Number of sources.
    """
    advances = [window.advance_s for window in scene.windows.values()]
    longest, queue = min([settings.first_tick_s, *advances]), settings.queue
    factors = [max(profile.factor) for profile in scene.profiles.values()]
    peak = max([*factors, *[1.0] * (sources > len(factors))])
    most = peak * float(flow.stream_tuples.max(initial=0.0))
    # No queue limits the tick, whatever the devices do.
    if queue == 0 or 2.0 * most * longest <= queue:
        return longest
    on_device, on_link = bottleneck.utilisations(flow, placement)
    on_device /= _fastest_devices(scene, flow.devices)
    if settings.backpressure and sources == 1:
        most /= max(1.0, peak * float(on_device.max()), peak * float(on_link.max(initial=0.0)))
    else:
        if settings.scheduler == "dynamic" or settings.allocation == "uniform":
            on_device[:] = 0.0  # an operator may get a larger share of its device than its work
        most = _fastest(
            flow.columns, placement, peak * on_device, peak * on_link, settings.backpressure, peak
        )
    return longest / max(1, ceil(2.0 * most * longest / queue))


def _fastest_devices(scene: Scene, devices: int) -> Floats:
    """Return the largest capacity factor of each device during the run, (D,), at least 1."""
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
    """Return the largest tuples/s of any stream, limited by devices and links upstream."""
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
            if flow.up.shape[0] > 0:
                for shared in uplinks_of(flow, a, b):
                    if shared >= 0:
                        passed = min(passed, 1.0 / on_link[shared])
        share[w] = max(share[w], passed)
        most = max(most, peak * flow.stream_tuples[e] * (passed if pushes else sent))
    return most


def _period(tick_s: float, scene: Scene) -> int:
    """Return the number of ticks after which all windows and profiles repeat.

    A period of two and a half ticks counts as five, because events between two ticks are moved to
    the nearer one.
    """
    lengths = [window.advance_s for window in scene.windows.values()]
    lengths += [p.every_s for p in scene.profiles.values() if p.every_s is not None]
    ticks = [Fraction(length / tick_s).limit_denominator(FINEST) for length in lengths]
    return lcm(*(max(1, length.numerator) for length in ticks))


def _windows(tick_s: float, scene: Scene) -> tuple[Records, Records]:
    all_windows = list(scene.windows.values())
    made = blank(records.WINDOW, len(all_windows))
    slots = np.array([window.slots for window in all_windows], dtype=np.int64)
    made["ratio"] = [window.ratio for window in all_windows]
    made["count"] = [-1.0 if w.count is None else w.count for w in all_windows]
    made["advance"] = [window.advance_s / tick_s for window in all_windows]
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
    """Return the capacity factors of devices, (changes + 1, D), and the tick of each change."""
    speeds = sorted(scene.speeds, key=lambda speed: speed.from_s)
    at = [min(round(min(speed.from_s / tick_s, float(ticks))), ticks) for speed in speeds]
    rows = [np.ones(devices)]
    for speed in speeds:
        rows.append(rows[-1].copy())
        rows[-1][speed.device] = speed.factor
    return np.array(rows), np.array([0, *at], dtype=np.int32)
