"""The registered plan and problems of the study, fixed before it was run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from streamplace.families import Recipe
from streamplace.problem.cluster import Cluster, Device, Network
from streamplace.problem.graph import StreamGraph
from streamplace.problem.makespan import Makespan, with_published_semantics
from streamplace.problem.problem import Problem

ORDERS = (
    "lexico",
    "topo-lifo",
    "dfs-preorder",
    "reversed-topo-lifo",
    "dfs-postorder",
    "bfs",
)
"""The six published orders. The topological one is that of the library's version at the time."""
CHECKPOINTS = (10, 20, 50)
"""Sweeps after which the best placement counts; the paper numbers episodes from 0: 9, 19, 49."""
GRAPHS = 32  # of each family
FAMILIES = {"enas-cifar": "cifar10", "nmt": "nmt", "enas-ptb": "ptb"}
"""Our families by the paper's names."""

Wins = tuple[int, int, int, int, int, int]
WINS: dict[tuple[str, int], tuple[Wins, Wins, Wins]] = {
    ("enas-cifar", 3): ((1, 6, 10, 10, 4, 1), (3, 3, 7, 8, 11, 0), (5, 4, 5, 8, 8, 2)),
    ("enas-cifar", 5): ((0, 9, 6, 6, 9, 2), (0, 9, 3, 10, 8, 2), (2, 6, 6, 9, 6, 3)),
    ("enas-cifar", 8): ((0, 8, 3, 10, 11, 0), (1, 4, 2, 8, 17, 0), (0, 5, 1, 11, 15, 0)),
    ("nmt", 3): ((0, 2, 0, 22, 1, 7), (0, 0, 1, 23, 1, 7), (0, 0, 1, 24, 1, 6)),
    ("nmt", 5): ((0, 0, 1, 24, 1, 6), (0, 0, 2, 26, 0, 4), (0, 0, 0, 27, 0, 5)),
    ("nmt", 8): ((0, 0, 0, 23, 3, 6), (0, 0, 0, 24, 1, 7), (0, 0, 0, 24, 3, 5)),
    ("enas-ptb", 3): ((0, 1, 6, 1, 0, 24), (0, 1, 10, 1, 2, 18), (0, 1, 8, 5, 2, 16)),
    ("enas-ptb", 5): ((0, 0, 3, 0, 2, 27), (0, 1, 3, 2, 2, 24), (0, 1, 2, 6, 5, 18)),
    ("enas-ptb", 8): ((0, 0, 2, 1, 1, 28), (0, 0, 2, 5, 4, 21), (0, 0, 2, 13, 5, 12)),
}
"""Wins by family and number of devices: a row per checkpoint, a count per order."""

ALL_ORDERS = (*ORDERS, "topo-level", "random")
"""The published orders, the topological one as the same library yields it today, and a control."""
SIGN = "Placeto, published sign of rewards"
LISTED = "Placeto, operators listed at random"
LISTED_CONTROL = "random policy, operators listed at random"
VARIANTS: Mapping[str, tuple[str, int]] = {SIGN: ("enas-ptb", 1), LISTED: ("nmt", 2)}
"""Systems that were added to the plan later -> their family, and the checkpoint that ends a run.

The study's code gives rewards the opposite sign. Generated graphs list operators after their
inputs, so that two of the published orders are the same; in a random order they are not.
"""
MIPS = 1e6  # of each device: a teraflop per second, about what one GPU of a K80 sustains
BANDWIDTH_MBPS = 60_800.0  # 7600 bytes per microsecond, as in the paper's simulator
CONTROL = "random"


@dataclass(frozen=True)
class Registered:
    """The size of the study.

    Parameters
    ----------
    families
        Graph families.
    graphs
        Graphs of each family.
    devices
        Numbers of devices.
    repeats
        Runs of each graph, order and number of devices, with different seeds.
    of_variants
        Runs of the systems that were added later.
    checkpoints
        Sweeps after which the best placement counts, ascending; the last one ends the run.
    further
        Numbers of devices that joined the plan when the others had been run; settings of kept
        results do not have them.
    """

    families: tuple[str, ...] = tuple(FAMILIES)
    graphs: int = 16
    devices: tuple[int, ...] = (3, 8)
    repeats: int = 5
    checkpoints: tuple[int, ...] = CHECKPOINTS
    further: tuple[int, ...] = ()
    of_variants: int = 3

    def settings(self) -> Mapping[str, Any]:
        """Return the plan as JSON values."""
        return {
            "families": list(self.families),
            "graphs": self.graphs,
            "devices": list(self.devices),
            "repeats": self.repeats,
            "of_variants": self.of_variants,
            "checkpoints": list(self.checkpoints),
            "orders": list(ALL_ORDERS),
            "mips": MIPS,
            "bandwidth_mbps": BANDWIDTH_MBPS,
        }


FULL = Registered(further=(5,))
QUICK = Registered(graphs=1, devices=(3,), repeats=1, checkpoints=(2, 5, 10), of_variants=1)


def listed_at_random(graph: StreamGraph, seed: Sequence[int]) -> StreamGraph:
    """Return the same graph with its operators in a random order."""
    order = np.random.default_rng(list(seed)).permutation(len(graph.names))
    operators = [graph.operators[v] for v in order]
    return StreamGraph(
        operators,
        graph.streams,
        name=graph.name,
        firing=graph.firing,
        multicast=graph.multicast,
    )


def problem_of(
    family: str,
    graph: int,
    devices: int,
    seed: int,
    change: Callable[[StreamGraph], StreamGraph] = lambda graph: graph,
) -> Problem:
    """Return the makespan problem of a graph on equal devices, in the semantics of Placeto."""
    made = change(Recipe(family, graph + 1, seed=seed).graph(graph))
    network = Network("egress", bandwidth_mbps=BANDWIDTH_MBPS)
    cluster = Cluster([Device(f"gpu{d}", MIPS) for d in range(devices)], network)
    drawn, equal = with_published_semantics(made, cluster, "placeto")
    return Problem(drawn, equal, objective=Makespan())
