"""The results of the study by workload and system, and its tables."""

from collections.abc import Iterator, Sequence

import numpy as np

from streamplace.papers.hsdag.study.registered import (
    ABLATION,
    ABLATIONS,
    ACCELERATOR_ONLY,
    CPU_ONLY,
    HSDAG,
    MILLISECONDS,
    OWN,
    PLACETO,
    PLACETO_LONGER,
    RNN,
    SEARCH_S,
    UNIFORM,
    Workload,
    below_cpu,
)
from streamplace.papers.hsdag.study.systems import (
    CLIMB,
    CLIMB_CHAINS,
    CLIMB_GROUPS,
    FIXED,
    HEFT,
    PEFT,
    RANDOM_GROUPS,
    SEARCH,
    SEARCH_CHAINS,
    SEARCH_GROUPS,
)
from streamplace.papers.studies.study import Row
from streamplace.papers.studies.table import Cell, Spread, Table, cell
from streamplace.papers.studies.workloads import LONG_SEARCH, WorkloadResults
from streamplace.util.arrays import Floats
from streamplace.util.effect import Effect

PUBLISHED = "published, on other devices"
OWN_BEST = f"{HSDAG}, without its starts"
PLAIN = (CPU_ONLY, ACCELERATOR_ONLY, HEFT, PEFT, CLIMB, SEARCH, CLIMB_CHAINS, SEARCH_CHAINS)
OF_GROUPS = (CLIMB_GROUPS, SEARCH_GROUPS, RANDOM_GROUPS, *FIXED)
RIVALS = (*PLAIN, *OF_GROUPS, PLACETO, UNIFORM, PLACETO_LONGER, RNN)
SYSTEMS = (*PLAIN, HSDAG, OWN_BEST, *RIVALS[len(PLAIN) :], LONG_SEARCH)
SAME = 1e-6  # relative difference of makespans that counts as none
Rows = list[tuple[str, Sequence[Cell]]]


class Results(WorkloadResults[Workload]):
    """The results of the study.

    Parameters
    ----------
    rows
        The results of all units, in the order of the plan.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__((Workload(row["source"], row["graph"], row["scale"]), row) for row in rows)

    @property
    def networks(self) -> list[Workload]:
        """Our networks."""
        return [one for one in self.workloads if one.source == OWN]

    def spread(self, workload: Workload, system: str, column: str = "best_s") -> Spread | None:
        """Return a column of a system's rows; None if there are no values."""
        values = [row.get(column) for row in self.rows(workload, system)]
        return Spread.of([value for value in values if value is not None])

    def single(self, workload: Workload) -> float | None:
        """Return the makespan of the best single device; None if all operators fit on none."""
        both = [self.spread(workload, system) for system in (CPU_ONLY, ACCELERATOR_ONLY)]
        return min((one.mean for one in both if one is not None), default=None)

    def ratios(
        self,
        system: str,
        rival: str,
        workloads: Sequence[Workload],
        columns: tuple[str, str] = ("best_s", "best_s"),
    ) -> Floats:
        """Return the makespans of a system over those of a rival, paired by workload and seed.

        A rival without random choices has one row, which is compared with every seed; pairs with an
        unknown makespan are left out.
        """
        found = []
        for workload in workloads:
            own, others = self.rows(workload, system), self.rows(workload, rival)
            for row in own:
                same = [one for one in others if len(others) == 1 or one["repeat"] == row["repeat"]]
                for one in same:
                    seconds, other = row.get(columns[0]), one.get(columns[1])
                    if seconds is not None and other is not None:
                        found.append(seconds / other)
        return np.array(found)

    def effect(
        self,
        system: str,
        rival: str,
        workloads: Sequence[Workload],
        columns: tuple[str, str] = ("best_s", "best_s"),
    ) -> Effect | None:
        """Return the mean of `ratios` with its interval; None if there are no pairs."""
        ratios = self.ratios(system, rival, workloads, columns)
        return Effect.of(ratios) if len(ratios) else None


def makespans(results: Results, workloads: Sequence[Workload], name: str, what: str) -> Table:
    """Return the makespans of all systems on some workloads."""
    head, rows = ["system"], Rows()
    for workload in workloads:
        head += [workload.name, f"{workload.name}, ms", f"{workload.name}, CPU s"]
    for system in SYSTEMS:
        column = "own_s" if system == OWN_BEST else "best_s"
        source = HSDAG if system == OWN_BEST else system
        if not any(results.rows(workload, source) for workload in workloads):
            continue
        cells = list[Cell]()
        for workload in workloads:
            seconds = results.spread(workload, source, column)
            spent = results.spread(workload, source, "cpu_s")
            cells.append(cell(results.over(workload, source, column)))
            cells.append(None if seconds is None else 1e3 * seconds.mean)
            cells.append(None if spent is None else spent.mean)
        rows.append((system, cells))
    caption = (
        f"{what}: makespan of the best placement over the shortest one of the long searches, with "
        "the lowest and the highest over seeds or repeats; CPU seconds of the search"
    )
    return Table(name, caption, head, rows, best=dict.fromkeys(head[1:], min))


def rivals(results: Results, workloads: Sequence[Workload]) -> Table:
    """Return HSDAG's makespans over those of every other system, with the same seeds."""
    rows = Rows()
    for rival in RIVALS:
        ratios = results.ratios(HSDAG, rival, workloads)
        if len(ratios):
            counts = (ratios < 1 - SAME).sum(), (abs(ratios - 1) <= SAME).sum()
            better, equal = map(int, counts)
            cells: tuple[Cell, ...] = (better, equal, len(ratios) - better - equal)
            rows.append((rival, (Effect.of(ratios).cell(), *cells)))
    head = ("rival", "HSDAG over the rival", "shorter", "equal", "longer")
    caption = (
        "makespans of HSDAG over those of others on our networks, with the 95% interval of the "
        "mean over workloads and seeds, and the number of these on which HSDAG is shorter"
    )
    return Table("rivals", caption, head, rows)


def published(results: Results, workloads: Sequence[Workload]) -> Table:
    """Return by how much latencies are below that of the CPU, and the published figures."""
    head, rows = ["system"], Rows()
    for workload in workloads:
        head += [workload.graph, f"{workload.graph}, {PUBLISHED}"]
        head += [f"{workload.graph}, CPU s", f"{workload.graph}, published s"]
    for system in dict.fromkeys((*MILLISECONDS, UNIFORM, SEARCH, SEARCH_GROUPS, *FIXED)):
        cells = list[Cell]()
        for workload in workloads:
            own, spent = results.spread(workload, system), results.spread(workload, system, "cpu_s")
            cpu = results.spread(workload, CPU_ONLY)
            assert cpu is not None, "our networks fit on the CPU"
            cells.append(None if own is None else 100.0 * (1.0 - own.mean / cpu.mean))
            cells.append(below_cpu(system, workload.graph))
            cells.append(None if spent is None else spent.mean)
            cells.append(SEARCH_S.get(system, {}).get(workload.graph))
        rows.append((system, cells))
    caption = (
        "percent by which makespans are below that of the CPU alone, and CPU seconds of search; "
        "the published ones are latencies on other devices, so the two cannot be compared in "
        "absolute terms"
    )
    return Table("published", caption, head, rows)


def ablation(results: Results, workloads: Sequence[Workload]) -> Table:
    """Return the makespans of variants over those of HSDAG with the same seeds."""
    head = ["variant", "over HSDAG", "without the starts"]
    head += [workload.graph for workload in workloads]
    head += [f"{workload.graph}, {PUBLISHED}, points" for workload in workloads]
    rows = Rows()
    for variant in ABLATIONS:
        if any(results.rows(workload, variant) for workload in workloads):
            rows.append((variant, list(_of_variant(results, workloads, variant))))
    caption = (
        "makespans of variants over those of HSDAG, with the 95% interval of the mean over "
        "networks and seeds; published: percentage points by which the variant is less below the "
        "CPU"
    )
    return Table("ablation", caption, head, rows)


def _of_variant(results: Results, workloads: Sequence[Workload], variant: str) -> Iterator[Cell]:
    columns = ("best_s", "best_s"), ("own_s", "own_s")
    for pair in columns:
        effect = results.effect(variant, HSDAG, workloads, pair)
        yield None if effect is None else effect.cell()
    for workload in workloads:
        effect = results.effect(variant, HSDAG, [workload])
        yield None if effect is None else effect.cell()
    for workload in workloads:
        own = ABLATION.get(variant, {}).get(workload.graph)
        whole = ABLATION[HSDAG].get(workload.graph)
        yield None if own is None or whole is None else whole - own


def groups(results: Results, workloads: Sequence[Workload]) -> Table:
    """Return numbers of groups."""
    rows = Rows()
    for workload in workloads:
        found: list[Cell] = []
        for system in (HSDAG, *FIXED):
            spread = results.spread(workload, system, "groups")
            found.append(None if spread is None else _count(spread))
        rows.append((workload.name, found))
    head = ("workload", HSDAG, *FIXED)
    caption = "groups of the best placement that the policy has made, mean and range over the seeds"
    return Table("groups", caption, head, rows)


def _count(spread: Spread) -> Cell:
    if spread.low == spread.high:
        return int(spread.low)
    return spread.mean, f"{spread.low:.0f} to {spread.high:.0f}"
