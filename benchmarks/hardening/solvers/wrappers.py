"""Whom the problems are given to: every placer that wraps a library or compiled code."""

from collections.abc import Callable, Sequence
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from benchmarks.hardening.solvers.jobs import LARGE, SIZES, job
from benchmarks.hardening.solvers.shapes import SHAPES
from streamplace import Placement, Problem
from streamplace.errors import UsageError
from streamplace.placers.exact.decision import DecisionProblem
from streamplace.placers.exact.incumbent import Incumbent
from streamplace.placers.greedy import Greedy
from streamplace.placers.partition.pymetis_guard import partition
from streamplace.placers.search.annealing import Budget

Try = Callable[[int, int], str | None]
"""Takes a problem's number and seed; returns what is wrong with the answer, None if nothing."""

PLACERS = (
    "metis",
    "metis-recursive",
    "metis-oracle",
    "metis-recursive-oracle",
    "fuser",
    "greedy",
    "search:evaluations=2000",
    "multilevel",
    "exact:seconds=0.02",
    "policy",
    "auto:evaluations=300",
)
LIBRARY = ("METIS itself, k-way", "METIS itself, recursive")
CP_SAT = "CP-SAT itself"
INSTALLED = {"KaHIP fast": "kahip", "KaHIP eco": "kahip", "Mt-KaHyPar": "mtkahypar"}
OF_METIS = ("pymetis:part_graph",)
ANNEALING = (
    "streamplace.placers.search.annealing:anneal",
    "streamplace.placers.search.annealing:anneal_throttled",
)
OF_CP_SAT = ("ortools.sat.python.cp_model:CpSolver.solve",)
PROVING = (
    "streamplace.placers.exact.decision:refute",
    "streamplace.placers.exact.path_average:enumerate_above",
    *OF_CP_SAT,
)
CALLED = {
    "fuser": ("streamplace.placers.partition.fuser:fuse",),
    "greedy": ("sim.greedy:_greedy",),
    "search": ANNEALING,
    "multilevel": ANNEALING,
    "exact": (*ANNEALING, *PROVING),
    "policy": ("streamplace.policy.device_scorer.network:DeviceScorer.sample",),
    "auto": (*OF_METIS, *ANNEALING),
    CP_SAT: OF_CP_SAT,
    "KaHIP fast": ("kahip:kaffpa",),
    "KaHIP eco": ("kahip:kaffpa",),
    "Mt-KaHyPar": ("mtkahypar:Graph.partition",),
}
"""Where a wrapper calls what it wraps; all others METIS.

`exact` searches before it proves anything, and its search mostly finds what nothing can be better
than: what it asks CP-SAT, CP-SAT is asked alone.
"""
QUADRATIC = {"fuser": 300}
"""Operators that are enough for what takes their square."""
SMALL = 60  # operators of a problem for CP-SAT alone
EFFORT, SECONDS = 0.01, 5.0  # that it may take: in its deterministic seconds, and in wall time


def wrappers() -> list[str]:
    """Return the names of all, whether installed or not."""
    return [*LIBRARY, CP_SAT, *PLACERS, *INSTALLED]


def is_installed(name: str) -> bool:
    """Return whether what a wrapper calls is there."""
    return name not in INSTALLED or find_spec(INSTALLED[name]) is not None


def library_of(name: str) -> Sequence[str]:
    """Return where a wrapper calls what it wraps."""
    return CALLED.get(name.partition(":")[0], OF_METIS)


def of_name(name: str) -> Try:
    """Return what to call."""
    if name in LIBRARY:
        return lambda number, seed: try_library(number, seed, recursive="recursive" in name)
    if name == CP_SAT:
        return try_cp_sat
    if name in INSTALLED:
        return lambda number, seed: try_partitioner(name, number, seed)
    return lambda number, seed: try_placer(name, number, seed)


def try_placer(name: str, number: int, seed: int) -> str | None:
    """Place a problem; partitioners are told parts, or not, and either kind of weights."""
    from streamplace.placers.registry import ready_placer  # noqa: PLC0415 - heavy

    problem = job(number, seed, QUADRATIC.get(name, LARGE))
    options = ""
    if name in ("metis", "metis-recursive", "fuser"):
        options += ("", ":parts=1", ":parts=2", ":parts=3", ":parts=1000")[number % 5]
    if name.startswith("metis") and number % 2:
        options += ":weights=utilisation"
    placer = ready_placer(name + options, "bottleneck")
    return fault(placer(problem, np.random.default_rng(number)))


def fault(placement: object) -> str | None:
    """Return what is wrong with an answer of a placer."""
    if not isinstance(placement, Placement):
        return f"returned a {type(placement).__name__}"
    return placement.problem.feasibility.violation(placement.devices)


def try_partitioner(name: str, number: int, seed: int) -> str | None:
    """Cut a problem with another partitioner, which knows nothing of constraints but groups."""
    from benchmarks.partitioners import partitioners  # noqa: PLC0415 - the child alone needs it

    problem = job(number, seed)
    Placement(problem, partitioners()[name](problem))
    return None


def try_cp_sat(number: int, seed: int) -> str | None:
    """Ask CP-SAT for a better placement than a greedy one, whether or not others would know."""
    from streamplace.placers.exact.cp_sat import Model  # noqa: PLC0415 - heavy

    drawn = job(number, seed, SMALL)
    problem = Problem(
        drawn.graph,
        drawn.cluster,
        source_rate=drawn.source_rate,
        constraints=drawn.constraints,
        target_utilisation=drawn.target_utilisation,
    )
    bracket = Incumbent(problem, Greedy()(problem, np.random.default_rng(number)))
    claim = DecisionProblem(problem, bracket.better)
    if not Model.is_small(claim):
        raise UsageError("too large a model")
    outcome = Model(claim, 1, number).search(EFFORT, Budget(SECONDS))
    if outcome.found is None:
        return None
    return fault(outcome.found)


def try_library(number: int, seed: int, *, recursive: bool) -> str | None:
    """Cut a graph with integer weights of any size into any number of parts."""
    rng = np.random.default_rng((seed, number))
    count, ends = SHAPES[number % len(SHAPES)](rng, int(rng.choice(SIZES)))
    edges = np.array(ends, dtype=np.int64).reshape(-1, 2)
    some = [1, 2, 2, 3, 7, count // 2, count, count]
    parts = min(count, max(1, int(rng.choice(some)))) if rng.random() < 0.95 else count + 1
    shares = None
    if rng.random() < 0.5:
        shares = 10.0 ** rng.uniform(-float(rng.choice([1, 12, 40, 300])), 0, size=parts)
    try:
        found = partition(
            edges[:, 0],
            edges[:, 1],
            _weights(rng, count),
            np.maximum(1, _weights(rng, len(edges))),
            shares,
            parts,
            recursive=recursive,
        )
    except ValueError as error:  # as it says it does
        raise UsageError(str(error)) from None
    if found.shape != (count,) or found.min() < 0 or found.max() >= parts:
        return "parts that do not exist"
    return None


def _weights(rng: np.random.Generator, count: int) -> NDArray[np.int64]:
    """Return integers that add up to about a power of 2, sometimes more than METIS may be told."""
    total = 2 ** int(rng.choice([1, 8, 16, 20, 24, 28, 29, 30, 30, 31, 62]))
    kind = int(rng.integers(4))
    weights = np.zeros(count, dtype=np.int64)
    if kind == 1:  # all alike
        weights += total // max(1, count)
    elif kind == 2 and count:  # one giant
        weights += 1
        weights[rng.integers(count)] = max(1, total - count)
    elif kind == 3:  # of all sizes
        weights = (
            (rng.dirichlet(np.full(count, 0.1)) * total).astype(np.int64) if count else weights
        )
    return weights
