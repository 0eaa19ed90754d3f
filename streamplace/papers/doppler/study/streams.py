"""The study of DOPPLER for streams: whether a learned order is better than a fixed one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from streamplace.learning.policy.base import Constructive
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.registry import policy_section
from streamplace.learning.policy.weights import new_policy
from streamplace.learning.training.in_memory import fit
from streamplace.learning.training.stages import Stage
from streamplace.papers.studies.study import (
    DEVICES,
    SOURCE_RATE,
    Outcome,
    Part,
    Plan,
    PlannedStudy,
    Row,
    blocks,
    problem_of,
    seed_of,
)
from streamplace.papers.studies.table import Cell, Spread, Table, cell
from streamplace.placers.repair import feasible
from streamplace.placers.running import run_placer
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator
from streamplace.util.arrays import Floats
from streamplace.util.effect import Effect

TITLE = "DOPPLER for the throughput of streams"
COLUMNS = {"one_pass": "one pass", "best": "best of 16"}

Reached = Mapping[str, Mapping[str, Floats]]
"""By column and system, the relative throughput with each seed on each graph, (S, G)."""

SEL_AND_PLC = "SEL and PLC"
LEVELS = "PLC, level by level"

SYSTEMS: Mapping[str, Mapping[str, Any]] = {
    SEL_AND_PLC: {"kind": "doppler"},
    LEVELS: {"kind": "doppler", "sizes": {"variant": "plc-only", "order": "by-depth"}},
    "PLC, longest path first": {"kind": "doppler", "sizes": {"variant": "plc-only"}},
    "SEL only": {"kind": "doppler", "sizes": {"variant": "sel-only"}},
    "our network, level by level": {"kind": "device-scorer", "sizes": {"hidden": 32}},
}
"""The policies that are trained alike, with embeddings of the same size."""

PLAIN = {
    "greedy": "greedy",
    "METIS oracle": "metis-oracle",
    "shipped policy, network alone": "policy:refine=0:coarsen=0",
    "annealing": "search",
}
"""Placers that are not trained here."""

TEACHER = "search"
OTHER_GRAPHS = 1000  # added to the seed of the graphs that are trained on
SAMPLES = 16
BLOCK = 20  # graphs per unit of plain placers


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
    return Table("streams", caption, head, rows, best=dict.fromkeys(head[1::2], max))


def _over(by_system: Mapping[str, Floats], system: str, other: str) -> Effect:
    """Return how far a system is above another, by the means over their seeds."""
    return Effect.of(by_system[system].mean(axis=0) - by_system[other].mean(axis=0))


def _findings(plan: Plan, reached: Reached, first: str) -> Iterator[str]:
    for column, name in COLUMNS.items():
        by_system = reached[column]
        found: dict[str, list[str]] = {"above": [], "not clearly above or below": [], "below": []}
        for system in (*plan.settings["systems"], *plan.settings["plain"]):
            if system == first or system not in by_system:
                continue
            over = _over(by_system, first, system)
            word = "not clearly above or below"
            if not over.low <= 0.0 <= over.high:
                word = "above" if over.mean > 0.0 else "below"
            found[word].append(system)
        own = by_system[first].mean()
        for word, systems in found.items():
            if systems:
                yield (
                    f"{name}: {first}, {own:.3f}, is {word} these with 95% confidence over graphs: "
                    f"{'; '.join(systems)}."
                )


@dataclass(frozen=True)
class Size:
    """The size of the study.

    Parameters
    ----------
    graphs
        Graphs that are placed.
    training_graphs
        Other graphs, on which every policy is trained.
    seeds
        Training seeds.
    imitation_epochs, epochs
        Passes over the training graphs, by imitation of annealing and by REINFORCE.
    samples
        Placements of a graph per update of REINFORCE.
    """

    graphs: int = 200
    training_graphs: int = 320
    seeds: int = 5
    imitation_epochs: int = 30
    epochs: int = 40
    samples: int = 16


FULL = Size()
QUICK = Size(graphs=6, training_graphs=16, seeds=1, imitation_epochs=2, epochs=2, samples=4)


@dataclass(frozen=True)
class StreamDopplerStudy(PlannedStudy):
    """The study of DOPPLER for the throughput of streams.

    Policies that choose operators and devices, one of them or devices in a fixed order are trained
    alike on graphs of the paper's branched benchmark: by imitation of annealing, then by REINFORCE.
    They place other graphs of the benchmark on five equal devices, once and 16 times.
    """

    name: ClassVar[str] = "doppler-throughput"

    @property
    def size(self) -> Size:
        """The size of the study."""
        return QUICK if self.quick else FULL

    def settings(self) -> Mapping[str, Any]:
        """Return the size, systems and stages; see `PlannedStudy.settings`."""
        return {
            **asdict(self.size),
            "devices": DEVICES,
            "source_rate": SOURCE_RATE,
            "systems": {name: dict(section) for name, section in SYSTEMS.items()},
            "plain": dict(PLAIN),
            "stages": [stage.model_dump(mode="json") for stage in stages(self.size)],
        }

    def parts(self) -> Sequence[Part]:
        """Return the tables of plain placers and of trained policies."""
        size = self.size
        return [
            Part(
                ("first",),
                partial(blocks, size.graphs, BLOCK),
                "plain placers, graphs from {first}".format,
                self._plain,
            ),
            Part(
                ("system", "repeat"),
                lambda: ((system, repeat) for repeat in range(size.seeds) for system in SYSTEMS),
                "{system}, seed {repeat}".format,
                self._policy,
            ),
        ]

    def outcome(self, plan: Plan, rows: Sequence[Row]) -> Outcome:
        """Return relative throughput by system, with intervals."""
        return outcome(plan, rows)

    def _problem(self, number: int) -> Problem:
        return problem_of(number, self.size.graphs, self.seed)

    def _plain(self, first: int) -> Iterator[Row]:
        for number in range(first, min(first + BLOCK, self.size.graphs)):
            problem = self._problem(number)
            for system, placer in PLAIN.items():
                rng = np.random.default_rng(seed_of(self.seed, number))
                devices = run_placer(problem, placer, rng, None).placement.devices
                reached = float(evaluator(problem).quality(devices)[0])
                yield _row(number, system, 0, reached, None)

    def _policy(self, system: str, repeat: int) -> Iterator[Row]:
        """Yield a row for each graph: relative throughput of one pass, and of the best of 16."""
        seed, count = seed_of(self.seed, repeat), self.size.training_graphs
        policy = Constructive.of(new_policy(policy_section(dict(SYSTEMS[system])), seed))
        others = [problem_of(n, count, self.seed + OTHER_GRAPHS) for n in range(count)]
        fit(policy, others, stages(self.size), np.random.default_rng(seed))
        for number in range(self.size.graphs):
            reached = _reached(policy, self._problem(number), seed)
            yield _row(number, system, repeat, reached[0], max(reached))


def stages(size: Size) -> tuple[Stage, ...]:
    """Return the stages by which every policy is trained."""
    rates = {"rate": 1e-3, "final_rate": 1e-5, "schedule": "linear", "largest_gradient": 1.0}
    imitation = {
        "algorithm": "imitation",
        "teacher": TEACHER,
        "epochs": size.imitation_epochs,
        "problems_per_step": 16,
        "optimiser": {"rate": 2e-3, "final_rate": 1e-4, "schedule": "linear"},
    }
    reinforcement = {
        "algorithm": "reinforce",
        "epochs": size.epochs,
        "problems_per_step": 16,
        "samples": size.samples,
        "reward": "log-loss",
        "normalise": True,
        "memory": {"size": 1, "samples": 0},
        "optimiser": rates,
    }
    return Stage.of(imitation), Stage.of(reinforcement)


def _reached(policy: Constructive[Any, Any], problem: Problem, seed: int) -> list[float]:
    """Return relative throughput of 16 placements, the most likely devices first."""
    batch = policy.batch([policy.encode(problem)])
    sampler = Sampler.seeded(seed)
    sampler.first_is_likeliest = True
    made = policy.sample(batch, SAMPLES, sampler)[0]
    quality = evaluator(problem).quality
    return [float(quality(feasible(problem, devices).devices)[0]) for devices in made]


def _row(graph: int, system: str, repeat: int, one_pass: float, best: float | None) -> Row:
    return {
        "graph": graph,
        "system": system,
        "repeat": repeat,
        "one_pass": one_pass,
        "best": best,
    }
