"""The CPU time that the operators of a running job use, and where."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from streamplace.integrations.profiling.estimates import Estimate
from streamplace.integrations.profiling.profile import Profile


@dataclass(frozen=True)
class Part:
    """The instances of a task on one host.

    Parameters
    ----------
    instances
        Their number.
    busy, tuples
        Their shares of the task's busy time and of its tuples.
    """

    instances: int
    busy: float
    tuples: float


@dataclass(frozen=True)
class Task:
    """An operator, or a chain of operators whose CPU time is measured together.

    Parameters
    ----------
    operators
        Their names in the job, upstream first.
    busy
        Busy time of all instances, in seconds per second, which is a number of cores.
    seconds_per_tuple
        Busy seconds per tuple that the first operator processes.
    parts
        Host -> the part of the task that it runs.
    """

    operators: tuple[str, ...]
    busy: Estimate
    seconds_per_tuple: Estimate
    parts: Mapping[str, Part]

    @property
    def name(self) -> str:
        """The operators' names."""
        return " -> ".join(self.operators)


@dataclass(frozen=True)
class JobUse:
    """What a running job used while it was watched.

    Parameters
    ----------
    profile
        Rates of its operators, selectivities, source rate; its instructions are those of a core of
        1 MIPS.
    hosts
        Operator -> the host of each of its instances.
    idle_hosts
        Hosts that run none of its tasks.
    labelled
        Device -> the host that has its label, for those that have one.
    """

    profile: Profile
    tasks: tuple[Task, ...]
    hosts: Mapping[str, tuple[str, ...]]
    idle_hosts: tuple[str, ...] = ()
    labelled: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def busy_hosts(self) -> tuple[str, ...]:
        """The hosts that run its tasks."""
        return tuple(dict.fromkeys(host for task in self.tasks for host in task.parts))
