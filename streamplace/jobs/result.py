"""The result of `place_jobs`, and the outcome of each job."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from streamplace.display.mixins import Displayable
from streamplace.display.text import number, percent, quoted, share_of
from streamplace.display.view import Cell, Grid, Line, Names, View
from streamplace.files import write_json, write_placement
from streamplace.files.writing import staged
from streamplace.jobs.files import ENDING, RESULT, TOGETHER
from streamplace.jobs.joint import Allocation, JointProblem, shared_multicast, union_graph
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow
from streamplace.scoring.loads import Bottleneck, use_columns, use_entries
from streamplace.scoring.throughput_evaluator import bottleneck_at
from streamplace.sim.filling import CAPPED
from streamplace.sim.work import own_utilisations
from streamplace.util.arrays import Floats, Ints
from streamplace.util.text import counted

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


@dataclass(frozen=True, repr=False, eq=False)
class JobsResult(Displayable):
    """The placements of several jobs on one cluster, and what each job gets.

    Parameters
    ----------
    devices
        (V,) device index of each operator of all jobs, in the order of the jobs.
    seconds
        Wall time in seconds, excluding the time to load libraries.
    status
        ``OPTIMAL`` or ``FEASIBLE`` from the placer ``exact``; None from other placers.
    """

    joint: JointProblem
    devices: Ints
    allocation: Allocation
    jobs: tuple[JobOutcome, ...]
    placer: str
    seconds: float
    status: str | None = None

    @cached_property
    def placements(self) -> dict[str, Placement]:
        """Job -> its placement. Its problem is that of the job alone, at its full source rate.

        With several jobs, the placements have the names of their jobs.
        """
        parts = zip(self.joint.jobs, self.joint.problems, self.joint.columns, strict=True)
        several = len(self.jobs) > 1
        return {
            job.name: Placement(problem, self.devices[c], job=job.name if several else "")
            for job, problem, c in parts
        }

    @cached_property
    def together(self) -> Placement | None:
        """The placement of all jobs as one graph, whose sources have the throughputs as rates.

        Its operators are called ``job/operator``. None if the jobs' graphs differ in `multicast`,
        since the loads of one graph would then be others.
        """
        if shared_multicast(self.joint.jobs) is None:
            return None
        graph = union_graph(self.joint.jobs, [job.throughput for job in self.jobs])
        share = self.joint.union.target_utilisation
        return Placement(Problem(graph, self.joint.cluster, target_utilisation=share), self.devices)

    @property
    def _union(self) -> Placement:
        """The placement of all jobs at their full source rates, for memory and resources."""
        return Placement(self.joint.union, self.devices)

    def used(self, d: int) -> dict[str, float]:
        """Return job -> the utilisation of device d that it causes, as a share of all of it."""
        share = self.joint.union.target_utilisation
        loads = self.allocation.shares * self.allocation.loads[:, d] * share
        return {job.name: float(load) for job, load in zip(self.jobs, loads, strict=True) if load}

    def to_dict(self) -> dict[str, Any]:
        """Return what `place --job-file --json` prints."""
        document: dict[str, Any] = {
            "jobs": [job.to_dict() for job in self.jobs],
            "assignment": {name: dict(one.assignment) for name, one in self.placements.items()},
            "devices": [
                {"name": name, "utilisation": sum(self.used(d).values()), "jobs": self.used(d)}
                for d, name in enumerate(self.joint.cluster.names)
            ],
            "placer": self.placer,
            "seconds": self.seconds,
            **use_entries(self._union),
        }
        return document if self.status is None else document | {"status": self.status}

    def save(self, folder: str | Path) -> None:
        """Write the result and placements of each job and of all into a folder, all or none."""
        with staged(folder) as stage:
            for name, placement in self.placements.items():
                write_placement(stage / f"{name}{ENDING}", placement, placer=self.placer)
            if self.together is not None:
                jobs = [job.to_dict() for job in self.jobs]
                write_placement(stage / TOGETHER, self.together, placer=self.placer, jobs=jobs)
            self.save_json(stage / RESULT)

    def save_json(self, file: str | Path) -> None:
        """Write the result without the placements' problems, as `place --json` prints it."""
        write_json(file, self.to_dict())

    def _view(self) -> View:
        losing = sum(job.lost > 0 for job in self.jobs)
        who = counted(losing, "job") if losing else "no job"
        lost = f"{who} {'lose' if losing > 1 else 'loses'} throughput"
        proven = ", proven optimal" if self.status == "OPTIMAL" else ""
        count, devices = counted(len(self.jobs), "job"), len(self.joint.cluster.devices)
        by = f"by {quoted(self.placer)} in {self.seconds:.3g} s"
        return View(
            f"JobsResult: {count} on {counted(devices, 'device')}, {lost}{proven}, {by}",
            body=(self._job_grid(), self._device_grid(), self._line()),
        )

    def _job_grid(self) -> Grid:
        head = ("job", "priority", "rate", "throughput", "relative", "lost", "to", "bottleneck")

        def row(j: int) -> tuple[Cell, ...]:
            job, limit = self.jobs[j], self.jobs[j].limited_by
            return (
                job.name,
                number(job.priority),
                number(job.source_rate),
                number(job.throughput),
                share_of(job.throughput, job.source_rate),
                number(job.lost),
                Names.of(list(job.lost_to)),
                "" if limit is None else f"{limit.kind} {limit.name}",
            )

        return Grid(head, len(self.jobs), row, names=(0, 6, 7))

    def _device_grid(self) -> Grid:
        columns = use_columns(self._union)

        def row(d: int) -> tuple[Cell, ...]:
            used = self.used(d)
            shares = [f"{name} {percent(share)}" for name, share in used.items()]
            amounts = (column[d] for column in columns.values())
            name, total = self.joint.cluster.names[d], percent(sum(used.values()))
            return name, total, *amounts, Names.of(shares)

        head = ("device", "utilisation", *columns, "by job")
        return Grid(head, len(self.joint.cluster.devices), row, names=(0, len(head) - 1))

    def _line(self) -> Line:
        text = f"placed by {{}} in {self.seconds:.3g} s"
        if self.status is not None:
            text += ": proven optimal" if self.status == "OPTIMAL" else "; not proven optimal"
        return Line(text, (self.placer,))


def file_names(jobs: tuple[str, ...]) -> list[str]:
    """Return the names of the files that `JobsResult.save` writes for jobs of these names."""
    return [RESULT, TOGETHER, *(f"{name}{ENDING}" for name in jobs)]
