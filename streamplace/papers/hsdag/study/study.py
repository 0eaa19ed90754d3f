"""The study `hsdag`: HSDAG on real networks, with plain placers, other groups and ablations."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from streamplace.errors import UsageError
from streamplace.papers.hsdag.study import registered
from streamplace.papers.hsdag.study.outcome import outcome
from streamplace.papers.hsdag.study.registered import (
    FULL,
    HSDAG,
    LONGER_ON,
    OWN,
    PLACETO,
    PLACETO_LONGER,
    QUICK,
    UNTRAINED,
    Registered,
    Workload,
    file_hashes,
    own_workloads,
    released_workloads,
)
from streamplace.papers.hsdag.study.systems import FIXED, OTHERS, on_groups, plain, trained
from streamplace.papers.studies.study import Outcome, Plan, Row, seed_of
from streamplace.papers.studies.workloads import WorkloadStudy


@dataclass(frozen=True)
class HsdagStudy(WorkloadStudy[Workload]):
    """The study of HSDAG by its registered plan.

    Parameters
    ----------
    data
        A folder with the graphs of dnn-partitioning and PipeDream; None: they are left out.

    Raises
    ------
    UsageError
        If these graphs are combined with `quick`.
    """

    data: str | None = None

    name: ClassVar[str] = "hsdag"
    kind = Workload

    def __post_init__(self) -> None:
        if self.quick and self.data is not None:
            raise UsageError("hsdag: cannot combine --data with --quick; leave one of them out")

    @property
    def size(self) -> Registered:
        """The size of the study."""
        return self.with_seeds(QUICK if self.quick else FULL, "seeds", "other_seeds")

    @property
    def workloads(self) -> list[Workload]:
        """All workloads of the study."""
        own = own_workloads(self.size.networks)
        return own if self.data is None else [*own, *released_workloads()]

    def settings(self) -> Mapping[str, Any]:
        """Return the size, the devices and the released files.

        Raises
        ------
        FormatError
            If released graphs are missing or invalid.
        """
        files = {} if self.data is None else file_hashes(self.data)
        return {
            **self.size.settings(),
            "ratios": dict(registered.RATIOS),
            "ratio_scales": dict(registered.RATIO_SCALES),
            "launch_s": registered.LAUNCH_S,
            "bandwidth_mbps": registered.BANDWIDTH_MBPS,
            "latency_s": registered.LATENCY_S,
            "data_sha256": files,
        }

    def outcome(self, plan: Plan, rows: Sequence[Row]) -> Outcome:
        """Return tables with the published figures, and pictures."""
        return outcome(plan, rows)

    def placed(self, workload: Workload) -> Iterator[Row]:
        """Return the results of the plain placers; see `WorkloadStudy.placed`."""
        return plain(workload.problem(self.data), self.size, self.seed)

    def trainings(self) -> Iterator[tuple[str, Workload, int]]:
        """Yield the trainings of a system after each other; see `WorkloadStudy.trainings`.

        Those that say what learning adds come first.
        """
        seeds = {workload: self._systems(workload) for workload in self.workloads}
        first = (HSDAG, UNTRAINED, PLACETO)
        for system in dict.fromkeys((*first, *self.size.ablations, *FIXED, *OTHERS)):
            for workload in self.workloads:
                for repeat in range(seeds[workload].get(system, 0)):
                    yield system, workload, repeat

    def trained(self, system: str, workload: Workload, repeat: int) -> Iterator[Row]:
        """Yield the results of a training; see `WorkloadStudy.trained`."""
        for row in self._of_training(system, workload, repeat):
            yield {**workload.settings, "repeat": repeat, **row}

    def _systems(self, workload: Workload) -> dict[str, int]:
        """Return the systems that are trained on a workload, and their numbers of seeds."""
        size, is_own = self.size, workload.source == OWN
        systems = dict.fromkeys((HSDAG, *FIXED), size.seeds)
        if is_own:
            systems |= dict.fromkeys(size.ablations, size.seeds)
        if is_own or len(workload.problem(self.data).graph.names) <= size.longest:
            systems |= dict.fromkeys(OTHERS, size.other_seeds)
        if workload.graph not in LONGER_ON:
            systems.pop(PLACETO_LONGER, None)
        return systems

    def _of_training(self, system: str, workload: Workload, repeat: int) -> Iterator[Row]:
        """Yield the row of a training, and of HSDAG those of searches on its groups."""
        problem, size, seed = workload.problem(self.data), self.size, seed_of(self.seed, repeat)
        if system in OTHERS:
            yield OTHERS[system](problem, size, seed)
            return
        row, grouping = trained(system, problem, size, seed)
        yield row
        if system == HSDAG and grouping is not None:
            yield from on_groups(problem, grouping, size, (self.seed, repeat))
