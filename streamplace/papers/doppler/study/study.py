"""The study `doppler`: the experiments of DOPPLER's paper, with plain placers beside."""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar

from streamplace.errors import UsageError
from streamplace.papers.doppler.study.outcome import outcome
from streamplace.papers.doppler.study.registered import (
    DOPPLER,
    FULL,
    FURTHER,
    ONLY_ON,
    PLACETO,
    PLACETO_LONGER,
    PUBLISHED_DEVICES,
    PUBLISHED_SETTINGS,
    QUICK,
    STAGED,
    SYSTEMS,
    TRANSFER,
    UNIFORM,
    Registered,
)
from streamplace.papers.doppler.study.staged import measured, staged_row
from streamplace.papers.doppler.study.stages import OF_PLACETO, simulation_of, stage_settings
from streamplace.papers.doppler.study.systems import Training, placeto_rows, plain, trained
from streamplace.papers.doppler.study.workloads import (
    ALIKE,
    BANDWIDTH_MBPS,
    MESHES,
    MIPS,
    OWN,
    RELEASED,
    ROOM,
    SCARCE_ROOM,
    SLOWER_MBPS,
    Workload,
    file_hashes,
    further_workloads,
    own_workloads,
    released_workloads,
)
from streamplace.papers.studies.study import Outcome, Plan, Row, seed_of
from streamplace.papers.studies.workloads import WorkloadStudy

SIMULATED = (*SYSTEMS, PUBLISHED_SETTINGS, PLACETO_LONGER)
"""Systems all of whose stages are simulated."""


@dataclass(frozen=True)
class DopplerStudy(WorkloadStudy[Workload]):
    """The study of DOPPLER by its registered plan.

    Parameters
    ----------
    released
        A folder with the released graphs; None: they are left out.

    Raises
    ------
    UsageError
        If released graphs are combined with `quick`.
    """

    released: str | None = None

    name: ClassVar[str] = "doppler"
    kind = Workload

    def __post_init__(self) -> None:
        if self.quick and self.released is not None:
            raise UsageError(
                "doppler: cannot combine --released with --quick; leave one of them out"
            )

    @property
    def size(self) -> Registered:
        """The size of the study."""
        return self.with_seeds(QUICK if self.quick else FULL, "seeds", "most_seeds")

    @property
    def workloads(self) -> list[Workload]:
        """All workloads of the study."""
        size = self.size
        released = [] if self.released is None else released_workloads()
        further = further_workloads(size.graphs, size.devices)
        return [*own_workloads(size.graphs, size.devices), *released, *further]

    def settings(self) -> Mapping[str, Any]:
        """Return the size, the devices, the stages and the released files.

        Raises
        ------
        FormatError
            If released graphs are missing or invalid.
        """
        files = {} if self.released is None else file_hashes(self.released)
        for workload in released_workloads() if files else ():
            workload.problem(self.released)
        return {
            **self.size.settings(),
            "mips": MIPS,
            "bandwidth_mbps": BANDWIDTH_MBPS,
            "room": ROOM,
            "scarce_room": SCARCE_ROOM,
            "between_meshes_mbps": SLOWER_MBPS,
            "stages": {system: stage_settings(system, self.size) for system in SIMULATED},
            "measured_stage": measured(self.size).model_dump(mode="json"),
            "released_sha256": files,
        }

    def outcome(self, plan: Plan, rows: Sequence[Row]) -> Outcome:
        """Return tables with the published figures, and curves."""
        return outcome(plan, rows)

    def placed(self, workload: Workload) -> Iterator[Row]:
        """Return the results of the plain placers; see `WorkloadStudy.placed`."""
        return plain(workload.problem(self.released), self.size, self.seed)

    def trainings(self) -> Iterator[tuple[str, Workload, int]]:
        """Yield the trainings of a seed after each other, those that were added later last.

        See `WorkloadStudy.trainings`.
        """
        for repeat in range(self.size.seeds):
            for workload in self.workloads:
                for system in SYSTEMS:
                    if not workload.variant and self._is_trained(system, workload):
                        yield system, workload, repeat
        for repeat in range(self.size.seeds):
            for system, workload in self._further():
                yield system, workload, repeat
        for repeat in range(self.size.seeds, self.size.most_seeds):
            for workload in self.workloads:
                if workload.source == RELEASED and workload.devices == self.size.devices[0]:
                    yield DOPPLER, workload, repeat

    def _is_trained(self, system: str, workload: Workload) -> bool:
        if system == DOPPLER:
            return True
        on_first = workload.devices == self.size.devices[0] and not workload.limited
        return on_first and workload.graph in ONLY_ON.get(system, (workload.graph,))

    def _further(self) -> Iterator[tuple[str, Workload]]:
        """Yield the trainings that were added to the plan later, the short ones first."""
        variants = [one for one in self.workloads if one.variant]
        others = [one for one in self.workloads if not one.variant]
        for workload in (*others, *variants):
            if workload.variant or not self._is_trained(PLACETO, workload):
                yield PLACETO, workload
        yield from ((DOPPLER, one) for one in variants if one.variant != MESHES)
        for system in FURTHER:
            sources = (OWN,) if system in STAGED else (OWN, RELEASED)
            for workload in others:
                if workload.source in sources and self._is_trained(system, workload):
                    yield system, workload
        yield from ((DOPPLER, one) for one in variants if one.variant == MESHES)
        yield from ((UNIFORM, one) for one in self.workloads if (one.source, one.graph) != ALIKE)

    def trained(self, system: str, workload: Workload, repeat: int) -> Iterator[Row]:
        """Yield the rows of a training, and of DOPPLER's transfers to other workloads."""
        size, seed = self.size, seed_of(self.seed, repeat)
        about = {**workload.settings, "system": system, "repeat": repeat}
        problem = workload.problem(self.released)
        if system in OF_PLACETO:
            yield from ({**about, **row} for row in placeto_rows(system, problem, size, seed))
            return
        if system in STAGED:
            yield {**about, **staged_row(system, problem, size, seed)}
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
    if trained_on.variant or target.variant:
        return False
    if trained_on.graph == target.graph:
        return trained_on.devices < target.devices
    published = (trained_on.graph, target.graph) in TRANSFER
    return published and trained_on.devices == target.devices == PUBLISHED_DEVICES
