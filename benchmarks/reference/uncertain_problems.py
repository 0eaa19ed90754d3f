"""Random problems whose costs have standard errors, and independent draws of their true costs."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.reference.random_problems import random_problem
from streamplace import Cluster, Problem, StreamGraph
from streamplace.problem.objective import Model
from streamplace.scoring.throughput import ceiling
from streamplace.util.arrays import Floats

SMALLEST, LARGEST = 0.05, 0.4  # relative standard errors
RATES = (0.35, 1.0)  # of the rate that no placement exceeds


def uncertain_problem(
    seed: int, model: Model = "bottleneck", max_placements: int = 3000
) -> Problem:
    """Return a small random problem with standard errors of 5% to 40% of the costs.

    Its source rate is 0.35 to 1 times the upper bound on the rate that any placement sustains at
    the mean costs.
    """
    rng = np.random.default_rng((seed, 1))
    problem = random_problem(seed, model, max_placements)
    return at_busy_rate(problem, with_errors(problem.graph, rng), rng)


def larger_uncertain_problem(seed: int) -> Problem:
    """Return a problem like `uncertain_problem` with 20 to 60 operators on 3 to 6 devices."""
    rng = np.random.default_rng((seed, 2))
    count = int(rng.integers(20, 61))
    ends = [
        (int(u), v)
        for v in range(1, count)
        for u in rng.choice(v, size=min(v, int(rng.choice([1, 1, 2]))), replace=False)
    ]
    graph = StreamGraph.from_columns(
        [f"op{v}" for v in range(count)],
        rng.lognormal(0.0, 0.7, count) * 1e5,
        rng.uniform(100.0, 3000.0, count),
        np.array(ends),
        selectivity=rng.choice([0.5, 1.0, 1.0, 1.5], size=len(ends)),
    )
    problem = Problem(graph, Cluster.parse(f"{rng.integers(3, 7)}x2500"), source_rate=100.0)
    return at_busy_rate(problem, with_errors(graph, rng), rng)


def with_errors(graph: StreamGraph, rng: np.random.Generator) -> StreamGraph:
    """Return a graph with standard errors of 5% to 40% on four fifths of its numbers."""

    def errors(values: Floats) -> Floats:
        relative = rng.uniform(SMALLEST, LARGEST, len(values))
        return np.where(rng.random(len(values)) < 0.8, relative, 0.0) * values

    return graph.with_numbers(
        instructions_se=errors(graph.instructions),
        payload_bytes_se=errors(graph.payload_bytes),
        selectivity_se=errors(graph.selectivity),
    )[0]


def at_busy_rate(problem: Problem, graph: StreamGraph, rng: np.random.Generator) -> Problem:
    """Return the problem of a graph with other errors, at a rate near the highest possible one."""
    uncertain = Problem(
        graph, problem.cluster, objective=problem.objective, constraints=problem.constraints
    )
    highest = ceiling(uncertain.with_objective(problem.objective.with_changes(model="bottleneck")))
    rate = rng.uniform(*RATES) * min(highest, 1e9)
    return uncertain.with_source_rate(rate)


@dataclass(frozen=True)
class TrueCosts:
    """Draws of a problem's true costs, by code that shares nothing with streamplace's own.

    Operators that are instances must not be among those of the graph.
    """

    problem: Problem

    def draw(self, rng: np.random.Generator) -> Problem:
        """Return the problem with one draw of all costs."""
        graph = self.problem.graph
        payload = self._drawn(rng, graph.payload_bytes, graph.payload_bytes_se)
        of_source = graph.payload_bytes[graph.stream_source]
        factor = np.divide(
            payload[graph.stream_source],
            of_source,
            out=np.ones(len(of_source)),
            where=of_source > 0,
        )
        numbers: dict[str, Any] = {
            "instructions": self._drawn(rng, graph.instructions, graph.instructions_se),
            "payload_bytes": payload,
            "selectivity": self._drawn(rng, graph.selectivity, graph.selectivity_se),
            "stream_payload_bytes": graph.stream_payload_bytes * factor,
        }
        drawn, _ = graph.with_numbers(**numbers)
        return Problem(
            drawn,
            self.problem.cluster,
            objective=self.problem.objective,
            constraints=self.problem.constraints,
        )

    def _drawn(self, rng: np.random.Generator, means: Floats, errors: Floats) -> Floats:
        """Return lognormal numbers with these means and standard deviations."""
        found = means.copy()
        for i in np.flatnonzero((errors > 0) & (means > 0)):
            squared = float(errors[i] / means[i]) ** 2
            sigma2 = np.log(1.0 + squared)
            found[i] = rng.lognormal(np.log(means[i]) - sigma2 / 2.0, np.sqrt(sigma2))
        return found
