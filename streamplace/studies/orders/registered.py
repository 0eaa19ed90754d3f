"""The registered plan of the study, fixed before it was run, and its problems."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from streamplace.generate import Recipe
from streamplace.problem.cluster import Cluster, Device, Network
from streamplace.problem.makespan import Makespan
from streamplace.problem.problem import Problem
from streamplace.problem.published import with_published_semantics
from streamplace.studies.orders.published import CHECKPOINTS, FAMILIES, ORDERS

ALL_ORDERS = (*ORDERS, "topo-level", "random")
"""The published orders, the topological one as the same library yields it today, and a control."""
MIPS = 1e6  # of each device: a teraflop per second, about what one GPU of a K80 sustains
BANDWIDTH_MBPS = 60_800.0  # 7600 bytes per microsecond, as in the paper's simulator


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
    checkpoints
        Sweeps after which the best placement counts, ascending; the last one ends the run.
    """

    families: tuple[str, ...] = tuple(FAMILIES)
    graphs: int = 16
    devices: tuple[int, ...] = (3, 8)
    repeats: int = 5
    checkpoints: tuple[int, ...] = CHECKPOINTS

    def settings(self) -> Mapping[str, Any]:
        """Return the plan as JSON values."""
        return {
            "families": list(self.families),
            "graphs": self.graphs,
            "devices": list(self.devices),
            "repeats": self.repeats,
            "checkpoints": list(self.checkpoints),
            "orders": list(ALL_ORDERS),
            "mips": MIPS,
            "bandwidth_mbps": BANDWIDTH_MBPS,
        }


FULL = Registered()
QUICK = Registered(graphs=1, devices=(3,), repeats=1, checkpoints=(2, 5, 10))


def problem_of(family: str, graph: int, devices: int, seed: int) -> Problem:
    """Return the makespan problem of a graph on equal devices, in the semantics of Placeto."""
    recipe = Recipe(family, graph + 1, seed=seed)
    network = Network("egress", bandwidth_mbps=BANDWIDTH_MBPS)
    cluster = Cluster([Device(f"gpu{d}", MIPS) for d in range(devices)], network)
    drawn, equal = with_published_semantics(recipe.graph(graph), cluster, "placeto")
    return Problem(drawn, equal, objective=Makespan())
