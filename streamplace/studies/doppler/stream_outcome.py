"""The table and findings of the study of DOPPLER for streams."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from streamplace.studies.spread import Spread, cell
from streamplace.studies.study import Outcome, Plan, Row
from streamplace.studies.table import Cell, Table
from streamplace.util.arrays import Floats
from streamplace.util.effect import Effect

TITLE = "DOPPLER for the throughput of streams"
COLUMNS = {"one_pass": "one pass", "best": "best of 16"}

Reached = Mapping[str, Mapping[str, Floats]]
"""By column and system, the relative throughput with each seed on each graph, (S, G)."""


def outcome(plan: Plan, rows: Sequence[Row]) -> Outcome:
    """Return the outcome of the study from its results."""
    reached = {column: _by_system(rows, column) for column in COLUMNS}
    first = next(iter(plan.settings["systems"]))
    table = _table(plan, reached, first)
    return Outcome(TITLE, tuple(_findings(plan, reached, first)), (table,))


def _by_system(rows: Sequence[Row], column: str) -> Mapping[str, Floats]:
    found: dict[str, dict[int, dict[int, float]]] = {}
    for row in rows:
        if row[column] is not None:
            seeds = found.setdefault(row["system"], {})
            seeds.setdefault(row["repeat"], {})[row["graph"]] = row[column]
    return {
        system: np.array([[one[g] for g in sorted(one)] for one in seeds.values()])
        for system, seeds in found.items()
    }


def _table(plan: Plan, reached: Reached, first: str) -> Table:
    rows: list[tuple[str, Sequence[Cell]]] = []
    for system in (*plan.settings["systems"], *plan.settings["plain"]):
        cells = list[Cell]()
        for column in COLUMNS:
            values = reached[column].get(system)
            if values is None:
                cells += [None, None]
                continue
            cells.append(cell(Spread.of(values.mean(axis=1).tolist())))
            over = None if system == first else _over(reached[column], first, system)
            cells.append(None if over is None else over.cell())
        rows.append((system, cells))
    head = ["system"]
    for name in COLUMNS.values():
        head += [name, f"{name}: {first} less it"]
    graphs, seeds = plan.settings["graphs"], plan.settings["seeds"]
    caption = (
        f"relative throughput on {graphs} graphs, with the lowest and the highest mean over "
        f"{seeds} training seeds; differences from {first} with 95% intervals over the graphs"
    )
    return Table("streams", caption, head, rows)


def _over(by_system: Mapping[str, Floats], system: str, other: str) -> Effect:
    """Return how far a system is above another, by the means over their seeds."""
    return Effect.of(by_system[system].mean(axis=0) - by_system[other].mean(axis=0))


def _findings(plan: Plan, reached: Reached, first: str) -> Iterator[str]:
    for column, name in COLUMNS.items():
        by_system = reached[column]
        for system in (*plan.settings["systems"], *plan.settings["plain"]):
            if system == first or system not in by_system:
                continue
            over = _over(by_system, first, system)
            own = by_system[first].mean(axis=1)
            ahead = int((own > by_system[system].mean(axis=1)).sum())
            word = "not clearly above or below"
            if not over.low <= 0.0 <= over.high:
                word = "above" if over.mean > 0.0 else "below"
            yield (
                f"{name}: {first} reaches {own.mean():.3f} and is {word} {system}, "
                f"{by_system[system].mean():.3f}, with 95% confidence over graphs: the difference "
                f"is {over}; it is ahead with {ahead} of {len(own)} seeds."
            )
