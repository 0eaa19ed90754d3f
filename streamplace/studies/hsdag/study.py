"""The study `hsdag`: HSDAG on real networks, with plain placers, other groups and ablations."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from streamplace.errors import UsageError
from streamplace.policy.threads import one_thread
from streamplace.studies.hsdag import workloads
from streamplace.studies.hsdag.groups import FIXED
from streamplace.studies.hsdag.learning import trained
from streamplace.studies.hsdag.others import OTHERS
from streamplace.studies.hsdag.outcome import outcome
from streamplace.studies.hsdag.plain import on_groups, plain
from streamplace.studies.hsdag.registered import FULL, HSDAG, QUICK, Registered
from streamplace.studies.hsdag.workloads import (
    OWN,
    Workload,
    file_hashes,
    own_workloads,
    released_workloads,
)
from streamplace.studies.study import Options, Outcome, Plan, Row, Unit, seed_of


@dataclass(frozen=True)
class HsdagStudy(Options):
    """The study of HSDAG by its registered plan.

    Parameters
    ----------
    data
        A folder with the graphs of dnn-partitioning and PipeDream; None: they are left out.
    quick, seed
        See `Options`.

    Raises
    ------
    UsageError
        If these graphs are combined with `quick`.
    """

    data: str | None = None

    name: ClassVar[str] = "hsdag"

    def __post_init__(self) -> None:
        if self.quick and self.data is not None:
            raise UsageError("hsdag: cannot combine --data with --quick; leave one of them out")

    @property
    def size(self) -> Registered:
        """The size of the study."""
        return QUICK if self.quick else FULL

    @property
    def workloads(self) -> list[Workload]:
        """All workloads of the study."""
        own = own_workloads(self.size.networks, self.size.ratio_scales)
        return own if self.data is None else [*own, *released_workloads()]

    def plan(self) -> Plan:
        """Return the plan: a unit runs the plain placers on a workload, or trains one policy.

        Raises
        ------
        FormatError
            If released graphs are missing or invalid.
        """
        files = {} if self.data is None else file_hashes(self.data)
        settings = {
            **self.size.settings(),
            "ratios": dict(workloads.RATIOS),
            "launch_s": workloads.LAUNCH_S,
            "bandwidth_mbps": workloads.BANDWIDTH_MBPS,
            "latency_s": workloads.LATENCY_S,
            "data_sha256": files,
            "seed": self.seed,
        }
        return Plan(settings, (*self._plain_units(), *self._policy_units()))

    def run(self, unit: Unit) -> list[Row]:
        """Return a row for each result of the unit."""
        settings = dict(unit.settings)
        system, repeat = settings.pop("system", None), settings.pop("repeat", 0)
        workload = Workload(**settings)
        problem = workload.problem(self.data)
        with one_thread():
            if system is None:
                rows = list(plain(problem, self.size, self.seed))
                return [{**workload.settings, **row} for row in rows]
            found = self._trained(system, workload, repeat)
            return [{**workload.settings, "repeat": repeat, **row} for row in found]

    def outcome(self, plan: Plan, rows: Sequence[Row]) -> Outcome:
        """Return tables with the published figures, and pictures."""
        return outcome(plan, rows)

    def _plain_units(self) -> Iterator[Unit]:
        for workload in self.workloads:
            yield Unit(f"plain placers: {workload.name}", workload.settings)

    def _policy_units(self) -> Iterator[Unit]:
        """Yield the units of trained systems, those of the same system together."""
        seeds = {workload: self._systems(workload) for workload in self.workloads}
        for system in (HSDAG, *FIXED, *self.size.ablations, *OTHERS):
            for workload in self.workloads:
                for repeat in range(seeds[workload].get(system, 0)):
                    what: dict[str, Any] = {"system": system, "repeat": repeat}
                    key = f"{system}: {workload.name}, seed {repeat}"
                    yield Unit(key, {**workload.settings, **what})

    def _systems(self, workload: Workload) -> dict[str, int]:
        """Return the systems that are trained on a workload, and their numbers of seeds."""
        size, is_own = self.size, workload.source == OWN
        systems = dict.fromkeys((HSDAG, *FIXED), size.seeds)
        if is_own and workload.scale == 1.0:
            systems |= dict.fromkeys(size.ablations, size.seeds)
        if is_own or len(workload.problem(self.data).graph.names) <= size.longest:
            systems |= dict.fromkeys(OTHERS, size.other_seeds)
        return systems

    def _trained(self, system: str, workload: Workload, repeat: int) -> Iterator[Row]:
        """Yield the row of a training, and of HSDAG those of searches on its groups."""
        problem, size, seed = workload.problem(self.data), self.size, seed_of(self.seed, repeat)
        if system in OTHERS:
            yield OTHERS[system](problem, size, seed)
            return
        row, grouping = trained(system, problem, size, seed)
        yield row
        if system == HSDAG and grouping is not None:
            yield from on_groups(problem, grouping, size, (self.seed, repeat))
