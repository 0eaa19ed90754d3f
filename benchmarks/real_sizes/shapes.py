"""Families of graphs that the product does not generate: their streams, from uniform numbers.

`furnish` draws selectivities, costs and payloads, as for the product's own random families.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from streamplace import Operator, Problem, Stream, StreamGraph, read_dataset
from streamplace.families.layered import furnish, layered, series_parallel
from streamplace.scoring.flow import flow

Ends = set[tuple[int, int]]
Shape = Callable[[int, np.random.Generator], Ends]
ONE_INPUT, TWO_INPUTS = 0.5, 0.85  # cumulative probabilities; other operators have three inputs
COMMUNITY = 30  # operators, in the mean
OUTSIDE = 0.05  # share of the inputs of an operator that come from any community
LEAST, MOST = 0.2, 0.6  # number of a tree's operator that receives, over the sender's: 2 to 5 send
MOST_BRANCHES, MOST_LENGTH = 12, 5  # of a fork, and operators on one of its branches
JOB = 300  # instances of one real job, at most; larger problems run several jobs
EVEN = 0.5  # share of a job's instances that are spread evenly; the rest are by CPU work
KEYED = 0.4  # share of the streams between several instances that are partitioned by key


def graph_of(family: str, count: int, rng: np.random.Generator) -> StreamGraph:
    """Return a graph of about `count` operators or, for ``real``, instances."""
    if family in GENERATED:
        return GENERATED[family](count, rng, family)
    if family == "real":
        return real(count, rng)
    ends = np.array(sorted(SHAPES[family](count, rng)), np.int64)
    count = int(ends.max()) + 1
    sources = count - len(np.unique(ends[:, 1]))
    shares = rng.random(sources) + 0.25
    return furnish(count, ends, (shares / math.fsum(shares.tolist())).tolist(), rng, family)


def random(count: int, rng: np.random.Generator) -> Ends:
    """Return streams from one to three operators drawn among all earlier ones."""
    return {
        (int(u * v), v) for v in range(1, count) for u in rng.random(_inputs(rng.random())).tolist()
    }


def communities(count: int, rng: np.random.Generator) -> Ends:
    """Return streams that stay within groups of operators, except for a few."""
    groups = max(2, count // COMMUNITY)
    of = (rng.random(count) * groups).astype(int).tolist()
    members: list[list[int]] = [[] for _ in range(groups)]
    ends: Ends = set()
    for v in range(count):
        own = members[of[v]]
        for u, outside in rng.random((_inputs(rng.random()), 2)).tolist():
            if v and (outside < OUTSIDE or not own):
                ends.add((int(u * v), v))
            elif own:
                ends.add((own[int(u * len(own))], v))
        own.append(v)
    return ends


def grid(count: int, rng: np.random.Generator) -> Ends:
    """Return the streams of a grid on a cylinder, with a random ratio of sides.

    An operator feeds two neighbours in the next column, so that no rate vanishes along the grid.
    """
    rows = max(2, int(math.sqrt(count) * (0.3 + 0.7 * rng.random())))
    columns = max(2, count // rows)
    return {
        (c * rows + r, (c + 1) * rows + (r + step) % rows)
        for c in range(columns - 1)
        for r in range(rows)
        for step in (0, 1)
    }


def tree(count: int, rng: np.random.Generator) -> Ends:
    """Return the streams of a tree that aggregates many sources into one sink."""
    to = LEAST + (MOST - LEAST) * rng.random(count - 1)
    after = (to * np.arange(count - 1)).astype(int).tolist()  # numbered from the sink
    return {(count - 2 - v, count - 1 - parent) for v, parent in enumerate(after)}


def fork_join(count: int, rng: np.random.Generator) -> Ends:
    """Return the streams of forks into parallel chains that join before the next fork."""
    ends: Ends = set()
    last = 0
    while last < count - 3:
        most = min(MOST_BRANCHES, count - last - 2)
        branches = min(most, 2 + int(rng.random() * (MOST_BRANCHES - 1)))
        length = min(1 + int(rng.random() * MOST_LENGTH), (count - last - 2) // branches)
        join = last + branches * length + 1
        for first in range(last + 1, join, length):
            ends |= {(v, v + 1) for v in range(first, first + length - 1)}
            ends |= {(last, first), (first + length - 1, join)}
        last = join
    return ends | {(v, v + 1) for v in range(last, count - 1)}


def real(count: int, rng: np.random.Generator) -> StreamGraph:
    """Return real topologies side by side, with about `count` parallel instances in total."""
    topologies = read_dataset("dataset:real")
    jobs = max(1, round(count / JOB))
    operators, streams, rates = list[Operator](), list[Stream](), dict[str, float]()
    for job in range(jobs):
        graph = topologies[int(rng.random() * len(topologies))]
        counts = _instances(graph, count // jobs)
        names = {name: f"{job} {name}" for name in graph.names}
        operators += [
            replace(each, name=names[each.name], parallelism=counts[each.name])
            for each in graph.operators
        ]
        for each in graph.streams:
            keyed = "hash" if rng.random() < KEYED else "rescale"
            source, target = names[each.source], names[each.target]
            streams.append(replace(each, source=source, target=target, partitioning=keyed))
        share = 0.5 + rng.random()
        for v in graph.sources:
            name = graph.names[v]
            rates[names[name]] = share * float(graph.source_share[v])
    total = math.fsum(rates.values())
    shares = {name: rate / total for name, rate in rates.items()}
    return StreamGraph(operators, streams, name="real", source_rate=1.0, source_shares=shares)


def _instances(graph: StreamGraph, count: int) -> dict[str, int]:
    """Divide instances among operators, half evenly and half by their CPU work."""
    work = flow(Problem(graph, source_rate=1.0)).work
    share = EVEN / len(work) + (1 - EVEN) * work / work.sum()
    numbers = np.maximum(1, np.rint(share * count)).astype(int).tolist()
    return dict(zip(graph.names, numbers, strict=True))


def _inputs(drawn: float) -> int:
    return 1 + (drawn > ONE_INPUT) + (drawn > TWO_INPUTS)


GENERATED = {"layered": layered, "series-parallel": series_parallel}
SHAPES: dict[str, Shape] = {
    "random": random,
    "communities": communities,
    "grid": grid,
    "tree": tree,
    "fork-join": fork_join,
}
FAMILIES = (*GENERATED, *SHAPES, "real")
