"""Sizes of several jobs on one cluster."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from streamplace.capacity.size import check_firing, size
from streamplace.capacity.sizing.choices import with_parallelism
from streamplace.capacity.sizing.result import SizeResult
from streamplace.display.mixins import Displayable, view_of
from streamplace.display.view import Grid, View
from streamplace.errors import UsageError, within
from streamplace.files import write_dataset, write_json, write_placement
from streamplace.files.writing import staged
from streamplace.jobs.files import ENDING, GRAPH, RESULT, TOGETHER
from streamplace.jobs.jobs import Jobs
from streamplace.jobs.joint import union_graph
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.problem.objective import Throughput
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.arrays import make_flow
from streamplace.util.checks import check_type


@dataclass(frozen=True, repr=False)
class JobsSize(Displayable):
    """Numbers of instances of several jobs that share devices.

    Parameters
    ----------
    whole
        The size of all jobs as one graph, whose operators are called ``job/operator``. All jobs get
        their whole source rates, so that nothing is shared out.
    """

    jobs: Jobs
    whole: SizeResult

    @property
    def parallelism(self) -> Mapping[str, Mapping[str, int]]:
        """Job -> operator -> number of instances."""
        return {job.name: self._of(job.name, self.whole.parallelism) for job in self.jobs}

    @cached_property
    def graphs(self) -> dict[str, StreamGraph]:
        """Job -> its graph, which states the chosen numbers."""
        return {
            job.name: with_parallelism(job.stated.graph, self.parallelism[job.name])
            for job in self.jobs
        }

    @cached_property
    def placements(self) -> dict[str, Placement]:
        """Job -> its placement. Its problem is that of the job alone, at its full source rate.

        With several jobs, the placements have the names of their jobs. Empty where there are too
        many streams between instances to list them.
        """
        if self.whole.placement is None:
            return {}
        whole, found = self.whole.placement.problem, dict[str, Placement]()
        for job in self.jobs:
            problem = Problem(
                self.graphs[job.name],
                self.whole.cluster,
                source_rate=job.offered,
                model=whole.model,
                target_utilisation=whole.target_utilisation,
                constraints=job.stated.constraints,
            )
            placement = Placement.of(problem, self._of(job.name, self.whole.assignment))
            found[job.name] = placement.of_job(job.name if len(self.jobs.names) > 1 else "")
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return what `size --job-file --json` prints."""
        document = self.whole.to_dict()
        return {
            "jobs": [
                {
                    "name": job.name,
                    "priority": job.priority,
                    "throughput": job.offered,
                    "relative_throughput": 1.0,
                    "lost": 0.0,
                    "parallelism": dict(self.parallelism[job.name]),
                }
                for job in self.jobs
            ],
            "assignment": {
                job.name: dict(self._of(job.name, self.whole.assignment)) for job in self.jobs
            },
            **{k: v for k, v in document.items() if k not in ("parallelism", "assignment")},
        }

    def save(self, file: str | Path) -> None:
        """Write the placement of all jobs as one graph; see `SizeResult.save`."""
        self.whole.save(file)

    def save_folder(self, folder: str | Path) -> None:
        """Write the result, and graphs and placements of each job and of all, all or none.

        Raises
        ------
        UsageError
            As `SizeResult.save` does.
        """
        with staged(folder) as stage:
            self.whole.save(stage / TOGETHER)
            for name, placement in self.placements.items():
                write_placement(stage / f"{name}{ENDING}", placement, placer="size")
                write_dataset(stage / f"{name}{GRAPH}", [self.graphs[name]])
            write_json(stage / RESULT, self.to_dict())

    def _view(self) -> View:
        rows = [
            (job.name, operator, str(count))
            for job in self.jobs
            for operator, count in self.parallelism[job.name].items()
        ]
        table = Grid(("job", "operator", "instances"), len(rows), rows.__getitem__, names=(0, 1))
        shown = view_of(self.whole).body[1:]
        return View(f"Sizes of {len(self.jobs)} jobs", (self.whole.headline,), (table, *shown))

    @staticmethod
    def _of(job: str, by_name: Mapping[str, Any]) -> dict[str, Any]:
        prefix = f"{job}/"
        return {
            name.removeprefix(prefix): value
            for name, value in by_name.items()
            if name.startswith(prefix)
        }


def size_jobs(jobs: Jobs, cluster: Cluster | str | None = None, **options: Any) -> JobsSize:
    """Choose the numbers of instances of several jobs that share a cluster.

    All jobs get their whole source rates, so priorities, weights and minimums do not matter; where
    the cluster is too small for that, `place_jobs` shares what there is.

    Parameters
    ----------
    options
        Those of `size`, except for the source rate and the constraints, which are the jobs' own.

    Raises
    ------
    InfeasibleError, PlacementError, StreamplaceError
        As `size` does.
    """
    check_type("size_jobs: jobs", jobs, Jobs, UsageError)
    cluster = Cluster.of(cluster)
    for j, job in enumerate(jobs):
        with within(f"jobs[{j}] ({job.name!r})"):
            check_firing(job.stated.graph)
            make_flow(job.stated.graph, cluster, Throughput.of(job.offered))  # checks its rates
    graph = union_graph(jobs, [job.offered for job in jobs], stated=True)
    return JobsSize(jobs, size(graph, cluster, **options))


def file_names(jobs: Iterable[str]) -> list[str]:
    """Return the names of the files that `JobsSize.save_folder` writes for jobs of these names."""
    own = [f"{name}{ending}" for name in jobs for ending in (ENDING, GRAPH)]
    return [RESULT, TOGETHER, *own]
