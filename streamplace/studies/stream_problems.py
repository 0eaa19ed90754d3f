"""The problems of studies for streams: graphs of the branched benchmark on five devices."""

from streamplace.generate import Recipe
from streamplace.problem.cluster import Cluster
from streamplace.problem.problem import Problem

DEVICES = "5x2500"
SOURCE_RATE = 1e4  # tuples/s


def problem_of(number: int, graphs: int, seed: int) -> Problem:
    """Return the problem of a graph of the branched benchmark, of which there are `graphs`."""
    graph = Recipe("dream", graphs, seed=seed).graph(number)
    return Problem(graph, Cluster.parse(DEVICES), source_rate=SOURCE_RATE)
