"""Large graphs whose devices and links are loaded alike at any size.

The total CPU work is 0.8 of the cluster's capacity, and the bandwidth is set so that the busiest
link has a utilisation of 1.2 under METIS k-way.
"""

from dataclasses import dataclass

from benchmarks.partitioners import placed
from streamplace import Cluster, Network, Problem, Recipe, StreamGraph
from streamplace.problem.cluster import NetworkKind
from streamplace.scoring.flow import flow
from streamplace.sim.closed_form.bottleneck import utilisations, worst_utilisation
from streamplace.util.arrays import Ints

PRESETS = "layered", "series-parallel"
CPU, LINK = 0.8, 1.2  # utilisation of all devices together, and of the busiest link under METIS


@dataclass(frozen=True)
class Setting:
    """A generated graph, its cluster and its source rate (tuples/s)."""

    preset: str
    count: int
    seed: int
    devices: str = "16x2500"
    network: NetworkKind = "pair"
    source_rate: float = 1.0
    bandwidth_mbps: float = 1000.0

    def graph(self) -> StreamGraph:
        """Generate the graph."""
        return Recipe(self.preset, 1, range(self.count, self.count + 1), self.seed).graph(0)

    def problem(self, graph: StreamGraph) -> Problem:
        """Return the problem, with the loads that placers start from already computed."""
        network = Network(self.network, self.bandwidth_mbps)
        cluster = Cluster(Cluster.parse(self.devices).devices, network)
        problem = Problem(graph, cluster, source_rate=self.source_rate)
        flow(problem)
        return problem


def prepared(setting: Setting) -> tuple[Setting, Problem]:
    """Set the source rate and the bandwidth; return the new setting and its problem."""
    graph = setting.graph()
    arrays = flow(setting.problem(graph))
    rate = CPU / (arrays.work.sum() / arrays.capacity.sum())
    loaded = Setting(**{**vars(setting), "source_rate": rate})
    problem = loaded.problem(graph)
    _, link = utilisations(flow(problem), placed("metis", problem))
    mbps = 1000.0 * float(link.max()) / LINK
    final = Setting(**{**vars(loaded), "bandwidth_mbps": mbps})
    return final, final.problem(graph)


def relative(problem: Problem, devices: Ints) -> float:
    """Return the uncapped relative throughput: 1 / the largest utilisation."""
    return 1.0 / float(worst_utilisation(flow(problem), devices)[0])
