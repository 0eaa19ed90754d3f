"""The constraints of a problem as arrays, for kernels that place one unit after the other."""

import numpy as np

from streamplace.problem.cluster import Cluster
from streamplace.problem.feasibility import Feasibility
from streamplace.sim.rules import Rules
from streamplace.sim.search.instance import rivals_of


def rules_of(feasibility: Feasibility, cluster: Cluster) -> Rules:
    """Return constraints as a tuple for kernels."""
    allowed, row_of = feasibility.unit_masks
    first_rival, rival, far = rivals_of(
        feasibility.unit_count, feasibility.excluding, feasibility.separating
    )
    return Rules(
        unit_of=feasibility.unit_of,
        row_of=row_of,
        allowed=np.array(allowed, order="C"),  # of one type: views of one device are read-only
        needs=np.ascontiguousarray(feasibility.needs, np.float64),
        room=np.ascontiguousarray(feasibility.room, np.float64),
        first_rival=first_rival,
        rival=rival,
        far=far,
        group_of=np.array(cluster.group_of),
    )
