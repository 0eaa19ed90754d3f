"""What each of several jobs gets, what it loses, and to which jobs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sim.filling import CAPPED
from sim.work import own_utilisations
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow
from streamplace.scoring.joint import Allocation, JointProblem
from streamplace.scoring.loads import Bottleneck
from streamplace.scoring.throughput_evaluator import bottleneck_at
from streamplace.util.arrays import Floats, Ints

NOTHING = 1e-9  # share of a source rate that counts as rounding error


@dataclass(frozen=True)
class JobOutcome:
    """What one of several jobs gets.

    Parameters
    ----------
    throughput
        Tuples/s at the sources that the job sustains beside the others.
    alone
        Tuples/s that it sustains alone on the cluster, on the best placement found.
    lost_to
        Other job -> the tuples/s that the job would gain if only that job were gone and every
        operator stayed where it is. The numbers need not add up to what is lost.
    limited_by
        What keeps the job from more, with its utilisation by all jobs; None if it carries its whole
        source rate.
    """

    name: str
    priority: float
    weight: float
    min_throughput: float
    source_rate: float
    throughput: float
    alone: float
    lost_to: dict[str, float]
    limited_by: Bottleneck | None

    @property
    def relative_throughput(self) -> float:
        """Throughput as a share of the source rate."""
        return self.throughput / self.source_rate

    @property
    def lost(self) -> float:
        """Tuples/s that the job loses in comparison with running alone."""
        lost = self.alone - self.throughput
        return lost if lost > NOTHING * self.source_rate else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as `place --job-file --json` prints it."""
        limit = self.limited_by
        return {
            "name": self.name,
            "priority": self.priority,
            "throughput": self.throughput,
            "relative_throughput": self.relative_throughput,
            "lost": self.lost,
            "lost_to": self.lost_to,
            "alone": self.alone,
            "source_rate": self.source_rate,
            "weight": self.weight,
            "min_throughput": self.min_throughput,
            "limited_by": None if limit is None else vars(limit),
        }


def outcomes(
    joint: JointProblem, devices: Ints, allocation: Allocation, alone: Sequence[float]
) -> tuple[JobOutcome, ...]:
    """Return the outcome of each job under a joint placement, (V,).

    Parameters
    ----------
    alone
        The throughput of each job alone, in tuples/s, on the best placement found for it.
    """
    others = ~np.eye(len(joint.jobs), dtype=np.bool_)
    without = [joint.allocation(devices, present).shares for present in others]
    made = []
    for j, job in enumerate(joint.jobs):
        gains = {
            other.name: float(without[k][j] - allocation.shares[j]) * job.offered
            for k, other in enumerate(joint.jobs)
            if k != j
        }
        throughput = float(allocation.shares[j]) * job.offered
        made.append(
            JobOutcome(
                job.name,
                job.priority,
                job.weight,
                job.min_throughput,
                job.offered,
                throughput,
                max(throughput, alone[j]),
                {name: gain for name, gain in gains.items() if gain > NOTHING * job.offered},
                _limit(joint, j, devices, allocation),
            )
        )
    return tuple(made)


def _limit(joint: JointProblem, j: int, devices: Ints, allocation: Allocation) -> Bottleneck | None:
    """Return what keeps a job from more; None if nothing does."""
    problem, limit = joint.problems[j], int(allocation.limits[j])
    if allocation.shares[j] >= 1.0 - NOTHING:
        return None
    count = len(joint.cluster.devices)
    used = np.zeros(allocation.loads.shape[1])
    if limit == CAPPED:
        own = own_utilisations(flow(problem), devices[joint.columns[j]]) * allocation.shares[j]
        return _bottleneck(problem, used, own, count)
    used[limit] = (allocation.shares * allocation.loads[:, limit]).sum()
    return _bottleneck(problem, used, np.zeros(len(problem.graph.names)), count)


def _bottleneck(problem: Problem, used: Floats, own: Floats, devices: int) -> Bottleneck:
    return bottleneck_at(problem, used[:devices], used[devices:], own)
