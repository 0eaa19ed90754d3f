"""Scenes: rates and speeds that change during a run, and windowed operators."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from sim.flow import Columns, Floats, Flow
from sim.jit import kernel

MOST = 1e12  # seconds, factors and tuples of a scene
MOST_SLOTS = 1_000_000


@dataclass(frozen=True)
class Profile:
    """A source's offered rate over time, as a factor of its rate.

    Parameters
    ----------
    at_s
        Rising times.
    factor
        The factor from each time on; before the first it is that of the first.
    linear
        Whether the factor goes in straight lines from one time to the next.
    every_s
        After which time it all begins again; None: never.

    Raises
    ------
    ValueError
        On no times, times that do not rise or exceed `every_s`, or numbers that are negative or
        not finite.
    """

    at_s: tuple[float, ...]
    factor: tuple[float, ...]
    linear: bool = False
    every_s: float | None = None

    def __post_init__(self) -> None:
        _check_numbers("at_s", self.at_s)
        _check_numbers("factor", self.factor)
        if not self.at_s or len(self.at_s) != len(self.factor):
            raise ValueError("at_s and factor must be as many, and at least one")
        if np.any(np.diff(self.at_s) <= 0):
            raise ValueError("at_s must rise")
        if self.linear:
            with np.errstate(over="ignore"):
                slope = np.diff(self.factor) / np.diff(self.at_s)
            if not np.all(np.isfinite(slope)):
                raise ValueError("at_s: times are too near each other for a straight line")
        if self.every_s is not None and not self.at_s[-1] < self.every_s <= MOST:
            raise ValueError(f"every_s must be above the last of at_s and at most {MOST:g}")

    @classmethod
    def ramp(cls, seconds: float) -> "Profile":
        """Return a linear rise from 0 to the full rate."""
        return cls((0.0, seconds), (0.0, 1.0), linear=True)

    @classmethod
    def bursts(cls, every_s: float, length_s: float, factor: float) -> "Profile":
        """Return the full rate, and `factor` of it for the first `length_s` of every `every_s`."""
        return cls((0.0, length_s), (factor, 1.0), every_s=every_s)

    def seconds_at_full_rate(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the integral of the factor up to each time: seconds at the full rate."""
        if self.every_s is None:
            return self._once(t)
        turns = np.floor(t / self.every_s)
        whole = self._once(np.array([self.every_s]))
        return np.asarray(turns * whole + self._once(t - turns * self.every_s))

    def _once(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        at, factor = np.array(self.at_s), np.array(self.factor)
        width = np.diff(at)
        slope = np.append(np.diff(factor) / width if self.linear else 0.0 * width, 0.0)
        done = np.concatenate([[0.0], np.cumsum(width * (factor[:-1] + slope[:-1] * width / 2))])
        i = np.maximum(np.searchsorted(at, t, side="right") - 1, 0)
        into = np.maximum(t - at[i], 0.0)
        before = factor[0] * np.minimum(t, at[0])
        return np.asarray(before + done[i] + into * (factor[i] + slope[i] * into / 2))


@dataclass(frozen=True)
class Window:
    """An operator that gathers tuples, and every `advance_s` emits for the last `size_s`.

    Parameters
    ----------
    size_s
        A whole multiple of `advance_s`.
    ratio
        Tuples emitted for each tuple in the window, before the streams' selectivity.
    count
        Instead: tuples emitted for a window that had any.
    """

    size_s: float
    advance_s: float
    ratio: float = 1.0
    count: float | None = None

    def __post_init__(self) -> None:
        _check_numbers("window", (self.size_s, self.advance_s, self.ratio, self.count or 0.0))
        if not 0 < self.advance_s <= self.size_s:
            raise ValueError("a window's advance must be above 0 and at most its size")
        if self.size_s > MOST_SLOTS * self.advance_s:
            raise ValueError(f"a window may have at most {MOST_SLOTS:,} advances")
        if abs(self.size_s / self.advance_s - self.slots) > 1e-9 * self.slots:
            raise ValueError("a window's size must be a whole multiple of its advance")

    @property
    def slots(self) -> int:
        """Advances a window."""
        return round(self.size_s / self.advance_s)


@dataclass(frozen=True)
class Speed:
    """From `from_s` on, a device has `factor` of its capacity; 0 stops it."""

    device: int
    from_s: float
    factor: float

    def __post_init__(self) -> None:
        _check_numbers("speed", (self.from_s, self.factor))


@dataclass(frozen=True)
class Scene:
    """Profiles of sources and windows by operator index, and changes of speed."""

    profiles: dict[int, Profile] = field(default_factory=dict)
    windows: dict[int, Window] = field(default_factory=dict)
    speeds: tuple[Speed, ...] = ()

    def check(self, flow: Flow) -> None:
        """Raise ValueError where it names what the flow has not."""
        has_inputs = np.zeros(flow.operators, dtype=np.bool_)
        has_inputs[flow.target] = True
        for v in (*self.profiles, *self.windows):
            if not 0 <= v < flow.operators:
                raise ValueError(f"a scene names operator {v} of {flow.operators}")
            if (v in self.profiles) == bool(has_inputs[v]):
                kind = "profile" if v in self.profiles else "window"
                raise ValueError(f"operator {v} has a {kind}: only sources have profiles")
        for v in self.windows:
            if v in flow.sinks:
                raise ValueError(f"operator {v} has a window, but nothing to send to")
        for speed in self.speeds:
            if not 0 <= speed.device < flow.devices:
                raise ValueError(f"a scene names device {speed.device} of {flow.devices}")


def with_windows(flow: Flow, scene: Scene) -> Flow:
    """Return the flow with the selectivities that its windowed operators have on average."""
    if not scene.windows:
        return flow
    return replace(flow, selectivity=flow.selectivity * gains(flow, scene)[flow.source])


def gains(flow: Flow, scene: Scene) -> Floats:
    """Return tuples emitted per tuple processed, (V,), before streams' selectivities."""
    ratio, rate = np.ones(flow.operators), np.full(flow.operators, -1.0)
    for v, window in scene.windows.items():
        ratio[v] = window.ratio * window.slots
        if window.count is not None:
            rate[v] = window.count / window.advance_s
    gain = np.ones(flow.operators)
    _gains(flow.columns, ratio, rate, gain)
    return gain


@kernel
def _gains(flow: Columns, ratio: Floats, rate: Floats, gain: Floats) -> None:
    """Fill in tuples emitted per tuple processed, (V,): `ratio`, or `rate` a second if >= 0."""
    tuples = flow.source_tuples.copy()
    for e in range(flow.source.shape[0]):
        v, w = flow.source[e], flow.target[e]
        gain[v] = ratio[v]
        if rate[v] >= 0.0:
            gain[v] = rate[v] / tuples[v] if tuples[v] > 0.0 else 0.0
        tuples[w] += tuples[v] * flow.selectivity[e] * gain[v]


def _check_numbers(name: str, numbers: Iterable[float]) -> None:
    for number in numbers:
        if not 0 <= number <= MOST:
            raise ValueError(f"{name}: numbers must be from 0 to {MOST:g} (got {number:g})")
