"""Checks that names, and the order in which files list things, mean nothing to a policy."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import torch

from streamplace.policy.base import AnyPolicy
from streamplace.policy.decoding import Sampler
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.problem import Problem
from streamplace.testing.case import SOURCE_RATE, PolicyCase, batch_of, generator
from streamplace.util.arrays import Ints

SAMPLES = 4
TOLERANCE = 1e-3


def check_names(case: PolicyCase) -> None:
    """Check that operators and devices with other names are placed alike."""
    policy = case.policy()
    for problem in case.problems():
        _compare(case, "names", policy, problem, _renamed(problem))


def check_numbering(case: PolicyCase) -> None:
    """Check that a file may list operators in any order, where their order is forced by streams.

    On a chain every order by depth is the same, so no tie is left to the order of the file.
    """
    policy = case.policy()
    chain = _chain(8)
    problem = Problem(chain, case.cluster(seed=3), source_rate=SOURCE_RATE)
    order = np.random.default_rng(0).permutation(len(chain.names)).astype(np.int32)
    listed = [chain.operators[int(v)] for v in order]
    other = StreamGraph(listed, list(reversed(chain.streams)))
    same = Problem(other, problem.cluster, source_rate=SOURCE_RATE)
    _compare(case, "numbering", policy, problem, same, operators=order)


def check_device_order(case: PolicyCase) -> None:
    """Check that a cluster may list unequal devices in any order; see `ordered_devices`."""
    if case.ordered_devices:
        return
    policy = case.policy()
    for seed, problem in enumerate(case.problems()):
        unequal = problem.with_cluster(case.cluster(seed=seed + 5))
        order = np.random.default_rng(seed).permutation(case.devices).astype(np.int32)
        cluster = unequal.cluster
        turned = Cluster([cluster.devices[d] for d in order], cluster.network)
        other = unequal.with_cluster(turned)
        _compare(case, "device order", policy, unequal, other, devices=order)


def _compare(
    case: PolicyCase,
    check: str,
    policy: AnyPolicy,
    problem: Problem,
    other: Problem,
    *,
    operators: Ints | None = None,
    devices: Ints | None = None,
) -> None:
    """Require placements of one problem to be as likely for an equal one.

    Parameters
    ----------
    operators, devices
        (V,) and (D,): the operator or device of the one problem at each position of the other.
    """
    with torch.no_grad():
        made = policy.rollout(batch_of(policy, problem), SAMPLES, Sampler(generator()))
        rows = made.placements
        if devices is not None:
            rows = np.argsort(devices).astype(np.int32)[rows]
        if operators is not None:
            rows = rows[:, :, operators]
        again = policy.rollout(batch_of(policy, other), SAMPLES, Sampler(), rows)
    worst = float((made.log_probability - again.log_probability).abs().max())
    fault = f"equal placements of equal problems differ by {worst:.2g} in log-probability"
    case.require(worst <= TOLERANCE, check, fault)


def _renamed(problem: Problem) -> Problem:
    """Return the problem with names whose alphabetical order is the reverse of the positions."""
    graph, cluster = problem.graph, problem.cluster
    count = len(graph.names)
    name = {old: f"o{count - i:04}" for i, old in enumerate(graph.names)}
    shares = dict(zip(graph.names, graph.source_share.tolist(), strict=True))
    other = StreamGraph(
        [replace(operator, name=name[operator.name]) for operator in graph.operators],
        [replace(s, source=name[s.source], target=name[s.target]) for s in graph.streams],
        source_shares={name[old]: share for old, share in shares.items() if share},
    )
    devices = [
        replace(device, name=f"machine-{len(cluster.devices) - i}")
        for i, device in enumerate(cluster.devices)
    ]
    return Problem(other, Cluster(devices, cluster.network), objective=problem.objective)


def _chain(operators: int) -> StreamGraph:
    """Return operators of different costs, each fed by the one before."""
    rng = np.random.default_rng(4)
    parts = [
        Operator(f"c{v}", float(rng.uniform(1e5, 5e5)), float(rng.uniform(100.0, 2000.0)))
        for v in range(operators)
    ]
    return StreamGraph(parts, [Stream(a.name, b.name) for a, b in pairwise(parts)])
