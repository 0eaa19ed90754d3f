"""The study `doppler`: the experiments of DOPPLER's paper, with plain placers beside."""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any, ClassVar

from matplotlib.artist import Artist

from streamplace.errors import UsageError
from streamplace.plots.style import GREY, legend_below, line, picture
from streamplace.studies.doppler.comparisons import (
    Results,
    ablations,
    barriers,
    checkpoints,
    makespans,
    transfers,
    with_little_memory,
)
from streamplace.studies.doppler.registered import (
    BANDWIDTH_MBPS,
    DOPPLER,
    FULL,
    MIPS,
    OF_SEARCH,
    ONLY_ON,
    OWN,
    PUBLISHED_DEVICES,
    QUICK,
    RELEASED,
    RELEASED_CODE,
    ROOM,
    SYSTEMS,
    TRANSFER,
    WITHOUT_IMITATION,
    Registered,
    Workload,
    file_hashes,
    own_workloads,
    released_workloads,
)
from streamplace.studies.doppler.systems import (
    CLIMB,
    ENUMERATIVE,
    OF_PLACETO,
    SEARCH,
    Training,
    placeto_rows,
    plain,
    simulation_of,
    stage_settings,
    trained,
)
from streamplace.studies.study import Outcome, Plan, Row, seed_of
from streamplace.studies.table import Spread, Table
from streamplace.studies.workloads import WorkloadStudy
from streamplace.util.text import counted

PANEL = (3.9, 3.2)  # width and height in inches
COLUMNS = 4
CURVES = (DOPPLER, RELEASED_CODE, WITHOUT_IMITATION, OF_SEARCH)
LEVELS = {CLIMB: "--", SEARCH: ":"}


def curves_picture(path: Path, results: Results, workloads: Sequence[Workload]) -> None:
    """Draw the best makespan over the best known one, a panel per workload.

    Climb and search with as many evaluations as a training are horizontal lines.
    """
    columns = min(COLUMNS, len(workloads))
    count = ceil(len(workloads) / columns)
    with picture(path, (PANEL[0] * columns, PANEL[1] * count + 0.5)) as figure:
        panels = figure.subplots(count, columns, squeeze=False).flatten()
        drawn: dict[str, Artist] = {}
        for axes, workload in zip(panels, workloads, strict=False):
            for system, dashes in LEVELS.items():
                level = results.over(workload, system)
                assert level is not None, "climb and search find placements without limits"
                drawn[system] = axes.axhline(level.mean, color=GREY, linestyle=dashes)
            for i, system in enumerate(CURVES):
                episodes, means = _curve(results, workload, system)
                drawn[system] = axes.plot(episodes, means, **line(i))[0]
            axes.set_title(workload.name)
            axes.set_xlabel("simulated episodes")
            axes.set_ylabel("makespan / best known one")
        for axes in panels[len(workloads) :]:
            axes.set_visible(False)
        legend_below(figure, list(drawn.values()), list(drawn))


def _curve(results: Results, workload: Workload, system: str) -> tuple[list[int], list[float]]:
    """Return episodes, and the mean over the seeds of the best makespan after them."""
    points: list[tuple[int, float]] = []
    number = 0
    while True:
        rows = results.after(workload, system, number)
        over = results.over_best(workload, rows)
        if over is not None:
            points.append((rows[0]["episodes"], over.mean))
        elif number:
            break
        number += 1
    return [episodes for episodes, _ in points], [mean for _, mean in points]


SAME = 1e-6  # relative difference of makespans that counts as none


def findings(plan: Plan, results: Results) -> tuple[str, ...]:
    """Return what the study finds, the comparison with search at equal evaluations first."""
    return tuple(_findings(plan, results))


def _findings(plan: Plan, results: Results) -> Iterator[str]:
    shorter = dict.fromkeys((CLIMB, SEARCH, ENUMERATIVE), 0)
    free = [one for one in results.workloads if not one.limited]
    sentences = []
    for workload in results.workloads:
        overs = {s: results.over(workload, s) for s in (DOPPLER, *shorter)}
        own = overs[DOPPLER]
        if own is None:
            sentences.append(f"On {workload.name}, DOPPLER finds no feasible placement.")
            continue
        for rival in shorter:
            other = overs[rival]
            if workload in free and (other is None or own.mean < other.mean * (1 - SAME)):
                shorter[rival] += 1
        sentences.append(_sentence(workload, own, overs))
    counts = zip(plan.settings["devices"], plan.settings["evaluations"], strict=True)
    episodes = [f"{count:,} on {devices} devices" for devices, count in counts]
    where = counted(len(free), "workload")
    yield (
        "After as many simulated episodes as climb and search have evaluations "
        f"({' and '.join(episodes)}), the mean makespan of DOPPLER's best placements is below "
        f"climb's on {shorter[CLIMB]} of {where}, below search's on {shorter[SEARCH]}, and below "
        f"EnumerativeOptimizer's on {shorter[ENUMERATIVE]}."
    )
    yield from sentences
    yield (
        "Published milliseconds were measured on GPUs and ours are simulated, so that only ratios "
        "within a column can be compared."
    )
    if not plan.settings["released_sha256"]:
        yield "The released graphs are left out; --released DIR adds them."


def _sentence(workload: Workload, own: Spread, overs: dict[str, Spread | None]) -> str:
    words = [
        f"that of {rival} {'unknown' if over is None else over}"
        for rival, over in overs.items()
        if rival != DOPPLER
    ]
    return (
        f"On {workload.name}, the makespan of DOPPLER is {own} of the best known one; "
        f"{', '.join(words)}."
    )


TITLE = "DOPPLER (ICLR 2026): placements of dataflow graphs, ablations and plain search"


def outcome(plan: Plan, rows: Sequence[Row]) -> Outcome:
    """Return the tables, the picture and what they show."""
    results = Results(rows)
    first = [one for one in _free(results) if one.devices == plan.settings["devices"][0]]
    pictures = {"curves": partial(curves_picture, results=results, workloads=first)}
    return Outcome(TITLE, findings(plan, results), tuple(_tables(results, first)), pictures)


def _free(results: Results) -> list[Workload]:
    """Return the workloads without limits of memory."""
    return [one for one in results.workloads if not one.limited]


def _tables(results: Results, first: Sequence[Workload]) -> Iterator[Table]:
    """Yield the tables.

    Parameters
    ----------
    first
        The workloads on the number of devices on which all systems are trained.
    """
    free = _free(results)
    for source in (OWN, RELEASED):
        for devices in dict.fromkeys(one.devices for one in free):
            part = [one for one in free if (one.source, one.devices) == (source, devices)]
            if part:
                yield makespans(results, part)
    for source in (OWN, RELEASED):
        part = [one for one in first if one.source == source]
        if part:
            yield ablations(results, part)
    yield checkpoints(results, free)
    if results.transferred:
        yield transfers(results)
    yield with_little_memory(results, [one for one in results.workloads if one.limited])
    yield barriers(results, free)


@dataclass(frozen=True)
class DopplerStudy(WorkloadStudy[Workload]):
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
    kind = Workload

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
            "stages": {system: stage_settings(system, self.size) for system in SYSTEMS},
            "released_sha256": files,
        }

    def outcome(self, plan: Plan, rows: Sequence[Row]) -> Outcome:
        """Return tables with the published figures, and curves."""
        return outcome(plan, rows)

    def placed(self, workload: Workload) -> Iterator[Row]:
        """Return the results of the plain placers; see `WorkloadStudy.placed`."""
        return plain(workload.problem(self.released), self.size, self.seed)

    def trainings(self) -> Iterator[tuple[str, Workload, int]]:
        """Yield the trainings of a seed after each other; see `WorkloadStudy.trainings`."""
        for repeat in range(self.size.seeds):
            for workload in self.workloads:
                for system in SYSTEMS:
                    if self._is_trained(system, workload):
                        yield system, workload, repeat

    def _is_trained(self, system: str, workload: Workload) -> bool:
        if system == DOPPLER:
            return True
        on_first = workload.devices == self.size.devices[0] and not workload.limited
        return on_first and ONLY_ON.get(system, workload.graph) == workload.graph

    def trained(self, system: str, workload: Workload, repeat: int) -> Iterator[Row]:
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
