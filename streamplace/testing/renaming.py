"""Checks that a policy does not depend on names or on the order of operators and devices."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import torch

from streamplace.learning.policy.base import AnyPolicy, Constructive, Refiner
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.trajectories import Trajectories
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.problem import Problem
from streamplace.testing.case import PolicyCase, batch_of, generator, rolled_out
from streamplace.util.arrays import Ints

SAMPLES = 4
TOLERANCE = 1e-3


def check_names(case: PolicyCase) -> None:
    """Check that placements do not depend on the names of operators and devices."""
    policy = case.policy()
    for problem in case.problems():
        _compare(case, "names", policy, problem, _rename(problem))


def check_numbering(case: PolicyCase) -> None:
    """Check that placements do not depend on the order in which a graph lists its operators.

    The graph is a chain, so that the streams determine the decoding order and no tie depends on the
    order in the list. The check is skipped for policies whose sizes name the traversal order
    ``random``, because that order is a permutation of positions in the list.
    """
    if _has_random_order(case):
        return
    policy = case.policy()
    chain = _chain(8)
    problem = case.problem(chain, case.cluster(seed=3))
    order = np.random.default_rng(0).permutation(len(chain.names)).astype(np.int32)
    listed = [chain.operators[int(v)] for v in order]
    other = StreamGraph(listed, list(reversed(chain.streams)))
    same = case.problem(other, problem.cluster)
    _compare(case, "numbering", policy, problem, same, operators=order)


def check_device_order(case: PolicyCase) -> None:
    """Check that placements do not depend on the order of unequal devices.

    The check is skipped for policies with `ordered_devices`.
    """
    if case.ordered_devices:
        return
    policy = case.policy()
    for seed, problem in enumerate(case.problems()):
        unequal = problem.with_cluster(case.cluster(seed=seed + 5))
        order = np.random.default_rng(seed).permutation(case.devices).astype(np.int32)
        cluster = unequal.cluster
        reordered = Cluster([cluster.devices[d] for d in order], cluster.network)
        other = unequal.with_cluster(reordered)
        _compare(case, "device order", policy, unequal, other, devices=order)


def _has_random_order(case: PolicyCase) -> bool:
    """Return whether the size `order`, or one of the sizes `orders`, is ``random``."""
    sizes = dict(case.section.sizes)
    several = sizes.get("orders")
    orders = several if isinstance(several, list) else []
    return "random" in (sizes.get("order"), *orders)


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
    """Require placements of a problem to have the same probabilities in an equivalent problem.

    Parameters
    ----------
    operators, devices
        (V,) and (D,) the operator or device of `problem` at each position in `other`.
    """
    with torch.no_grad():
        made = rolled_out(policy, [problem], SAMPLES, Sampler(generator()))
        if isinstance(policy, Refiner):
            again = _taken_again(policy, other, made, operators, devices)
        else:
            forced = _forced_again(policy, made, operators, devices)
            batch = batch_of(policy, other)
            again = Constructive.of(policy).rollout(batch, SAMPLES, Sampler(), forced)
    worst = float((made.log_probability - again.log_probability).abs().max())
    fault = f"log-probabilities of equivalent problems differ by {worst:.2g}"
    case.require(worst <= TOLERANCE, check, fault)


def _forced_again(
    policy: AnyPolicy, made: Trajectories, operators: Ints | None, devices: Ints | None
) -> Ints:
    """Return what forces the same choices in an equivalent problem; see `_compare`."""
    if Constructive.of(policy).selects:
        return _renamed_actions(made, operators, devices)
    rows = made.placements
    if devices is not None:
        rows = np.argsort(devices).astype(np.int32)[rows]
    return rows if operators is None else rows[:, :, operators]


def _renamed_actions(made: Trajectories, operators: Ints | None, devices: Ints | None) -> Ints:
    """Return actions, (P, S, T, 2), in an equivalent problem; see `_compare`."""
    actions: Ints = made.actions.numpy().copy()
    for part, position in enumerate((operators, devices)):
        if position is not None:
            actions[..., part] = np.argsort(position)[actions[..., part]]
    return actions


def _taken_again(
    policy: AnyPolicy,
    other: Problem,
    made: Trajectories,
    operators: Ints | None,
    devices: Ints | None,
) -> Trajectories:
    """Take the same actions in an equivalent problem; see `_compare`."""
    actions = _renamed_actions(made, operators, devices)
    first = 0 if devices is None else int(np.argsort(devices)[0])
    return rolled_out(policy, [other], SAMPLES, Sampler(), forced=actions, start_device=first)


def _rename(problem: Problem) -> Problem:
    """Return the problem with new names, whose alphabetical order reverses the positions."""
    graph, cluster = problem.graph, problem.cluster
    count = len(graph.names)
    name = {old: f"o{count - i:04}" for i, old in enumerate(graph.names)}
    shares = dict(zip(graph.names, graph.source_share.tolist(), strict=True))
    other = StreamGraph(
        [replace(operator, name=name[operator.name]) for operator in graph.operators],
        [replace(s, source=name[s.source], target=name[s.target]) for s in graph.streams],
        source_shares={name[old]: share for old, share in shares.items() if share},
        firing=graph.firing,
        multicast=graph.multicast,
    )
    devices = [
        replace(device, name=f"machine-{len(cluster.devices) - i}")
        for i, device in enumerate(cluster.devices)
    ]
    return Problem(other, Cluster(devices, cluster.network), objective=problem.objective)


def _chain(operators: int) -> StreamGraph:
    """Return a chain of operators with different costs."""
    rng = np.random.default_rng(4)
    parts = [
        Operator(f"c{v}", float(rng.uniform(1e5, 5e5)), float(rng.uniform(100.0, 2000.0)))
        for v in range(operators)
    ]
    return StreamGraph(parts, [Stream(a.name, b.name) for a, b in pairwise(parts)])
