"""The schedulers of SAGA (anrg-saga 2.1), for `benchmarks.schedulers`, which runs this script.

It runs in an environment that has SAGA, and not streamplace; see `serving`.
"""

import logging
from typing import Any

import numpy as np
from saga import Network, Schedule, ScheduledTask, TaskGraph, schedulers
from saga.schedulers import cpop
from saga.schedulers.data import random as drawn
from saga.schedulers.data import riotbench
from serving import serve

NOT_RUN = ("BruteForceScheduler", "SMTScheduler", "HybridScheduler")
"""Those whose time is exponential, and one that only combines others."""
SOURCE, SINK = "__super_source__", "__super_sink__"


def main() -> None:
    """Answer requests."""
    logging.disable(logging.WARNING)  # SAGA warns of every graph with several sources
    parts = {"names": _names, "schedule": _schedule, "replay": _replay, "graphs": _graphs}
    serve(parts, np.random.seed)


def _names(_: dict[str, Any]) -> list[str]:
    return [name for name in schedulers.__all__ if name not in NOT_RUN]


def _schedule(request: dict[str, Any]) -> dict[str, Any]:
    """Return the schedule that a scheduler makes, CPOP with the published ranks if asked for."""
    if request.get("has_published_ranks"):
        cpop.downward_rank = _published_downward_rank
    made = getattr(schedulers, request["name"])().schedule(*_problem(request["instance"]))
    tasks = [task for on in made.mapping.values() for task in on if task.name.startswith("t")]
    tasks.sort(key=lambda task: int(task.name[1:]))
    return {
        "makespan": float(made.makespan),
        "devices": [int(task.node[1:]) for task in tasks],
        "start": [float(task.start) for task in tasks],
    }


def _published_downward_rank(network: Network, tasks: TaskGraph) -> dict[str, float]:
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


def _replay(request: dict[str, Any]) -> float:
    """Return the makespan of a placement whose devices start their tasks in a given order."""
    network, graph = _problem(request["instance"])
    made = Schedule(graph, network)
    names = {task.name for task in graph.tasks}  # SAGA adds a source and a sink of no cost
    placed = {f"t{v}": f"d{request['devices'][v]}" for v in request["listed"]}
    for name in (*({SOURCE} & names), *placed, *({SINK} & names)):
        node = placed.get(name, "d0")
        start = made.get_earliest_start_time(name, node, append_only=True)
        end = start + graph.get_task(name).cost / network.get_node(node).speed
        made.add_task(ScheduledTask(node=node, name=name, start=start, end=end))
    return float(made.makespan)


def _graphs(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Return instances with SAGA's graphs and networks, a round of all kinds at a time."""
    made: list[dict[str, Any]] = []
    for _ in range(request["rounds"]):
        kinds = {
            "out-tree": drawn.gen_out_trees(1, 3, 2),
            "in-tree": drawn.gen_in_trees(1, 3, 2),
            "chains": drawn.gen_parallel_chains(1, 4, 6),
            "etl": riotbench.get_etl_task_graphs(1),
            "stats": riotbench.get_stats_task_graphs(1),
            "train": riotbench.get_train_task_graphs(1),
            "predict": riotbench.get_predict_task_graphs(1),
        }
        for kind, (graph,) in kinds.items():
            is_drawn = kind in {"out-tree", "in-tree", "chains"}
            network = (
                drawn.gen_random_networks(1, 4) if is_drawn else riotbench.get_fog_networks(1)
            )[0]
            made.append(_plain(f"saga {kind}", graph, network))
    return made


def _plain(name: str, graph: TaskGraph, network: Network) -> dict[str, Any]:
    tasks, nodes = sorted(task.name for task in graph.tasks), sorted(n.name for n in network.nodes)
    return {
        "name": name,
        "costs": [graph.get_task(task).cost for task in tasks],
        "edges": sorted(
            [tasks.index(e.source), tasks.index(e.target), e.size] for e in graph.dependencies
        ),
        "speeds": [network.get_node(node).speed for node in nodes],
        "links": sorted(
            [nodes.index(e.source), nodes.index(e.target), e.speed] for e in network.edges
        ),
    }


def _problem(instance: dict[str, Any]) -> tuple[Network, TaskGraph]:
    network = Network.create(
        [(f"d{d}", speed) for d, speed in enumerate(instance["speeds"])],
        [(f"d{a}", f"d{b}", speed) for a, b, speed in instance["links"]],
    )
    graph = TaskGraph.create(
        [(f"t{v}", cost) for v, cost in enumerate(instance["costs"])],
        [(f"t{v}", f"t{w}", size) for v, w, size in instance["edges"]],
    )
    return network, graph


if __name__ == "__main__":
    main()
