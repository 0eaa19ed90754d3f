"""The results of the study by workload and system."""

from collections.abc import Sequence
from functools import cached_property

from streamplace.studies.doppler.learning import IMITATION
from streamplace.studies.doppler.plain import LONG_SEARCH
from streamplace.studies.doppler.workloads import Workload
from streamplace.studies.study import Row
from streamplace.studies.table import Spread


class Results:
    """The results of the study.

    Parameters
    ----------
    rows
        The results of all units, in the order of the plan.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows: dict[Workload, dict[str, list[Row]]] = {}
        self.transferred: dict[tuple[Workload, Workload], list[Row]] = {}
        for row in rows:
            workload = _workload(row)
            if "trained_on" in row:
                pair = _workload(row["trained_on"]), workload
                self.transferred.setdefault(pair, []).append(row)
            else:
                systems = self._rows.setdefault(workload, {})
                systems.setdefault(row["system"], []).append(row)

    @property
    def workloads(self) -> list[Workload]:
        """The workloads, in the order of the plan."""
        return list(self._rows)

    def systems(self, workload: Workload) -> list[str]:
        """Return the systems that have results on a workload."""
        return list(self._rows[workload])

    def rows(self, workload: Workload, system: str) -> list[Row]:
        """Return all rows of a system, those of each repeat in the order of its checkpoints."""
        return self._rows.get(workload, {}).get(system, [])

    def last(self, workload: Workload, system: str) -> list[Row]:
        """Return the last row of each repeat of a system."""
        return last_of(self.rows(workload, system))

    def best_known(self, workload: Workload) -> float:
        """Return the shortest makespan of the long searches, in seconds."""
        return self._shortest[workload]

    def over(self, workload: Workload, system: str, column: str = "best_s") -> Spread | None:
        """Return the final makespans of a system over the shortest of the long searches."""
        return self.over_best(workload, self.last(workload, system), column)

    def over_best(
        self, workload: Workload, rows: Sequence[Row], column: str = "best_s"
    ) -> Spread | None:
        """Return the makespans of some rows over the shortest of the long searches."""
        known = self.best_known(workload)
        return Spread.of([row[column] / known for row in rows if row[column] is not None])

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

    @cached_property
    def _shortest(self) -> dict[Workload, float]:
        return {
            workload: min(row["best_s"] for row in systems[LONG_SEARCH])
            for workload, systems in self._rows.items()
        }


def last_of(rows: Sequence[Row]) -> list[Row]:
    """Return the last row of each repeat."""
    return [repeat[-1] for repeat in _by_repeat(rows)]


def _by_repeat(rows: Sequence[Row]) -> list[list[Row]]:
    repeats: dict[int, list[Row]] = {}
    for row in rows:
        repeats.setdefault(row["repeat"], []).append(row)
    return list(repeats.values())


def _workload(row: Row) -> Workload:
    return Workload(row["source"], row["graph"], row["devices"], row["limited"])
