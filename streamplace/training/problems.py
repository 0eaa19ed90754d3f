"""From graphs to the problems that a policy is trained on."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from streamplace.cluster import Cluster, Network
from streamplace.errors import within
from streamplace.graph import StreamGraph
from streamplace.policy.features import Prepared, prepare
from streamplace.problem import Problem
from streamplace.training.config import ProblemsSection


def make_problems(
    graphs: Sequence[StreamGraph], config: ProblemsSection, seed: int
) -> list[Prepared]:
    """Return every graph at every source rate, on a cluster drawn for it.

    Raises
    ------
    StreamplaceError
        Whatever is wrong with a graph or cluster; it names the graph.
    """
    rng = np.random.default_rng([seed, 0])
    clusters = [Cluster.parse(text).devices for text in config.devices]
    prepared = []
    for number, graph in enumerate(graphs):
        devices = clusters[rng.integers(len(clusters))]
        network = replace(
            Network(),
            kind=config.networks[rng.integers(len(config.networks))],
            bandwidth_mbps=config.bandwidth_mbps[rng.integers(len(config.bandwidth_mbps))],
        )
        cluster = Cluster(devices, network)
        for rate in config.source_rates or [None]:
            with within(graph.name or f"graph {number}"):
                problem = Problem(graph, cluster, source_rate=rate, model=config.model)
                prepared.append(prepare(problem))
    return prepared


def largest_first(prepared: Sequence[Prepared], numbers: np.ndarray) -> np.ndarray:
    """Return these numbers of problems, those with most operators first."""
    sizes = np.array([prepared[i].size for i in numbers])
    return numbers[np.argsort(-sizes, kind="stable")]


def steps_of(
    prepared: Sequence[Prepared], own: np.ndarray, problems: int, decisions: int, seed: list[int]
) -> list[np.ndarray]:
    """Return an epoch's steps: which problems, in random order, each step's largest first.

    Parameters
    ----------
    own
        The problems to go through.
    problems, decisions
        A step has at most so many problems, and operators if that is not 0.
    """
    order = np.random.default_rng(seed).permutation(own)
    steps: list[list[int]] = []
    room = 0
    for i in order:
        size = prepared[i].size * len(prepared[i].problem.cluster.devices)
        if not steps or len(steps[-1]) == problems or (decisions and size > room):
            steps.append([])
            room = decisions
        steps[-1].append(int(i))
        room -= size
    return [largest_first(prepared, np.array(step)) for step in steps]
