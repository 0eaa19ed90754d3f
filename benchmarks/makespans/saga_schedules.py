"""Schedule lengths by the library SAGA, for `benchmarks.makespans.saga`, which runs this file.

Reads problems as JSON on stdin, and writes a list of ``{"heft", "cpop"}`` on stdout. It runs in an
environment that has anrg-saga, and not streamplace.
"""

import json
import sys
from typing import Any

from saga import Network, TaskGraph
from saga.schedulers import cpop
from saga.schedulers.cpop import CpopScheduler
from saga.schedulers.heft import HeftScheduler


def published_downward_rank(network: Network, tasks: TaskGraph) -> dict[str, float]:
    """Return the downward rank of Topcuoglu et al. (2002), from means of times."""
    ranks: dict[str, float] = {}
    for task in tasks.topological_sort():
        before = [0.0]
        for edge in tasks.in_edges(task.name):
            cost = tasks.get_task(edge.source).cost
            seconds = [cost / node.speed for node in network.nodes]
            messages = [edge.size / link.speed for link in network.edges]
            mean = sum(seconds) / len(seconds) + sum(messages) / len(messages)
            before.append(ranks[edge.source] + mean)
        ranks[task.name] = max(before)
    return ranks


def lengths(problem: dict[str, Any]) -> dict[str, float]:
    """Return the schedule lengths of a problem."""
    network = Network.create(
        [(f"d{d}", speed) for d, speed in enumerate(problem["speeds"])],
        [(f"d{a}", f"d{b}", speed) for a, b, speed in problem["links"]],
    )
    tasks = TaskGraph.create(
        [(f"t{v}", cost) for v, cost in enumerate(problem["costs"])],
        [(f"t{v}", f"t{w}", size) for v, w, size in problem["edges"]],
    )
    cpop.downward_rank = published_downward_rank
    return {
        "heft": float(HeftScheduler().schedule(network, tasks).makespan),
        "cpop": float(CpopScheduler().schedule(network, tasks).makespan),
    }


if __name__ == "__main__":
    json.dump([lengths(problem) for problem in json.load(sys.stdin)], sys.stdout)
