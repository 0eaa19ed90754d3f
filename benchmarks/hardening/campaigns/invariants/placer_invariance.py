"""Invariance of placers to other names of operators and devices, and to the order of streams."""

import numpy as np

from benchmarks.reference.changes import renamed, restreamed
from benchmarks.reference.strategies import Case
from streamplace import Problem
from streamplace.errors import InfeasibleError, PlacementError
from streamplace.placers.base import Placer
from streamplace.placers.registry import names_for, ready_placer
from streamplace.util.arrays import Ints

LIMITED_BY_COUNT = {
    "auto": "auto:evaluations=300",
    "search": "search:evaluations=1000",
    "multilevel": "multilevel:changes=1",
    "rnn": "rnn:steps=2:samples=2",
    "hsdag": "hsdag:episodes=2:steps=2:samples=2",
}
"""Placer -> the same placer with a limit on its work instead of on its time."""
# exact is left out, since its time limit makes it depend on the machine
PLACERS = tuple(
    LIMITED_BY_COUNT.get(name, name) for name in names_for("throughput") if name != "exact"
)


def share_moved(name: str, case: Case, rng: np.random.Generator) -> float:
    """Return the fraction of operators that a placer puts on another device after a change.

    The change gives operators and devices new names and shuffles the streams. Operators and devices
    stay in order, so their indices remain comparable.

    Parameters
    ----------
    name
        The placer, as in ``--placer``.
    case
        The problem to place; its placement is not used.
    """
    return moved_by(name, case[0], rng)


def moved_by(name: str, problem: Problem, rng: np.random.Generator) -> float:
    """Return `share_moved` of a problem, under any objective.

    The placer is also called a second time without a change, and the larger fraction counts.
    """
    operators, devices = len(problem.graph.names), len(problem.cluster.devices)
    streams = list(problem.graph.streams)
    shuffled = restreamed(problem, [streams[i] for i in rng.permutation(len(streams))])
    changed = renamed(shuffled, range(operators), range(devices))
    placer = ready_placer(name)
    first, *others = (placed(name, placer, one) for one in (problem, problem, changed))
    return max(_differing(first, other) for other in others)


def placed(name: str, placer: Placer, problem: Problem) -> Ints | None:
    """Return the device of each operator, (V,); None if a placer finds no placement."""
    try:
        return placer(problem, np.random.default_rng(0)).devices
    except (PlacementError, InfeasibleError):
        return None


def _differing(one: Ints | None, other: Ints | None) -> float:
    """Return the fraction of operators on different devices; all, if one placement is missing."""
    if one is None or other is None:
        return float(one is not other)
    return float((one != other).mean())
