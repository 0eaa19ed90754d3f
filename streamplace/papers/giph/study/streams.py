"""Re-placement of streams after a loss or a change of rate, where every move has a price."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from streamplace.families import Recipe
from streamplace.papers.giph.placer import GiphPlacer
from streamplace.papers.studies.study import (
    DEVICES,
    Outcome,
    Part,
    Plan,
    PlannedStudy,
    Row,
    blocks,
    seed_of,
)
from streamplace.papers.studies.table import Cell, Table
from streamplace.placers.registry import make_placer
from streamplace.placers.search.current import current_devices, moving_seconds
from streamplace.placers.search.migrate import Migrate
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.problem.losses import Losses
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator
from streamplace.sim import work_clock
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

Columns = dict[str, dict[str, Floats]]
"""By system and name, a value for each graph, (G,)."""

RATE, HIGHER_RATE = 1e4, 2e4  # tuples/s
STATE_BYTES = 1e7  # of every operator: .08 s over a link of 1000 Mbit/s
PRICE = 0.1  # relative throughput that a second of moving must gain
GRAPHS, QUICK_GRAPHS = 630, 6
BLOCK = 10  # graphs per unit of work
OURS, TENTH = 5000, 500  # evaluations
LOSS, RISE = "the loss of a device", "a doubling of the rate"

SYSTEMS: dict[str, Callable[[Placement], Migrate]] = {
    "our re-placement": lambda old: Migrate(old, move_cost=PRICE, evaluations=OURS),
    "our re-placement, a tenth": lambda old: Migrate(old, move_cost=PRICE, evaluations=TENTH),
    "giph, a tenth": lambda old: Migrate(old, move_cost=PRICE, improver=GiphPlacer(TENTH)),
    "giph, two per operator": lambda old: Migrate(old, move_cost=PRICE, improver=GiphPlacer()),
    "necessary moves only": lambda old: Migrate(old, max_moves=0, evaluations=1),
}


def outcome(plan: Plan, rows: Sequence[Row]) -> Outcome:
    """Return a table per change, and how far each system is from our re-placement."""
    systems: list[str] = plan.settings["systems"]
    changes = list(dict.fromkeys(row["change"] for row in rows))
    found = {change: _columns(systems, change, rows) for change in changes}
    tables = tuple(_table(change, columns) for change, columns in found.items())
    return Outcome(TITLE, tuple(_findings(found)), tables)


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
    best = {"relative throughput": max, "worth": max, "ms of CPU": min}
    return Table(change.replace(" ", "-"), caption, HEAD, rows, best=best)


def _findings(found: dict[str, Columns]) -> Iterator[str]:
    for change, columns in found.items():
        (ours, best), *others = columns.items()
        for system, column in others:
            over = Effect.of(column["worth"] - best["worth"])
            yield f"After {change}, the worth of {system} differs from that of {ours} by {over}."


@dataclass(frozen=True)
class StreamGiphStudy(PlannedStudy):
    """The study of re-placement with a price per move, for throughput.

    Graphs of the paper's branched benchmark run on five devices. Then the device with the highest
    load is lost, or the rate doubles, and each system re-places the job.
    """

    name: ClassVar[str] = "giph-throughput"

    def settings(self) -> Mapping[str, Any]:
        """Return the graphs, rates, prices and systems; see `PlannedStudy.settings`."""
        return {
            "graphs": self._graphs,
            "devices": DEVICES,
            "source_rates": [RATE, HIGHER_RATE],
            "state_bytes": STATE_BYTES,
            "price": PRICE,
            "systems": list(SYSTEMS),
        }

    def parts(self) -> Sequence[Part]:
        """Return the table of blocks of graphs; see `PlannedStudy.parts`."""
        rows = partial(blocks, self._graphs, BLOCK)
        return [Part(("first",), rows, "graphs from {first}".format, self._results)]

    def outcome(self, plan: Plan, rows: Sequence[Row]) -> Outcome:
        """Return what each system reaches after each change, with intervals."""
        return outcome(plan, rows)

    @property
    def _graphs(self) -> int:
        return QUICK_GRAPHS if self.quick else GRAPHS

    def _results(self, first: int) -> Iterator[Row]:
        """Yield a row for each graph, change and system."""
        recipe = Recipe("dream", self._graphs, seed=self.seed)
        with work_clock.cpu_time():
            for number in range(first, min(first + BLOCK, self._graphs)):
                yield from self._of_graph(number, recipe.graph(number))

    def _of_graph(self, number: int, drawn: StreamGraph) -> Iterator[Row]:
        operators = [replace(one, memory_bytes=STATE_BYTES) for one in drawn.operators]
        graph = StreamGraph(operators, drawn.streams, name=drawn.name)
        cluster = Cluster.parse(DEVICES)
        before = Problem(graph, cluster, source_rate=RATE)
        rng = np.random.default_rng(seed_of(self.seed, number))
        old = make_placer(f"search:evaluations={OURS}")(before, rng)
        loads = evaluator(before).trace(old.devices).device_loads[0]
        lost = Losses((cluster.names[int(loads.argmax())],), resolved=True)
        changed = {
            LOSS: Problem(graph, lost.cluster(cluster), source_rate=RATE),
            RISE: Problem(graph, cluster, source_rate=HIGHER_RATE),
        }
        for change, problem in changed.items():
            for system, migrate in SYSTEMS.items():
                rng = np.random.default_rng(seed_of(self.seed, number, 1))
                begun = work_clock.now()
                found = migrate(old)(problem, rng)
                spent = work_clock.now() - begun
                yield {
                    "graph": number,
                    "change": change,
                    "system": system,
                    **_worth(problem, old, found),
                    "cpu_s": spent,
                }


def _worth(problem: Problem, old: Placement, new: Placement) -> Row:
    """Return what a placement is worth, and what its moves cost."""
    current = current_devices(problem, old)
    rows = new.devices[None]
    quality = float(evaluator(problem).quality(new.devices)[0])
    cost = PRICE * float(current.costs(rows, moving_seconds(problem))[0])
    return {
        "relative_throughput": quality,
        "moves": int(current.moves(rows)[0]),
        "worth": quality - cost,
    }
