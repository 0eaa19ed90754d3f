"""A small study, and what tests of studies do with units and rows."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from streamplace.errors import PlacementError
from streamplace.papers.studies.study import Outcome, Plan, Row, Study, Unit
from streamplace.papers.studies.table import Table
from tests.support.worker_loss import lose_once

WAIT_S = 60.0


def unit_of(study: Study, key: str) -> Unit:
    """Return the unit of a study with a key, or else the first whose key begins with it."""
    units = study.plan().units
    exact = (unit for unit in units if unit.key == key)
    return next(exact, None) or next(unit for unit in units if unit.key.startswith(key))


def without_times(rows: Sequence[Row]) -> list[Row]:
    """Return rows without their CPU times, which differ between runs."""
    return [{key: value for key, value in row.items() if key != "cpu_s"} for row in rows]


@dataclass(frozen=True)
class Squares:
    """A study of the squares of numbers; one of them may be impossible.

    Parameters
    ----------
    calls
        A file to which every unit adds a line.
    results
        The file of results, in which the first unit waits for those of all others.
    lost
        A file that is created when the machine of the unit in the middle is killed, once.
    """

    count: int
    fails_at: int | None = None
    calls: Path | None = None
    results: Path | None = None
    lost: Path | None = None

    name: ClassVar[str] = "squares"

    def plan(self) -> Plan:
        units = tuple(Unit(f"number {i}", {"i": i}) for i in range(self.count))
        return Plan({"count": self.count}, units)

    def run(self, unit: Unit) -> list[Row]:
        i = unit.settings["i"]
        if i == self.fails_at:
            raise PlacementError("has no square")
        if self.results is not None and i == 0:
            self._wait(self.results)
        if self.lost is not None and i == self.count // 2:
            lose_once(self.lost, machine=True)
        if self.calls is not None:
            with self.calls.open("a") as file:
                file.write(f"{i}\n")
        return [{"i": i, "square": float(i * i)}]

    def _wait(self, results: Path) -> None:
        until = time.monotonic() + WAIT_S
        while not results.exists() or results.read_bytes().count(b"\n") < self.count - 1:
            if time.monotonic() > until:
                raise PlacementError("the results of the other units are not in the folder")
            time.sleep(0.05)

    def outcome(self, plan: Plan, rows: Sequence[Row]) -> Outcome:
        total = sum(row["square"] for row in rows)
        table = Table(
            "squares", "squares", ("n", "square"), [(str(r["i"]), [r["square"]]) for r in rows]
        )
        return Outcome("Squares", (f"The sum is {total:g}.",), (table,))
