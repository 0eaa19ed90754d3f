"""Invariance of placers to other names and another order of streams."""

import numpy as np

from benchmarks.reference.changes import renamed, restreamed
from benchmarks.reference.strategies import Case
from streamplace.errors import InfeasibleError, PlacementError
from streamplace.placers.base import Placer
from streamplace.placers.registry import NAMES, ready_placer
from streamplace.util.arrays import Ints

BY_COUNT = {
    "auto": "auto:evaluations=300",
    "search": "search:evaluations=1000",
    "multilevel": "multilevel:changes=1",
}
# exact is left out, since its time limit makes it depend on the machine
NAMED = tuple(BY_COUNT.get(name, name) for name in NAMES if name != "exact")


def share_moved(name: str, case: Case, rng: np.random.Generator) -> float:
    """Return the fraction of operators that a placer moves when names and order change."""
    problem, on = case
    streams = list(problem.graph.streams)
    shuffled = [streams[i] for i in rng.permutation(len(streams))]
    other = renamed(
        restreamed(problem, shuffled), range(len(on)), range(len(problem.cluster.devices))
    )
    placer = ready_placer(name, problem.model)
    placements = [_placed(placer, (one, on)) for one in (problem, other)]
    return float((placements[0] != placements[1]).mean())


def _placed(placer: Placer, case: Case) -> Ints:
    """Return the device of each operator; all are -1 if the placer finds no placement."""
    try:
        return placer(case[0], np.random.default_rng(0)).devices
    except (PlacementError, InfeasibleError):
        return np.full(len(case[1]), -1, dtype=np.int32)
