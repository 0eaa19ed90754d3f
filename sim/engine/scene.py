"""Scenes: changes of source rates and device speeds during a run, and windowed operators."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.flow import Columns, Floats, Flow
from streamplace.sim.jit import kernel

MOST = 1e12  # maximum of seconds, tuples and factors in a scene, far above any use
MOST_SLOTS = 1_000_000  # of a window, which are kept in memory one by one


@dataclass(frozen=True)
class Profile:
    """A source's offered rate over time, as a factor of its rate.

    Parameters
    ----------
    at_s
        Increasing times.
    factor
        Factor from each time on; the first factor also applies before the first time.
    linear
        Whether the factor is interpolated linearly between times.
    every_s
        Period after which the profile repeats; None: it does not repeat.

    Raises
    ------
    ValueError
        If there are no times, times do not increase or exceed `every_s`, or numbers are negative or
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
            raise ValueError("at_s and factor must have the same length, at least 1")
        if np.any(np.diff(self.at_s) <= 0):
            raise ValueError("at_s must be increasing")
        if self.linear:
            with np.errstate(over="ignore"):
                slope = np.diff(self.factor) / np.diff(self.at_s)
            if not np.all(np.isfinite(slope)):
                raise ValueError("at_s: times are too close to each other for linear interpolation")
        if self.every_s is not None and not self.at_s[-1] < self.every_s <= MOST:
            raise ValueError(f"every_s must be above the last time in at_s and at most {MOST:g}")

    @classmethod
    def ramp(cls, seconds: float) -> "Profile":
        """Return a linear rise from 0 to the full rate in `seconds`."""
        return cls((0.0, seconds), (0.0, 1.0), linear=True)

    @classmethod
    def bursts(cls, every_s: float, length_s: float, factor: float) -> "Profile":
        """Return `factor` for the first `length_s` of every `every_s`, and 1 otherwise."""
        return cls((0.0, length_s), (factor, 1.0), every_s=every_s)

    def seconds_at_full_rate(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the integral of the factor up to each time, in seconds at the full rate."""
        if self.every_s is None:
            return self._once(t)
        turns = np.floor(t / self.every_s)
        period = self._once(np.array([self.every_s]))
        return np.asarray(turns * period + self._once(t - turns * self.every_s))

    def lasting(self) -> "Profile":
        """Return the profile once it no longer changes, or itself if it repeats."""
        return Profile((0.0,), self.factor[-1:]) if self.every_s is None else self

    def _once(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the integral without repetition."""
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
    """A window: every `advance_s`, the operator emits output for the tuples of the last `size_s`.

    Parameters
    ----------
    size_s
        Length of the window in seconds, a whole multiple of `advance_s`.
    advance_s
        Seconds between windows.
    ratio
        Tuples emitted per tuple in the window, before the streams' selectivity.
    count
        If not None, tuples emitted per window that is not empty, instead of `ratio`.
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
        if abs(self.size_s / self.advance_s - self.slots) > 1e-9 * self.slots:  # above rounding
            raise ValueError("a window's size must be a whole multiple of its advance")

    @property
    def slots(self) -> int:
        """The number of advances per window."""
        return round(self.size_s / self.advance_s)


@dataclass(frozen=True)
class Speed:
    """A change of speed: from `from_s` on, a device has `factor` of its capacity; 0 stops it."""

    device: int
    from_s: float
    factor: float

    def __post_init__(self) -> None:
        _check_numbers("speed", (self.from_s, self.factor))


@dataclass(frozen=True)
class Scene:
    """Profiles of sources and windows, by operator index, and changes of device speed."""

    profiles: dict[int, Profile] = field(default_factory=dict)
    windows: dict[int, Window] = field(default_factory=dict)
    speeds: tuple[Speed, ...] = ()

    @property
    def lasts(self) -> bool:
        """Whether nothing changes except for what repeats."""
        return self == self.lasting()

    def lasting(self) -> "Scene":
        """Return the scene once nothing changes any more, except for what repeats."""
        last = {speed.device: speed.factor for speed in sorted(self.speeds, key=_from_s)}
        return Scene(
            {v: profile.lasting() for v, profile in self.profiles.items()},
            self.windows,
            tuple(Speed(device, 0.0, factor) for device, factor in last.items()),
        )

    def check(self, flow: Flow) -> None:
        """Check the scene against a flow.

        Raises
        ------
        ValueError
            If an operator or device is unknown, or a profile or window is on the wrong operator.
        """
        has_inputs = np.zeros(flow.operators, dtype=np.bool_)
        has_inputs[flow.target] = True
        for v in (*self.profiles, *self.windows):
            if not 0 <= v < flow.operators:
                raise ValueError(f"unknown operator {v} (the flow has {flow.operators})")
            if (v in self.profiles) == bool(has_inputs[v]):
                if v in self.profiles:
                    raise ValueError(f"operator {v}: only a source can have a profile")
                raise ValueError(f"operator {v}: a source cannot have a window")
        for v in self.windows:
            if flow.joins:
                raise ValueError(f"operator {v}: windows need operators that take any input")
            if v in flow.sinks:
                raise ValueError(f"operator {v}: a sink cannot have a window")
        for speed in self.speeds:
            if not 0 <= speed.device < flow.devices:
                raise ValueError(f"unknown device {speed.device} (the flow has {flow.devices})")


def _from_s(speed: Speed) -> float:
    return speed.from_s


def with_windows(flow: Flow, scene: Scene) -> Flow:
    """Return the flow with the average selectivities of its windowed operators."""
    if not scene.windows:
        return flow
    return replace(flow, selectivity=flow.selectivity * gains(flow, scene)[flow.source])


def gains(flow: Flow, scene: Scene) -> Floats:
    """Return the tuples emitted per tuple processed, (V,), before the streams' selectivities."""
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
    """Fill in tuples emitted per tuple processed, (V,): `ratio`, or from `rate` (1/s) if >= 0."""
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
            raise ValueError(f"{name}: must be between 0 and {MOST:g} (got {number:g})")
