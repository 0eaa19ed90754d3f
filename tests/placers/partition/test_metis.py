"""The placers that partition units by METIS."""

import numpy as np

from streamplace import Cluster, Constraints, Problem, Recipe
from streamplace.placers.partition.metis import Metis, MetisRecursive
from streamplace.scoring.throughput import throughput
from tests.support.graphs import chain_graph

RNG = np.random.default_rng(0)


def test_colocated_operators_are_one_vertex() -> None:
    graph = chain_graph(*[1000.0] * 12)
    together = Constraints(colocate=[["a", "l"], ["b", "k"], ["c", "j"]])
    placement = MetisRecursive(parts=3)(Problem(graph, constraints=together), RNG)
    assert sorted(len(pe) for pe in placement.pes.values()) == [4, 4, 4]


def test_utilisation_weights_give_more_throughput() -> None:
    recipe = Recipe("dream", 200, seed=5)
    achieved = {"instructions": 0.0, "utilisation": 0.0}
    for number in range(200):
        problem = Problem(recipe.graph(number), model="path-average")
        for weights in achieved:
            devices = Metis(weights=weights)(problem, RNG).devices  # type: ignore[arg-type]
            achieved[weights] += throughput(problem, devices)[0] / problem.source_rate / 200
    assert achieved["utilisation"] > achieved["instructions"] + 0.01


def test_work_of_any_size_keeps_its_proportions() -> None:
    for scale in (1e-9, 1e-3, 1.0, 1e9):
        graph = chain_graph(*(scale * x for x in (4.0, 1.0, 1.0, 1.0, 1.0, 4.0)))
        problem = Problem(graph, Cluster.equal(2))
        assert sorted(map(len, Metis()(problem, RNG).pes.values())) == [3, 3]
