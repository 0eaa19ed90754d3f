"""GiPH's task graphs: levels of random width, random edges, one entry and one exit."""

import math
import random
from itertools import pairwise

import numpy as np

from streamplace.generate.giph.cases import (
    MEAN_BYTES,
    MEAN_COMPUTE,
    TYPES,
    GraphCase,
    Ranges,
)
from streamplace.problem.graph import StreamGraph

INSTRUCTIONS_PER_UNIT = 1e6  # of work, so that a device of speed s has s MIPS
BYTES_PER_UNIT = 125_000.0  # of data, so that a bandwidth of b has b Mbit/s

Successors = dict[int, list[int]]
"""Task -> its successors, in the order in which the edges were added."""


def draw_graph(case: GraphCase, ranges: Ranges, name: str) -> StreamGraph:
    """Return the task graph of a case, with the draws of the released code (``generate_graph``).

    One unit of time in GiPH is one second. Entry and exit keep the cost that is drawn for them.
    """
    successors = _structure(case)
    stream = np.random.RandomState(case.seed)
    work = ranges.around(MEAN_COMPUTE, ranges.spread_of_tasks)
    compute, types = [], []
    for _ in successors:
        compute.append(stream.uniform(*work))
        types.append(int(stream.choice(TYPES)))
    ends = [(task, target) for task, targets in successors.items() for target in targets]
    data = stream.uniform(*ranges.around(MEAN_BYTES, ranges.spread_of_tasks), len(ends))
    payload = data * BYTES_PER_UNIT
    largest = np.zeros(len(successors))
    np.maximum.at(largest, np.array(ends)[:, 0], payload)
    return StreamGraph.from_columns(
        [f"t{task}" for task in successors],
        np.array(compute) * INSTRUCTIONS_PER_UNIT,
        largest,
        ends,
        stream_payload_bytes=payload,
        requires={task: (f"type{t}",) for task, t in enumerate(types)},
        type={task: f"type{t}" for task, t in enumerate(types)},
        name=name,
        firing="all",
    )


def _structure(case: GraphCase) -> Successors:
    """Draw the tasks and edges (``graph_dag_structure`` of the released code).

    The code draws numbers from numpy and choices from Python's own generator, both with one seed.
    """
    stream = np.random.RandomState(case.seed)
    choices = random.Random(case.seed)
    root = math.sqrt(case.v)
    depth = math.ceil(stream.uniform(root / case.alpha * 0.8, root / case.alpha * 1.2))
    widths = [math.ceil(stream.uniform(0, 2 * case.alpha * root)) for _ in range(depth)]
    levels = [[0]]
    successors: Successors = {0: []}
    for width in widths:
        earlier = range(len(successors))
        level = list(range(len(successors), len(successors) + width))
        for task in level:
            successors[task] = []
            for source in earlier:
                if stream.rand() < case.connect:
                    successors[source].append(task)
        levels.append(level)
    levels.append([len(successors)])
    successors[len(successors)] = []
    chain = [choices.choice(level) for level in levels]
    for source, target in pairwise(chain):
        _add(successors, source, target)
    _connect_loose_ends(successors, levels, choices)
    return successors


def _connect_loose_ends(
    successors: Successors, levels: list[list[int]], choices: random.Random
) -> None:
    """Give each task between entry and exit an input and an output, where it has none."""
    fed = {target for targets in successors.values() for target in targets}
    for i, level in enumerate(levels[1:-1], start=1):
        for task in level:
            if not successors[task]:
                target = choices.choice([later for each in levels[i + 1 :] for later in each])
                _add(successors, task, target)
                fed.add(target)
            if task not in fed:
                _add(successors, choices.choice([e for each in levels[:i] for e in each]), task)
                fed.add(task)


def _add(successors: Successors, source: int, target: int) -> None:
    if target not in successors[source]:
        successors[source].append(target)
