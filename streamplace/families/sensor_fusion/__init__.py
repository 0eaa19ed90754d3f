"""GiPH's case study of cooperative sensor fusion (Hu et al., MLSys 2023), re-synthesised.

Vehicles drive on a grid map; cameras at intersections, and cameras and LIDARs of connected
vehicles, send data to tasks on road-side units, edge devices and vehicles nearby. The
paper's traffic traces are not used; `Scenario` has the parameters, and marks those that the paper
leaves open.
"""

from dataclasses import dataclass

from streamplace.errors import UsageError
from streamplace.families.family import Draw
from streamplace.families.sensor_fusion.scenario import Scenario
from streamplace.families.sensor_fusion.snapshot import Snapshot, snapshot_of, task_graph
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph


@dataclass(frozen=True)
class SensorFusion(Scenario):
    """Task graphs and clusters of successive snapshots of one map; see `Scenario`.

    The seed of a dataset determines its map and its traffic; the number of a graph is that of the
    snapshot. Operators and devices keep their names from snapshot to snapshot.
    """

    def check(self, count: int, sizes: range | None) -> None:
        """Refuse numbers of operators."""
        if sizes is not None:
            raise UsageError("the traffic determines the number of operators; use block=N")

    def graph(self, draw: Draw) -> StreamGraph:
        """Return the task graph of one snapshot."""
        return task_graph(self._snapshot(draw), draw.name)

    def cluster(self, draw: Draw) -> Cluster:
        """Return the devices of one snapshot."""
        return self._snapshot(draw).cluster()

    def _snapshot(self, draw: Draw) -> Snapshot:
        return snapshot_of(self, draw.seed, draw.number)
