"""The results of the study by workload and system."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from streamplace.studies.hsdag.plain import LONG_SEARCH
from streamplace.studies.hsdag.registered import ACCELERATOR_ONLY, CPU_ONLY
from streamplace.studies.hsdag.workloads import OWN, Workload
from streamplace.studies.study import Row
from streamplace.studies.table import Spread
from streamplace.util.arrays import Floats
from streamplace.util.effect import Effect


class Results:
    """The results of the study.

    Parameters
    ----------
    rows
        The results of all units, in the order of the plan.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows: dict[Workload, dict[str, list[Row]]] = {}
        for row in rows:
            workload = Workload(row["source"], row["graph"], row["scale"])
            self._rows.setdefault(workload, {}).setdefault(row["system"], []).append(row)

    @property
    def workloads(self) -> list[Workload]:
        """The workloads, in the order of the plan."""
        return list(self._rows)

    @property
    def networks(self) -> list[Workload]:
        """Our networks with the registered ratios."""
        return [one for one in self.workloads if one.source == OWN and one.scale == 1.0]

    def systems(self, workload: Workload) -> list[str]:
        """Return the systems that have results on a workload."""
        return list(self._rows[workload])

    def rows(self, workload: Workload, system: str) -> list[Row]:
        """Return the rows of a system, one for each seed or repeat."""
        return self._rows.get(workload, {}).get(system, [])

    def spread(self, workload: Workload, system: str, column: str = "best_s") -> Spread | None:
        """Return a column of a system's rows; None if there are no values."""
        values = [row.get(column) for row in self.rows(workload, system)]
        return Spread.of([value for value in values if value is not None])

    def best_known(self, workload: Workload) -> float | None:
        """Return the shortest makespan of the long searches in seconds; None if none found one."""
        return self._shortest[workload]

    def over(self, workload: Workload, system: str, column: str = "best_s") -> Spread | None:
        """Return the makespans of a system over the shortest one of the long searches.

        None if a makespan of either is not known.
        """
        known = self.best_known(workload)
        if known is None:
            return None
        values = [row.get(column) for row in self.rows(workload, system)]
        return Spread.of([value / known for value in values if value is not None])

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

    @cached_property
    def _shortest(self) -> dict[Workload, float | None]:
        return {
            workload: min(
                (row["best_s"] for row in systems[LONG_SEARCH] if row["best_s"] is not None),
                default=None,
            )
            for workload, systems in self._rows.items()
        }
