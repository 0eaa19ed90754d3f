"""The study `doppler`: the experiments of DOPPLER's paper, with plain placers beside."""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar

from streamplace.errors import UsageError
from streamplace.policy.threads import one_thread
from streamplace.studies.doppler.learning import (
    OF_PLACETO,
    Training,
    placeto_rows,
    simulation_of,
    stage_settings,
    trained,
)
from streamplace.studies.doppler.outcome import outcome
from streamplace.studies.doppler.plain import plain
from streamplace.studies.doppler.registered import (
    DOPPLER,
    FULL,
    ONLY_ON,
    PUBLISHED_DEVICES,
    QUICK,
    SYSTEMS,
    TRANSFER,
    Registered,
)
from streamplace.studies.doppler.workloads import (
    BANDWIDTH_MBPS,
    MIPS,
    ROOM,
    Workload,
    file_hashes,
    own_workloads,
    released_workloads,
)
from streamplace.studies.study import Options, Outcome, Plan, Row, Unit, seed_of


@dataclass(frozen=True)
class DopplerStudy(Options):
    """The study of DOPPLER by its registered plan.

    Parameters
    ----------
    released
        A folder with the released graphs; None: they are left out.
    quick, seed
        See `Options`.

    Raises
    ------
    UsageError
        If released graphs are combined with `quick`.
    """

    released: str | None = None

    name: ClassVar[str] = "doppler"

    def __post_init__(self) -> None:
        if self.quick and self.released is not None:
            raise UsageError(
                "doppler: cannot combine --released with --quick; leave one of them out"
            )

    @property
    def size(self) -> Registered:
        """The size of the study."""
        return QUICK if self.quick else FULL

    @property
    def workloads(self) -> list[Workload]:
        """All workloads of the study."""
        own = own_workloads(self.size.graphs, self.size.devices)
        return own if self.released is None else [*own, *released_workloads()]

    def plan(self) -> Plan:
        """Return the plan: a unit runs the plain placers on a workload, or trains one policy.

        Raises
        ------
        FormatError
            If released graphs are missing or invalid.
        """
        files = {} if self.released is None else file_hashes(self.released)
        for workload in released_workloads() if files else ():
            workload.problem(self.released)
        settings = {
            **self.size.settings(),
            "mips": MIPS,
            "bandwidth_mbps": BANDWIDTH_MBPS,
            "room": ROOM,
            "stages": {system: stage_settings(system, self.size) for system in SYSTEMS},
            "released_sha256": files,
            "seed": self.seed,
        }
        return Plan(settings, (*self._plain_units(), *self._policy_units()))

    def run(self, unit: Unit) -> list[Row]:
        """Return a row for each result of the unit."""
        settings = dict(unit.settings)
        system, repeat = settings.pop("system", None), settings.pop("repeat", 0)
        workload = Workload(**settings)
        with one_thread():
            if system is None:
                found = plain(workload.problem(self.released), self.size, self.seed)
                return [{**workload.settings, **row} for row in found]
            return list(self._trained(system, workload, repeat))

    def outcome(self, plan: Plan, rows: Sequence[Row]) -> Outcome:
        """Return tables with the published figures, and curves."""
        return outcome(plan, rows)

    def _plain_units(self) -> Iterator[Unit]:
        for workload in self.workloads:
            yield Unit(f"plain placers: {workload.name}", workload.settings)

    def _policy_units(self) -> Iterator[Unit]:
        for repeat in range(self.size.seeds):
            for workload in self.workloads:
                for system in SYSTEMS:
                    if self._is_trained(system, workload):
                        what: dict[str, Any] = {"system": system, "repeat": repeat}
                        key = f"{system}: {workload.name}, seed {repeat}"
                        yield Unit(key, {**workload.settings, **what})

    def _is_trained(self, system: str, workload: Workload) -> bool:
        if system == DOPPLER:
            return True
        on_first = workload.devices == self.size.devices[0] and not workload.limited
        return on_first and ONLY_ON.get(system, workload.graph) == workload.graph

    def _trained(self, system: str, workload: Workload, repeat: int) -> Iterator[Row]:
        """Yield the rows of a training, and of DOPPLER's transfers to other workloads."""
        size, seed = self.size, seed_of(self.seed, repeat)
        about = {**workload.settings, "system": system, "repeat": repeat}
        problem = workload.problem(self.released)
        if system in OF_PLACETO:
            yield from ({**about, **row} for row in placeto_rows(system, problem, size, seed))
            return
        policy, rows = trained(system, problem, size, seed)
        yield from ({**about, **row} for row in rows)
        if system == DOPPLER:
            for target in targets_of(workload, self.workloads):
                stage = simulation_of(DOPPLER, size, target.devices)
                stage = stage.model_copy(update={"epochs": size.transfer_epochs})
                training = Training(deepcopy(policy), target.problem(self.released), seed)
                moved = {**about, **target.settings, "trained_on": workload.settings}
                yield from ({**moved, **row} for row in training.without_episodes())
                yield from ({**moved, **row} for row in training.simulate(stage, size.every))


def targets_of(trained_on: Workload, workloads: Sequence[Workload]) -> list[Workload]:
    """Return the workloads to which a policy is transferred.

    They are those of the paper on as many devices, and the same graph on more devices.

    Parameters
    ----------
    workloads
        All workloads of the study.
    """
    return [one for one in workloads if _is_transfer(trained_on, one)]


def _is_transfer(trained_on: Workload, target: Workload) -> bool:
    if trained_on.limited or target.limited or trained_on.source != target.source:
        return False
    if trained_on.graph == target.graph:
        return trained_on.devices < target.devices
    published = (trained_on.graph, target.graph) in TRANSFER
    return published and trained_on.devices == target.devices == PUBLISHED_DEVICES
