"""Levels: the units of a problem, and ever larger groups of them."""

from dataclasses import dataclass

import numpy as np

from sim.flow import crossing_seconds
from sim.search import Instance, contracted, joined
from streamplace.arrays import Ints
from streamplace.flows import flow
from streamplace.instances import instance_of
from streamplace.problem import Problem

COARSEST = 8  # groups a device: fewer leave no choice, more take longer than they gain
USELESS = 0.9  # of the units left: a contraction that leaves more is the last


@dataclass(frozen=True)
class Levels:
    """A problem contracted again and again.

    Parameters
    ----------
    jobs
        The units first, the largest groups last.
    groups
        Which group of the next level each unit or group of a level joins; one fewer than `jobs`.
    on
        Devices of the largest groups, (G,), where they are parts of a placement; or None.
    """

    jobs: list[Instance]
    groups: list[Ints]
    on: Ints | None


def levels_of(problem: Problem, share: float, inside: Ints | None) -> Levels:
    """Contract a problem until few groups a device are left.

    Parameters
    ----------
    share
        Of a mean device's part of the work: what one group may have.
    inside
        (U,) devices of units: only those on one device are joined. None: any.
    """
    jobs, groups, on = [instance_of(problem)], [], inside
    devices = len(problem.cluster.devices)
    gap_s, per_bit = crossing_seconds(flow(problem))
    heaviest = share * jobs[0].work.sum() / devices
    while len(jobs[-1].work) > COARSEST * devices:
        job = jobs[-1]
        traffic = job.tuples * gap_s + job.bits * per_bit
        alike = job if on is None else job._replace(row_of=job.row_of * devices + on)
        group = joined(
            alike, traffic if traffic.any() else job.tuples, heaviest, COARSEST * devices
        )
        if group.max() + 1 > USELESS * len(group):
            break
        groups.append(group)
        jobs.append(contracted(job, group))
        if on is not None:
            on = _of_groups(group, on)
    return Levels(jobs, groups, on)


def _of_groups(group: Ints, on: Ints) -> Ints:
    """Return devices of groups, (G,), whose members share one."""
    made = np.zeros(int(group.max()) + 1, np.int32)
    made[group] = on
    return made
