"""Schedules of problems that `streamplace.networks` reads from files."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from streamplace.files.clusters import cluster_to
from streamplace.files.graphs import graph_to
from streamplace.formats.documents import read_document
from streamplace.formats.logical_builder import resized
from streamplace.sim.flow import Ints
from streamplace.sim.schedule.lists import ListSchedule, list_schedule
from streamplace.sim.schedule.passes import makespans
from streamplace.sim.schedule.ranks import (
    mean_messages,
    mean_seconds,
    optimistic_costs,
    upward_rank,
)
from tests.support.schedule_tasks import TaskProblem, task_problem


class ImportedProblem(NamedTuple):
    """A file's graph and cluster under ``fifo``."""

    problem: TaskProblem

    def makespan(self, devices: Ints) -> float:
        """Return the makespan of a placement, (V,) device indices, in seconds."""
        tasks, order = self.problem.tasks, self.problem.order
        return float(makespans(tasks, order, np.asarray(devices, np.int32)[None])[0])

    def single(self, device: int) -> float:
        """Return the makespan of all operators on one device."""
        return self.makespan(np.full(self.problem.tasks.operators, device))

    def heft(self) -> ListSchedule:
        """Return HEFT's schedule with the mean of messages that the reference data have.

        It is over all pairs of devices, where the one of a device with itself takes no time.
        """
        tasks, rules = self.problem.tasks, self.problem.rules
        row_of = rules.row_of[rules.unit_of]
        may = rules.allowed[row_of].astype(float)
        sent, received = may[tasks.source], may[tasks.target]
        own = (sent * received).sum(axis=1) / (sent.sum(axis=1) * received.sum(axis=1))
        messages = mean_messages(tasks, rules.allowed, row_of) * (1 - own)
        seconds = mean_seconds(tasks, rules.allowed, row_of)
        return list_schedule(tasks, rules, upward_rank(tasks, seconds, messages))

    def peft(self) -> ListSchedule:
        """Return PEFT's schedule."""
        tasks, rules = self.problem.tasks, self.problem.rules
        row_of = rules.row_of[rules.unit_of]
        ahead, allowed = optimistic_costs(tasks, rules.allowed, row_of), rules.allowed[row_of]
        means = np.array([a[may].mean() for a, may in zip(ahead, allowed, strict=True)])
        return list_schedule(tasks, rules, means, ahead)


def imported_problem(kind: str, path: Path, count: int | None = None) -> ImportedProblem:
    """Return the problem of a file; `count` is the number of devices if the file has none."""
    logical = read_document(str(path), kind)
    assert logical.cluster is not None
    cluster = logical.cluster if count is None else resized(logical.cluster, count)
    return ImportedProblem(
        task_problem(
            {
                "graph": graph_to(logical.graph),
                "cluster": cluster_to(cluster),
                "settings": {"order": "fifo"},
                "placement": dict.fromkeys(logical.graph.names, cluster.devices[0].name),
            }
        )
    )
