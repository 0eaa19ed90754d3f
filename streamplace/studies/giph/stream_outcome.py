"""Tables and findings of the study of re-placement with a price per move."""

from collections.abc import Iterator, Sequence

import numpy as np

from streamplace.studies.study import Outcome, Plan, Row
from streamplace.studies.table import Cell, Table
from streamplace.util.arrays import Floats
from streamplace.util.effect import Effect

TITLE = "Re-placement of streams with a price per move"
HEAD = (
    "system",
    "relative throughput",
    "worth",
    "difference of worth from our re-placement",
    "interval",
    "chosen moves",
    "ms of CPU",
)


def outcome(plan: Plan, rows: Sequence[Row]) -> Outcome:
    """Return a table per change, and how far each system is from our re-placement."""
    systems: list[str] = plan.settings["systems"]
    changes = list(dict.fromkeys(row["change"] for row in rows))
    found = {change: _columns(systems, change, rows) for change in changes}
    tables = tuple(_table(change, columns) for change, columns in found.items())
    return Outcome(TITLE, tuple(_findings(found)), tables)


Columns = dict[str, dict[str, Floats]]
"""By system and name, a value for each graph, (G,)."""


def _columns(systems: Sequence[str], change: str, rows: Sequence[Row]) -> Columns:
    made: Columns = {}
    for system in systems:
        own = [row for row in rows if (row["change"], row["system"]) == (change, system)]
        own.sort(key=lambda row: int(row["graph"]))
        names = ("relative_throughput", "worth", "moves", "cpu_s")
        made[system] = {name: np.array([row[name] for row in own], float) for name in names}
    return made


def _table(change: str, columns: Columns) -> Table:
    first = next(iter(columns.values()))
    rows: list[tuple[str, Sequence[Cell]]] = []
    for system, column in columns.items():
        over = Effect.of(column["worth"] - first["worth"])
        means = [float(column[name].mean()) for name in ("relative_throughput", "worth")]
        others = float(column["moves"].mean()), 1e3 * float(column["cpu_s"].mean())
        rows.append((system, (*means, over.mean, over.interval, *others)))
    caption = f"after {change}: worth is relative throughput less the price of the moves"
    return Table(change.replace(" ", "-"), caption, HEAD, rows)


def _findings(found: dict[str, Columns]) -> Iterator[str]:
    for change, columns in found.items():
        (ours, best), *others = columns.items()
        for system, column in others:
            over = Effect.of(column["worth"] - best["worth"])
            yield f"After {change}, the worth of {system} differs from that of {ours} by {over}."
