"""Several jobs on one cluster, with priorities, weights and minimum throughputs."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any, NamedTuple

from streamplace.errors import ProblemError, within
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.counts import expanded, for_instances
from streamplace.problem.graph import StreamGraph
from streamplace.problem.objective import Throughput, without_axes
from streamplace.problem.parallelism import FREE
from streamplace.problem.problem import Problem
from streamplace.util.checks import (
    check_number,
    check_str,
    check_type,
    index_by_name,
    set_plain_numbers,
)
from streamplace.util.suggest import candidates, did_you_mean

MAX_NAME = 100  # characters; names are parts of file names
MAX_JOBS = 100
MAX_WEIGHT = 1e6
IN_NO_NAME = "/\\\0"


class Stated(NamedTuple):
    """A graph that may state numbers of instances, and its constraints; None: the graph's own."""

    graph: StreamGraph
    constraints: Constraints | None


@dataclass(frozen=True)
class Job:
    """A graph that shares a cluster with other jobs.

    Parameters
    ----------
    graph
        The graph; operators with several instances are replaced by these, unless some numbers of
        instances are free.
    name
        Name of the job, also a part of file names: up to 100 characters without slashes.
    source_rate
        Tuples/s offered by all sources together; None stands for the graph's own.
    priority
        Jobs of a higher priority are served first.
    weight
        Within a priority, a job with weight 2 gets twice the relative throughput of one with weight
        1 where both compete; above 0, from 1e-6 to 1e6.
    min_throughput
        Tuples/s that are reserved before any priority counts.
    constraints
        None stands for the graph's own.

    Attributes
    ----------
    stated
        The graph and the constraints before that, for `size`.

    Raises
    ------
    ProblemError
        On a value that is out of range, or without any source rate.
    """

    name: str
    graph: StreamGraph
    source_rate: float | None = None
    priority: float = 0
    weight: float = 1.0
    min_throughput: float = 0.0
    constraints: Constraints | None = None
    stated: "Stated" = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _check_name(self.name)
        check_type("graph:", self.graph, StreamGraph, ProblemError)
        object.__setattr__(self, "stated", Stated(self.graph, self.constraints))
        if FREE not in self.graph.parallelism.values():  # otherwise, only `size` can serve the job
            object.__setattr__(self, "graph", expanded(self.graph))
        if self.constraints is not None:
            rules = for_instances(self.graph, Constraints.of(self.constraints))
            object.__setattr__(self, "constraints", rules)
        object.__setattr__(self, "source_rate", without_axes(self.source_rate))
        set_plain_numbers(self, ("source_rate", "priority", "weight", "min_throughput"))
        for what in ("priority", "weight", "min_throughput"):
            check_number(f"{what}:", getattr(self, what), ProblemError)
        if not isfinite(self.priority):
            raise ProblemError(f"priority: must be finite (got {self.priority})")
        if not 1 / MAX_WEIGHT <= self.weight <= MAX_WEIGHT:
            allowed = f"must be {1 / MAX_WEIGHT:g} to {MAX_WEIGHT:g} (got {self.weight:g})"
            raise ProblemError(f"weight: {allowed}")
        if not 0 <= self.min_throughput <= self.offered:
            allowed = f"must be 0 to the source rate {self.offered:g}"
            raise ProblemError(f"min_throughput: {allowed} (got {self.min_throughput:g})")
        if self.priority == int(self.priority):
            object.__setattr__(self, "priority", int(self.priority))

    @property
    def offered(self) -> float:
        """The source rate in tuples/s: the job's own, or else the graph's."""
        if self.source_rate is None and self.graph.source_rate is None:
            raise ProblemError(
                "source_rate: neither the job nor its graph has one; set it in one of them"
            )
        return Throughput.of(self.source_rate).for_graph(self.graph).source_rate

    def problem(self, cluster: Cluster, target_utilisation: float | None = None) -> Problem:
        """Return the problem of placing the job alone, under the model ``bottleneck``.

        Raises
        ------
        ProblemError, InfeasibleError
            As `Problem` does.
        """
        return Problem(
            self.graph,
            cluster,
            source_rate=self.offered,
            constraints=self.constraints,
            target_utilisation=target_utilisation,
        )


class Jobs:
    """The jobs that share a cluster: a sequence of `Job` with distinct names.

    Raises
    ------
    ProblemError
        Without jobs, with more than 100, or if two have the same name.
    """

    def __init__(self, jobs: Iterable[Job]) -> None:
        self._jobs = tuple(jobs)
        for j, job in enumerate(self._jobs):
            check_type(f"jobs[{j}]:", job, Job, ProblemError)
        if not 1 <= len(self._jobs) <= MAX_JOBS:
            raise ProblemError(f"jobs: must be 1 to {MAX_JOBS} (got {len(self._jobs)})")
        index_by_name("jobs", self.names, ProblemError)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the jobs, in order."""
        return tuple(job.name for job in self._jobs)

    @property
    def by_priority(self) -> list[list[int]]:
        """The indices of the jobs of each priority, the highest priority first."""
        priorities = sorted({job.priority for job in self._jobs}, reverse=True)
        return [
            [j for j, job in enumerate(self._jobs) if job.priority == priority]
            for priority in priorities
        ]

    def problems(
        self, cluster: Cluster, target_utilisation: float | None = None
    ) -> tuple[Problem, ...]:
        """Return the problem of placing each job alone; an error names the job.

        Raises
        ------
        ProblemError, InfeasibleError
            As `Problem` does.
        """
        made = []
        for j, job in enumerate(self._jobs):
            with within(f"jobs[{j}] ({job.name!r})"):
                made.append(job.problem(cluster, target_utilisation))
        return tuple(made)

    def with_constraints(self, rules: Constraints) -> "Jobs":
        """Return the jobs under these constraints, instead of those of the jobs and their graphs.

        Parameters
        ----------
        rules
            Constraints that name operators as ``job/operator``. A group has operators of one job.

        Raises
        ------
        ProblemError
            If a name is not that of an operator, or a group has operators of several jobs.
        """
        rules = Constraints.of(rules)
        own: dict[str, dict[str, Any]] = {name: {} for name in self.names}
        for field_name in ("pins", "allowed"):
            for name, devices in getattr(rules, field_name).items():
                job, operator = self._of_job(f"constraints.{field_name}", name)
                own[job].setdefault(field_name, {})[operator] = devices
        for field_name in ("colocate", "exlocate", "apart_groups"):
            for i, group in enumerate(getattr(rules, field_name)):
                place = f"constraints.{field_name}[{i}]"
                members = [self._of_job(place, name) for name in group]
                if len({job for job, _ in members}) > 1:
                    raise ProblemError(f"{place}: has operators of several jobs; use one per job")
                for job in dict.fromkeys(job for job, _ in members):
                    several = own[job].setdefault(field_name, [])
                    several.append([operator for _, operator in members])
        changed = []
        for one in self._jobs:
            with within(f"job {one.name!r}"):
                new = Constraints(**own[one.name])
                changed.append(replace(one, graph=one.stated.graph, constraints=new))
        return Jobs(changed)

    def _of_job(self, place: str, name: str) -> tuple[str, str]:
        """Return the job and the operator of a name; `place` begins the message of an error."""
        job, slash, operator = name.partition("/")
        if not slash or job not in self.names:
            known = candidates(job, self.names)
            raise ProblemError(
                f"{place}: {name!r} does not begin with the name of a job and /{known}"
            )
        graphs = self._jobs[self.names.index(job)]
        if operator not in graphs.graph.index and operator not in graphs.stated.graph.index:
            close = did_you_mean(operator, graphs.stated.graph.names)
            raise ProblemError(f"{place}: job {job!r} has no operator {operator!r}{close}")
        return job, operator

    def __len__(self) -> int:
        return len(self._jobs)

    def __iter__(self) -> Iterator[Job]:
        return iter(self._jobs)

    def __getitem__(self, j: int) -> Job:
        return self._jobs[j]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Jobs):
            return NotImplemented
        return self._jobs == other._jobs

    def __hash__(self) -> int:
        return hash(self._jobs)

    def __repr__(self) -> str:
        return f"Jobs({list(self._jobs)!r})"


def _check_name(name: object) -> None:
    """Refuse a name that is no text, or not a part of a file name."""
    check_str("name:", name, ProblemError)
    text = str(name)
    if not 1 <= len(text) <= MAX_NAME:
        raise ProblemError(f"name: must have 1 to {MAX_NAME} characters (got {len(text)})")
    if set(text) & set(IN_NO_NAME) or not text.isprintable() or text.startswith("."):
        wanted = "must be printable, without slashes or a leading dot, since files are named after"
        raise ProblemError(f"name: {wanted} it (got {text!r:.60})")
