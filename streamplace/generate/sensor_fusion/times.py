"""Execution times of the sensor-fusion tasks, and the linear model that GiPH fits to them.

The time of task i on device type j is C_i T_j + S_j, separately for tasks that run on the GPU and
on the CPU: C_i is the work of the task, T_j the time of a unit of work and S_j a constant part.
"""

from collections.abc import Mapping
from dataclasses import dataclass

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
