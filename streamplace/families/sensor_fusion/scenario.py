"""The parameters of the sensor-fusion scenario, its map, and the execution times of its tasks.

The time of task i on device type j is C_i T_j + S_j, separately for tasks that run on the GPU and
on the CPU: C_i is the work of the task, T_j the time of a unit of work and S_j a constant part.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import exp, hypot
from typing import NamedTuple

import numpy as np

from streamplace.errors import UsageError
from streamplace.families.family import check_range
from streamplace.problem.relocation import RelocationCost
from streamplace.util.suggest import valid_choices

KINDS = ("A", "B", "C")  # Jetson Nano, Jetson TX2, Core i7 with a GTX 1080
CAMERA, LIDAR, CAV_FUSION, RSU_FUSION = "camera", "lidar", "cav-fusion", "rsu-fusion"
TIMES_S: dict[str, dict[str, float]] = {
    CAMERA: {"A": 0.053, "B": 0.036, "C": 0.009},
    LIDAR: {"A": 0.014, "B": 0.007, "C": 0.003},
    CAV_FUSION: {"A": 0.035, "B": 0.035, "C": 0.011},
    RSU_FUSION: {"A": 0.25, "B": 0.25, "C": 0.028},
}
"""Type of task -> kind of device -> mean of the measured times in seconds (GiPH, appendix)."""
UNITS = {"GPU": (CAMERA, LIDAR), "CPU": (RSU_FUSION, CAV_FUSION)}
"""Processor -> the tasks that run on it, the heavier one first."""
MIPS_OF_A = 1000.0  # of the CPU of kind A; the scale of instructions, which changes no time

STATE_BYTES = {CAMERA: 11_494.0, LIDAR: 560.0, CAV_FUSION: 11_796.0, RSU_FUSION: 20_907.0}
"""Type of task -> bytes that its migration sends (GiPH, appendix)."""

STATIC_BYTES = {
    CAMERA: 72_173_525.0,
    LIDAR: 24_576.0,
    CAV_FUSION: 38_110.0,
    RSU_FUSION: 38_950.0,
}
"""Type of task -> bytes of its code and weights (GiPH, appendix)."""

_STARTUP_OF_A = {CAMERA: 4.27373, LIDAR: 0.06098, CAV_FUSION: 0.00039, RSU_FUSION: 0.00283}

STARTUP_S = {
    "A": _STARTUP_OF_A,
    "B": _STARTUP_OF_A,  # not stated by the paper; those of A, the slower kind
    "C": {CAMERA: 0.79466, LIDAR: 0.00926, CAV_FUSION: 0.00011, RSU_FUSION: 0.001},
}
"""Kind of device -> type of task -> seconds to start (GiPH, appendix)."""

WATTS = {"A": 10.0, "B": 15.0, "C": 250.0}
"""Kind of device -> watts while it runs a task.

These are rated powers and not the paper's measurements: the largest power mode of the Jetson
boards, and a Core i7 with a GTX 1080 under load.
"""

LEAST_MBPS = 1e-6  # of devices that are too far apart for a task to use both

LIMITS = {
    "side": (2, 20),
    "spacing": (1, 10_000),
    "cameras": (0, 100),
    "edge_a": (0, 500),
    "edge_b": (0, 500),
    "edge_c": (0, 500),
    "arrivals": (1, 100_000),
    "connected": (0, 1),
    "speed": (0.1, 100),
    "waypoints": (1, 100),
    "vehicle_cameras": (0, 100),
    "interval": (0.1, 3600),
    "reach": (0, 100_000),
    "bandwidth": (1e-3, 1e6),
    "decay": (1, 1e6),
    "latency": (0, 3600),
    "camera_bytes": (0, 1e12),
    "lidar_bytes": (0, 1e12),
}
"""Parameter -> its smallest and largest value."""


@dataclass(frozen=True)
class LinearTimes:
    """Fitted times: ``work[i] * unit_s[j] + constant_s[j]``.

    Parameters
    ----------
    work
        Type of task -> its work C_i; the heaviest has 1.
    unit_s, constant_s
        Kind of device -> T_j and S_j in seconds.
    """

    work: Mapping[str, float]
    unit_s: Mapping[str, float]
    constant_s: Mapping[str, float]

    def seconds(self, task: str, kind: str) -> float:
        """Return the time of a task on a device of a kind, in seconds."""
        return self.work[task] * self.unit_s[kind] + self.constant_s[kind]


def fitted(heavy: str, light: str, times_s: Mapping[str, Mapping[str, float]]) -> LinearTimes:
    """Return the least-squares fit to the times of two tasks, with no negative number.

    For any work c of the lighter task from 0 to its smallest ratio of times, a line through both
    times of each kind of device has no negative constant part, so the residuals are 0 and do not
    determine c. The largest c is chosen: of all exact fits, it has the smallest constant parts.
    Times then follow the work as far as they can.

    Parameters
    ----------
    heavy, light
        Types of tasks; the first takes longer on every kind of device.
    times_s
        Type of task -> kind of device -> seconds.
    """
    most, least = times_s[heavy], times_s[light]
    work = min(least[kind] / most[kind] for kind in most)
    unit = {kind: (most[kind] - least[kind]) / (1.0 - work) for kind in most}
    constant = {kind: max(0.0, most[kind] - unit[kind]) for kind in most}
    return LinearTimes({heavy: 1.0, light: work}, unit, constant)


FITS = {unit: fitted(*tasks, TIMES_S) for unit, tasks in UNITS.items()}
"""Processor -> the fit to the times of its tasks."""


def instructions_of(task: str) -> float:
    """Return the work of a task as instructions of the CPU of kind A."""
    fit = next(fit for fit in FITS.values() if task in fit.work)
    return fit.work[task] * fit.unit_s["A"] * MIPS_OF_A * 1e6


def mips_of(kind: str) -> float:
    """Return the speed of the CPU of a kind of device, from the fitted times."""
    unit = FITS["CPU"].unit_s
    return MIPS_OF_A * unit["A"] / unit[kind]


def relocation_cost(*, static: bool = False) -> RelocationCost:
    """Return what relocations of the tasks cost.

    Parameters
    ----------
    static
        Whether a move also sends code and weights. By default they are on every device.
    """
    return RelocationCost(STARTUP_S, STATE_BYTES, STATIC_BYTES if static else {})


class Point(NamedTuple):
    """A position on the map in metres."""

    x: float
    y: float

    def distance(self, other: "Point") -> float:
        """Return the distance to another position in metres."""
        return hypot(self.x - other.x, self.y - other.y)


@dataclass(frozen=True)
class Scenario:
    """The parameters of GiPH's case study of cooperative sensor fusion, on a grid map.

    Defaults that the paper does not state are marked with a star.

    Parameters
    ----------
    side
        Intersections on each side of the map; each has a road-side unit (RSU) of kind C.
    spacing
        * Metres between two intersections.
    block
        * Side of the square in the middle of the map whose sensors the task graphs contain; None:
        the whole map.
    cameras
        Cameras at each intersection.
    edge_a, edge_b, edge_c
        Numbers of edge devices of each kind, at random positions.
    arrivals
        Vehicles that enter the map in an hour.
    connected
        Share of vehicles that are connected (CAVs).
    speed
        * Metres per second at which vehicles drive.
    waypoints
        * Random intersections that a vehicle visits before it leaves the map.
    on_board
        * Kind of the device in a connected vehicle: A, B or C.
    vehicle_cameras
        * Cameras of a connected vehicle, besides its LIDAR.
    interval
        Seconds between two snapshots.
    reach
        Metres within which devices and sensors interact.
    bandwidth, decay
        A link of d metres has bandwidth * exp(-d / decay) Mbit/s.
    latency
        * Latency of a link in seconds.
    camera_bytes, lidar_bytes
        * Bytes that a sensor sends to its task.

    Raises
    ------
    UsageError
        On an unknown kind, or a number that is out of range.
    """

    side: int = 6
    spacing: float = 200.0
    block: int | None = None
    cameras: int = 4
    edge_a: int = 10
    edge_b: int = 10
    edge_c: int = 20
    arrivals: float = 3980.0
    connected: float = 0.1
    speed: float = 10.0
    waypoints: int = 3
    on_board: str = "A"
    vehicle_cameras: int = 1
    interval: float = 10.0
    reach: float = 400.0
    bandwidth: float = 60.0
    decay: float = 100.0
    latency: float = 0.0
    camera_bytes: float = 50_000.0
    lidar_bytes: float = 100_000.0

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name in LIMITS and value is not None:
                smallest, largest = LIMITS[each.name]
                check_range(each.name, value, largest, smallest)
        if self.block is not None:
            check_range("block", self.block, self.side)
        if self.on_board not in KINDS:
            close = valid_choices(self.on_board, KINDS)
            raise UsageError(f"unknown on_board {self.on_board!r:.40}{close}")

    @property
    def intersections(self) -> tuple[Point, ...]:
        """The positions of the intersections and of their RSUs, row by row."""
        steps = range(self.side)
        return tuple(Point(i * self.spacing, j * self.spacing) for j in steps for i in steps)

    @property
    def covered(self) -> tuple[int, ...]:
        """The intersections whose sensors the task graphs contain."""
        block = self.side if self.block is None else self.block
        first = (self.side - block) // 2
        steps = range(first, first + block)
        return tuple(j * self.side + i for j in steps for i in steps)

    def edge_devices(self, seed: int) -> list[tuple[str, Point]]:
        """Return the kind and the position of each edge device, which the seed determines."""
        kinds = ["A"] * self.edge_a + ["B"] * self.edge_b + ["C"] * self.edge_c
        rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, 0])))
        drawn = rng.random((len(kinds), 2)) * ((self.side - 1) * self.spacing)
        return [(kind, Point(x, y)) for kind, (x, y) in zip(kinds, drawn.tolist(), strict=True)]

    def mbps(self, distance: float) -> float:
        """Return the bandwidth of a link in Mbit/s.

        It is rounded to six digits, because the last ones of exp differ between processors.
        """
        return float(f"{max(self.bandwidth * exp(-distance / self.decay), LEAST_MBPS):.6g}")
