"""What a pass needs and the testbed does not have."""

import numpy as np

from benchmarks.testbed.facilities import TestbedError
from benchmarks.testbed.passes.executors import KINDS
from streamplace import Cluster, Makespan, Problem


def suitable(problem: Problem) -> Makespan:
    """Return the objective of a problem whose passes the testbed can run.

    Raises
    ------
    TestbedError
        If it cannot run them.
    """
    objective = problem.objective
    if not isinstance(objective, Makespan):
        raise TestbedError("the testbed measures passes only under the objective makespan")
    if reason := _obstacle(problem, objective):
        raise TestbedError(f"the testbed cannot run this pass: {reason}")
    return objective


def _obstacle(problem: Problem, objective: Makespan) -> str:
    """Return what prevents the testbed from running a pass; empty: nothing does."""
    cluster, kind = problem.cluster, problem.cluster.network.kind
    obstacles = {
        f"its network is {kind}, not {' or '.join(KINDS)}": kind not in KINDS,
        f"its order is {objective.order}, not fifo": objective.order != "fifo",
        "it has a barrier": objective.barrier,
        "the outputs of sources are everywhere": objective.inputs_everywhere,
        "it has noise": objective.noise > 0,
        "a message may go to several devices": problem.graph.multicast == "all",
        "a device has several cores": any(device.cores > 1 for device in cluster.devices),
        "a device rests after operators": any(device.startup_s for device in cluster.devices),
        "messages take CPU time": _takes_cpu_time(cluster),
        "links have gaps": bool(cluster.link_column("gap_s").any()),
        "a sender has links of different bandwidths": kind == "egress" and _differ(cluster),
    }
    return next((obstacle for obstacle, holds in obstacles.items() if holds), "")


def _takes_cpu_time(cluster: Cluster) -> bool:
    return bool(cluster.link_column("overhead_s").any() or np.any(cluster.overhead_s_per_byte))


def _differ(cluster: Cluster) -> bool:
    """Return whether a device has links of different bandwidths to the others."""
    count = len(cluster.devices)
    rate = cluster.link_column("bandwidth_mbps").reshape(count, count)
    rows = rate[~np.eye(count, dtype=bool)].reshape(count, count - 1)
    return bool((rows != rows[:, :1]).any())
