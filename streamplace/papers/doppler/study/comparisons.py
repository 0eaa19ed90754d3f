"""The results of the study by workload and system, and its tables."""

from collections.abc import Iterator, Sequence

from streamplace.papers.doppler.study.registered import (
    BARRIER,
    BY_DEVICES,
    DOPPLER,
    EPSILON_GREEDY,
    EVERY_STEP,
    HEADS,
    IMITATION_ONLY,
    MEMORY,
    MEMORY_HEAD,
    OF_ABLATIONS,
    OF_SEARCH,
    PLACETO,
    PLC_ONLY,
    PUBLISHED_DEVICES,
    PUBLISHED_SETTINGS,
    RELEASED_CODE,
    SEL_ONLY,
    STAGED,
    TRANSFER,
    UNIFORM,
    WITHOUT_IMITATION,
)
from streamplace.papers.doppler.study.systems import (
    BEST_CRITICAL_PATH,
    CLIMB,
    ENUMERATIVE,
    HEFT,
    IMITATION,
    SEARCH,
    ZERO_SHOT,
)
from streamplace.papers.doppler.study.workloads import MESHES, OWN, SCARCE, Workload
from streamplace.papers.studies.study import Row
from streamplace.papers.studies.table import Cell, Spread, Table, cell
from streamplace.papers.studies.workloads import LONG_SEARCH, WorkloadResults

HEAD = (
    "trained on and used on",
    "greedy",
    "best of 9",
    "after training on it",
    "episodes",
    "from scratch",
    "episodes from scratch",
    "critical path, best of 50",
    "published, ms on GPUs: without episodes",
    "after 2,000",
    "after 4,000",
)

EARLY = "DOPPLER, first checkpoint"

ABLATIONS = (
    DOPPLER,
    IMITATION_ONLY,
    WITHOUT_IMITATION,
    OF_SEARCH,
    SEL_ONLY,
    PLC_ONLY,
    EPSILON_GREEDY,
    RELEASED_CODE,
    PUBLISHED_SETTINGS,
    EARLY,
    EVERY_STEP,
    PLACETO,
    UNIFORM,
    BEST_CRITICAL_PATH,
)

BEST = "shortest one of the long searches"

SUFFIX = {"": "", MESHES: "-meshes", SCARCE: "-scarce"}
"""Variant of workloads -> how the names of their tables end."""

Rows = list[tuple[str, Sequence[Cell]]]

IN_MEMORY = (
    DOPPLER,
    PLACETO,
    UNIFORM,
    BEST_CRITICAL_PATH,
    ENUMERATIVE,
    HEFT,
    CLIMB,
    SEARCH,
    LONG_SEARCH,
)
"""The systems in tables of little memory."""


class Results(WorkloadResults[Workload]):
    """The results of the study, without and with transfers to other workloads.

    Parameters
    ----------
    rows
        The results of all units, in the order of the plan.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__((_workload(row), row) for row in rows if "trained_on" not in row)
        self.transferred: dict[tuple[Workload, Workload], list[Row]] = {}
        for row in rows:
            if "trained_on" in row:
                pair = _workload(row["trained_on"]), _workload(row)
                self.transferred.setdefault(pair, []).append(row)

    def final(self, workload: Workload, system: str) -> list[Row]:
        """Return the last row of each repeat of a system, after its last checkpoint."""
        return last_of(self.rows(workload, system))

    def after(self, workload: Workload, system: str, checkpoint: int) -> list[Row]:
        """Return the rows of all repeats of a trained system at a checkpoint of the simulation.

        Parameters
        ----------
        checkpoint
            Number of the checkpoint; 0 is after imitation, 1 the first one of the simulation.
        """
        repeats = _by_repeat(self.rows(workload, system))
        if checkpoint == 0:
            return [row for rows in repeats for row in rows if row["stage"] == IMITATION]
        simulated = ([row for row in rows if row["stage"] != IMITATION] for rows in repeats)
        return [rows[checkpoint - 1] for rows in simulated if checkpoint <= len(rows)]


def last_of(rows: Sequence[Row]) -> list[Row]:
    """Return the last row of each repeat."""
    return [repeat[-1] for repeat in _by_repeat(rows)]


def _by_repeat(rows: Sequence[Row]) -> list[list[Row]]:
    repeats: dict[int, list[Row]] = {}
    for row in rows:
        repeats.setdefault(row["repeat"], []).append(row)
    return list(repeats.values())


def _workload(row: Row) -> Workload:
    variant = row.get("variant", "")
    return Workload(row["source"], row["graph"], row["devices"], row["limited"], variant)


def transfers(results: Results) -> Table:
    """Return the makespans of policies on other workloads than that on which they were trained."""
    rows: list[tuple[str, Sequence[Cell]]] = []
    for (source, target), found in results.transferred.items():
        at_once = [row for row in found if row["stage"] == ZERO_SHOT]
        after = last_of(found)
        published = _published(source, target)
        cells = (
            cell(results.over_best(target, at_once, "greedy_s")),
            cell(results.over_best(target, at_once)),
            cell(results.over_best(target, after)),
            after[0]["episodes"],
            cell(results.over(target, DOPPLER)),
            results.final(target, DOPPLER)[0]["episodes"],
            cell(results.over(target, BEST_CRITICAL_PATH)),
            *published,
        )
        rows.append((f"{source.name}; {target.name}", cells))
    caption = (
        "makespans of the best placement over the shortest one of the long searches on the target; "
        "'best of 9' are the greedy placement and eight samples"
    )
    return Table("transfer", caption, HEAD, rows)


def _published(source: Workload, target: Workload) -> tuple[Cell, Cell, Cell]:
    same_devices = source.devices == target.devices
    found = TRANSFER.get((source.graph, target.graph)) if same_devices else None
    return found or (None, None, None)


def _in_units(workload: Workload, over: Spread | None, known: float | None) -> float | None:
    """Return a mean makespan in the unit of tables, from that over the best known one."""
    if over is None or known is None:
        return None
    return over.mean * (known * workload.per_second)


def makespans(results: Results, workloads: Sequence[Workload]) -> Table:
    """Return the makespans of all systems on workloads of one source and number of devices."""
    source, devices, variant = workloads[0].source, workloads[0].devices, workloads[0].variant
    systems = dict.fromkeys(s for one in workloads for s in results.systems(one) if s not in STAGED)
    published = BY_DEVICES.get(devices, {})
    head, rows = ["system"], Rows()
    for workload in workloads:
        unit = "ms" if source == OWN else "1e10 released costs"
        head += [workload.graph, f"{workload.graph}, {unit}", f"{workload.graph}, CPU s"]
        head += [f"{workload.graph}, {HEADS[devices]}"] if published else []
    for system in systems:
        cells = list[Cell]()
        for workload in workloads:
            over = results.over(workload, system)
            known = results.best_known(workload)
            spent = Spread.of([row["cpu_s"] for row in results.final(workload, system)])
            cells += [cell(over), _in_units(workload, over, known)]
            cells.append(None if spent is None else spent.mean)
            if published:
                cells.append(published.get(system, {}).get(workload.graph))
        rows.append((system, cells))
    caption = (
        f"{source} graphs on {devices} devices{variant and f' {variant}'}: makespan of the best "
        f"placement over the {BEST}, with the lowest and the highest over seeds or repeats"
    )
    if SEL_ONLY in systems and published:
        caption += OF_ABLATIONS
    name = f"makespans-{source}-{devices}{SUFFIX[variant]}"
    return Table(name, caption, head, rows, best=dict.fromkeys(head[1:], min))


def ablations(results: Results, workloads: Sequence[Workload]) -> Table:
    """Return what parts of DOPPLER contribute, on workloads of one source."""
    rows = Rows()
    for system in ABLATIONS:
        cells = list[Cell]()
        for workload in workloads:
            if system == IMITATION_ONLY:
                part = results.after(workload, DOPPLER, 0)
            elif system == EARLY:
                part = results.after(workload, DOPPLER, 1)
            else:
                part = results.final(workload, system)
            for column in ("best_s", "greedy_s"):
                cells.append(cell(results.over_best(workload, part, column)))
            cells.append(BY_DEVICES.get(workload.devices, {}).get(system, {}).get(workload.graph))
        if any(each is not None for each in cells):
            rows.append((system, cells))
    head = ["system"]
    for workload in workloads:
        head += [workload.graph, f"{workload.graph}, greedy"]
        head += [f"{workload.graph}, {HEADS[PUBLISHED_DEVICES]}"]
    source = workloads[0].source
    caption = (
        f"{source} graphs: makespans of the best and of the greedy placement over the {BEST}; "
        f"{EVERY_STEP!r} has as many episodes as {EARLY!r}{OF_ABLATIONS}"
    )
    return Table(f"ablations-{source}", caption, head, rows, best=dict.fromkeys(head[1:], min))


def checkpoints(results: Results, workloads: Sequence[Workload]) -> Table:
    """Return the best makespans of trained systems after imitation and at every checkpoint."""
    rows, most = Rows(), 2
    for workload in workloads:
        for system in results.systems(workload):
            if "stage" not in results.rows(workload, system)[0]:
                continue
            cells = list(_at_checkpoints(results, workload, system))
            most = max(most, len(cells))
            rows.append((f"{system}: {workload.name}", cells))
    padded = [(name, [*cells, *[None] * (most - len(cells))]) for name, cells in rows]
    numbered = (f"checkpoint {n}" for n in range(1, most - 1))
    head = ("training", "episodes", "after imitation", *numbered)
    caption = f"makespans of the best placement over the {BEST}, by simulated episodes"
    return Table("checkpoints", caption, head, padded)


def _at_checkpoints(results: Results, workload: Workload, system: str) -> Iterator[Cell]:
    """Yield the episodes at the checkpoints as text, and the makespans."""
    episodes, cells, number = list[int](), list[Cell](), 1
    while rows := results.after(workload, system, number):
        episodes.append(rows[0]["episodes"])
        cells.append(cell(results.over_best(workload, rows)))
        number += 1
    yield ", ".join(map(str, episodes))
    yield cell(results.over_best(workload, results.after(workload, system, 0)))
    yield from cells


def with_little_memory(results: Results, workloads: Sequence[Workload]) -> Table:
    """Return the makespans with little memory, over those without limits of the same system."""
    rows, variant = Rows(), workloads[0].variant
    for system in IN_MEMORY:
        cells = list[Cell]()
        for workload in workloads:
            free = Workload(workload.source, workload.graph, workload.devices)
            own, other = (results.final(one, system) for one in (workload, free))
            seconds, before = (
                Spread.of([row["best_s"] for row in part if row["best_s"] is not None])
                for part in (own, other)
            )
            cells.append(cell(results.over(workload, system)))
            cells.append(seconds.mean / before.mean if seconds and before else None)
            published = MEMORY if workload.devices == PUBLISHED_DEVICES else {}
            cells.append(published.get(system, {}).get(workload.graph))
        rows.append((system, cells))
    head = ["system"]
    for workload in workloads:
        head += [workload.graph, f"{workload.graph}, over without limit"]
        head += [f"{workload.graph}, {MEMORY_HEAD}"]
    caption = (
        f"devices with little memory{variant and f' {variant}'}: makespan of the best placement "
        f"over the {BEST}, and over that of the same system without the limit"
    )
    return Table(f"memory{SUFFIX[variant]}", caption, head, rows, best=dict.fromkeys(head[1:], min))


def barriers(results: Results, workloads: Sequence[Workload]) -> Table:
    """Return what a barrier between levels costs the best placements of three systems."""
    rows = Rows()
    for workload in workloads:
        for system in (DOPPLER, BEST_CRITICAL_PATH, ENUMERATIVE, SEARCH):
            last = [r for r in results.final(workload, system) if r["best_s"] and r["barrier_s"]]
            ratio = Spread.of([row["barrier_s"] / row["best_s"] for row in last])
            is_published = (system, workload.devices) == (ENUMERATIVE, PUBLISHED_DEVICES)
            shown = BARRIER.get(workload.graph) if is_published else None
            cells = (cell(ratio), None if shown is None else shown[1] / shown[0])
            rows.append((f"{system}: {workload.name}", cells))
    head = ("placements", "with a barrier over without", "published, on GPUs")
    caption = "makespans of the same placements with a barrier between levels and without one"
    return Table("barrier", caption, head, rows)
