"""Random problems of two small jobs on one cluster, and their best shares by brute force.

The shares of two jobs follow from a few minima, without progressive filling.
"""

from collections.abc import Sequence

import numpy as np

from benchmarks.reference.random_problems import every_placement, random_problem
from benchmarks.reference.rules import obeying
from streamplace import Cluster
from streamplace.jobs.jobs import Job, Jobs
from streamplace.jobs.joint import union_graph
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow
from streamplace.sim.closed_form.bottleneck import resource_loads
from streamplace.util.arrays import Floats, Ints

MAX_OPERATORS, MAX_DEVICES = 4, 3


def two_jobs(seed: int) -> tuple[Jobs, Cluster]:
    """Return two random jobs of at most 4 operators, and a cluster of 2 or 3 devices for both.

    Half of the pairs have one priority and random weights. Some have constraints or memory limits.
    """
    rng = np.random.default_rng(seed)
    parts: list[Problem] = []
    while len(parts) < 2:
        part = random_problem(int(rng.integers(10**9)), max_placements=3**MAX_OPERATORS)
        devices = len(part.cluster.devices)
        wanted = len(parts[0].cluster.devices) if parts else devices
        if len(part.graph.names) <= MAX_OPERATORS and 1 < devices == wanted <= MAX_DEVICES:
            parts.append(part)
    priorities = (0, 0) if rng.random() < 0.5 else (1, 0)
    weights = rng.choice([1.0, 1.0, 2.0, 3.0], size=2).tolist()
    heavier = rng.choice([1.0, 4.0, 10.0])  # so that most pairs compete
    jobs = [
        Job(
            "ab"[j],
            part.graph,
            heavier * part.source_rate,
            priorities[j],
            weights[j],
            constraints=part.constraints,
        )
        for j, part in enumerate(parts)
    ]
    return Jobs(jobs), parts[0].cluster


def best_shares(jobs: Jobs, cluster: Cluster) -> tuple[float, ...] | None:
    """Return the best vector of two jobs over all joint placements; None if none is feasible.

    It has the shares of both jobs in order of priority. With one priority, it has the shares
    divided by weights, the smaller one first.
    """
    union = Problem(union_graph(jobs, [job.offered for job in jobs]), cluster)
    best = None
    for rows in every_placement(union):
        feasible = rows[obeying(union, rows)]
        if len(feasible):
            vectors = ordered(jobs, *shares_of_two(jobs, *_loads(jobs, cluster, feasible)))
            top = max(map(tuple, vectors.tolist()))
            best = top if best is None else max(best, top)
    return best


def keeps_minimums(jobs: Jobs, cluster: Cluster) -> bool:
    """Return whether some joint placement of two jobs keeps their minimum throughputs."""
    union = Problem(union_graph(jobs, [job.offered for job in jobs]), cluster)
    least = [job.min_throughput / job.offered for job in jobs]
    size = len(jobs[0].graph.names)
    for rows in every_placement(union):
        feasible = rows[obeying(union, rows)]
        together, alone = np.zeros((len(feasible), 1)), np.zeros(len(feasible))
        for job, part, share in zip(
            jobs, (feasible[:, :size], feasible[:, size:]), least, strict=True
        ):
            used, own = resource_loads(flow(job.problem(cluster)), part)
            together, alone = together + share * used, np.maximum(alone, share * own)
        if (np.maximum(together.max(axis=1), alone) <= 1.0 + 1e-9).any():
            return True
    return False


def ordered(jobs: Jobs, first: Floats, second: Floats) -> Floats:
    """Return the vectors, (K, 2), of the shares of two jobs, (K,) each; see `best_shares`."""
    if jobs[0].priority != jobs[1].priority:
        higher_first = (first, second) if jobs[0].priority > jobs[1].priority else (second, first)
        vectors = np.stack(higher_first, axis=1)
    else:
        both = [first / jobs[0].weight, second / jobs[1].weight]
        vectors = np.sort(np.stack(both, axis=1), axis=1)
    rounded: Floats = np.round(vectors, 9)
    return rounded


def _loads(jobs: Jobs, cluster: Cluster, rows: Ints) -> tuple[list[Floats], list[Floats]]:
    """Return the loads and caps of two jobs under K joint placements; see `shares_of_two`."""
    size = len(jobs[0].graph.names)
    loads, alone = [], []
    for job, part in zip(jobs, (rows[:, :size], rows[:, size:]), strict=True):
        used, own = resource_loads(flow(job.problem(cluster)), part)
        loads.append(used)
        alone.append(1.0 / np.maximum(own, 1.0))
    return loads, alone


def shares_of_two(
    jobs: Jobs, loads: Sequence[Floats], alone: Sequence[Floats]
) -> tuple[Floats, Floats]:
    """Return the shares of two jobs without minimums under K joint placements, (K,) each.

    Parameters
    ----------
    loads
        (K, R) loads of devices and links by each job at its full source rate.
    alone
        (K,) the largest share of each job that its busiest operator allows.
    """
    first = second = np.zeros(len(loads[0]))
    if jobs[0].priority == jobs[1].priority:
        a, b = jobs[0].weight, jobs[1].weight
        with np.errstate(divide="ignore"):
            level = (1.0 / (a * loads[0] + b * loads[1])).min(axis=1)
        level = np.minimum(level, np.minimum(alone[0] / a, alone[1] / b))
        first, second = level * a, level * b
    turns = (0, 1) if jobs[0].priority >= jobs[1].priority else (1, 0)
    for turn in turns:  # each takes what the other leaves
        if turn == 0:
            first = _rest(loads[0], alone[0], second, loads[1])
        else:
            second = _rest(loads[1], alone[1], first, loads[0])
    return first, second


def _rest(own: Floats, alone: Floats, other: Floats, loads: Floats) -> Floats:
    """Return the largest share, (K,), beside another job with its share and loads."""
    left = np.maximum(1.0 - other[:, None] * loads, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        most = np.where(own > 0.0, left / own, np.inf)
    share: Floats = np.minimum(alone, most.min(axis=1))
    return share
