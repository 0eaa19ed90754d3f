"""Figures of a pipeline that runs one pass after the other: frequency, energy and relocations."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from streamplace.errors import ProblemError
from streamplace.makespan.compiled_pass import compiled_pass
from streamplace.makespan.evaluator import makespan_evaluator, rows_of
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.problem.relocation import RelocationCost
from streamplace.scoring.evaluator import Placements
from streamplace.sim.schedule.total_cost import execution_seconds
from streamplace.util.arrays import Floats


@dataclass(frozen=True)
class PipelineFigures:
    """Figures of one placement under the makespan objective (GiPH's case study).

    Parameters
    ----------
    makespan_s
        Seconds of one pass.
    energy_j
        Joules of one pass.
    relocation_s
        Seconds that the moves from the former placement cost; 0 without one.
    """

    makespan_s: float
    energy_j: float
    relocation_s: float = 0.0

    @property
    def frequency_hz(self) -> float:
        """Passes per second, one after the other; infinite if a pass takes no time."""
        return 1.0 / self.makespan_s if self.makespan_s else float("inf")

    @property
    def relocation_over_frequency(self) -> float:
        """The relocation cost divided by the frequency, in s², as GiPH reports it."""
        return self.relocation_s * self.makespan_s


def pipeline_figures(
    placement: Placement,
    watts: Mapping[str, float],
    cost: RelocationCost | None = None,
    before: Placement | Mapping[str, str] | None = None,
) -> PipelineFigures:
    """Return the figures of a placement.

    Parameters
    ----------
    watts
        See `energy_joules`.
    cost, before
        What relocations cost, and the former placement, or operator -> device; see
        `RelocationCost.seconds`. Without both, there are no relocations.

    Raises
    ------
    ProblemError
        If the objective is throughput, or as `energy_joules`.
    """
    problem = placement.problem
    makespan_s = float(makespan_evaluator(problem).makespans(placement.devices)[0])
    energy_j = float(energy_joules(problem, placement.devices, watts)[0])
    relocation_s = 0.0
    if cost is not None and before is not None:
        relocation_s = cost.seconds(problem, before, placement)
    return PipelineFigures(makespan_s, energy_j, relocation_s)


def energy_joules(problem: Problem, devices: Placements, watts: Mapping[str, float]) -> Floats:
    """Return the energy of one pass under each placement, (K,), in joules.

    A device takes the watts of its kind for each operator while it runs it, also for those that
    several cores run at once, and nothing while it is idle or sends messages.

    Parameters
    ----------
    devices
        (K, V) device indices.
    watts
        Kind of device (`Device.kind`) -> watts of a device for each operator that it runs.

    Raises
    ------
    ProblemError
        If a device has a kind without watts, or the objective is throughput.
    """
    for device in problem.cluster.devices:
        if device.kind not in watts:
            what = f"kind {device.kind!r}" if device.kind else "a device without a kind"
            raise ProblemError(f"watts: none for {what} (device {device.name!r}); state them")
    rows = rows_of(devices)
    seconds = execution_seconds(compiled_pass(problem).tasks.columns, rows)
    per_device = np.array([watts[str(device.kind)] for device in problem.cluster.devices])
    joules: Floats = (seconds * per_device[rows]).sum(axis=1)
    return joules
