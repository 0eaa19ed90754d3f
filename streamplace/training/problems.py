"""Problems to train on, made from graphs."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from streamplace.errors import within
from streamplace.policy.features import EncodedProblem, encode
from streamplace.problem.cluster import Cluster, Network
from streamplace.problem.graph import StreamGraph
from streamplace.problem.objective import Throughput
from streamplace.problem.problem import Problem
from streamplace.training.config import ProblemsSection
from streamplace.training.rewards import ENGINE_SETTINGS


def make_problems(
    graphs: Sequence[StreamGraph], groups: Sequence[ProblemsSection], seed: int
) -> list[EncodedProblem]:
    """Return, for every group, its graphs at every source rate, on a cluster drawn for each graph.

    Raises
    ------
    StreamplaceError
        Whatever is wrong with a graph or cluster; it names the graph.
    """
    return [
        one
        for number, group in enumerate(groups)
        for one in _group(graphs, group, np.random.default_rng([seed, 0, number]))
    ]


def _group(
    graphs: Sequence[StreamGraph], config: ProblemsSection, rng: np.random.Generator
) -> Iterator[EncodedProblem]:
    clusters = [Cluster.parse(text).devices for text in config.devices]
    least, most = config.operators
    for number, graph in enumerate(graphs):
        if not least <= len(graph.names) <= most or rng.random() >= config.share:
            continue
        devices = clusters[rng.integers(len(clusters))]
        network = replace(
            Network(),
            kind=config.networks[rng.integers(len(config.networks))],
            bandwidth_mbps=config.bandwidth_mbps[rng.integers(len(config.bandwidth_mbps))],
        )
        cluster = Cluster(devices, network)
        rates: list[float | None] = [*config.source_rates] or [None]
        for rate in rates:
            with within(graph.name or f"graph {number}"):
                objective = replace(Throughput.of(rate, config.model), engine=ENGINE_SETTINGS)
                problem = Problem(graph, cluster, objective=objective)
                yield encode(problem)


def largest_first(prepared: Sequence[EncodedProblem], numbers: np.ndarray) -> np.ndarray:
    """Return these numbers of problems, those with most operators first."""
    sizes = np.array([prepared[i].size for i in numbers])
    return numbers[np.argsort(-sizes, kind="stable")]


def steps_of(
    prepared: Sequence[EncodedProblem], own: np.ndarray, problems: int, scores: int, seed: list[int]
) -> list[np.ndarray]:
    """Return an epoch's steps, in random order: which problems, each step's largest first.

    The problems of a step have as many devices, so that nothing is padded.

    Parameters
    ----------
    own
        The problems to go through.
    problems, scores
        A step has at most so many problems, and operators x devices unless that is 0.
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(own)
    devices = np.array([len(prepared[i].problem.cluster.devices) for i in order])
    steps: list[list[int]] = []
    room, before = 0, 0
    for k in np.argsort(devices, kind="stable"):
        i, cells = int(order[k]), prepared[order[k]].size * int(devices[k])
        too_many = bool(steps) and (len(steps[-1]) == problems or (scores and cells > room))
        if not steps or too_many or devices[k] != before:
            steps.append([])
            room, before = scores, devices[k]
        steps[-1].append(i)
        room -= cells
    return [largest_first(prepared, np.array(steps[k])) for k in rng.permutation(len(steps))]
