"""The placers that wrap a library or compiled code, as functions of a problem's number and seed."""

from collections.abc import Callable, Sequence
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from benchmarks.hardening.campaigns.solvers.graph_shapes import SHAPES
from benchmarks.hardening.campaigns.solvers.unusual_problems import LARGE, SIZES, unusual_problem
from streamplace import Makespan, Placement, Problem
from streamplace.errors import UsageError
from streamplace.placers.budget import Budget
from streamplace.placers.exact.decision import DecisionProblem, Incumbent
from streamplace.placers.partition.cut import WeightedGraph
from streamplace.placers.trivial import Greedy
from streamplace.problem.objectives import ORDERS

Attempt = Callable[[int, int], str | None]
"""Tries the problem of a number and a seed; returns the fault of the answer, or None."""

PLACERS = (
    "metis",
    "metis-recursive",
    "metis-oracle",
    "metis-recursive-oracle",
    "metis-sweep",
    "fuser",
    "contiguous",
    "greedy",
    "climb:evaluations=200",
    "search:evaluations=2000",
    "multilevel",
    "exact:seconds=0.02",
    "policy",
    "giph:evaluations=6",
    "rnn:steps=2:samples=2",
    "hsdag:episodes=2:steps=2:samples=2",
    "auto:evaluations=300",
)
FOR_MAKESPANS = {
    "heft": "heft",
    "heft with contention": "heft:contention",
    "peft": "peft",
    "cpop": "cpop",
    "critical-path": "critical-path:samples=5",
    "random-eft": "random-eft:samples=5",
    "enumerative": "enumerative",
    "climb for makespans": "climb:evaluations=200",
    "search for makespans": "search:evaluations=2000",
    "exact for makespans": "exact:seconds=0.02",
    "giph for makespans": "giph:evaluations=6",
    "rebuild": "rebuild:evaluations=20",
    "rnn for makespans": "rnn:steps=2:samples=2",
    "hsdag for makespans": "hsdag:episodes=2:steps=2:samples=2",
    "auto for makespans": "auto:evaluations=300",
}
"""Wrapper under the makespan objective -> placer with options."""
DIRECT_METIS = ("METIS called directly, k-way", "METIS called directly, recursive")
CP_SAT = "CP-SAT called directly"
OPTIONAL_MODULES = {"KaHIP fast": "kahip", "KaHIP eco": "kahip", "Mt-KaHyPar": "mtkahypar"}
METIS_FUNCTIONS = ("pymetis:part_graph",)
ANNEALING_FUNCTIONS = (
    "streamplace.scoring.models:anneal",
    "streamplace.scoring.path_average:anneal_path_average",
)
CP_SAT_FUNCTIONS = ("ortools.sat.python.cp_model:CpSolver.solve",)
PROOF_FUNCTIONS = (
    "streamplace.placers.exact.decision:refute",
    "streamplace.placers.exact.exact:enumerate_above",
    *CP_SAT_FUNCTIONS,
)
LIST_FUNCTIONS = ("streamplace.placers.scheduling.lists:list_schedule",)
SAMPLING_FUNCTIONS = ("streamplace.placers.scheduling.lists:sampled_placements",)
PASS_FUNCTIONS = ("streamplace.scoring.makespan_evaluator:makespans",)
ENUMERATION_FUNCTIONS = ("streamplace.placers.scheduling.proof:next_shorter",)  # under FIFO
CHAIN_FUNCTIONS = (
    "streamplace.placers.scheduling.annealing:anneal_fifo",
    "streamplace.placers.scheduling.annealing:anneal_events",
)
CALLED_FUNCTIONS = {
    "fuser": ("streamplace.placers.partition.fuser:fuse",),
    "contiguous": ("streamplace.placers.contiguous:split",),
    "greedy": ("streamplace.sim.greedy:_greedy",),
    "climb": ("streamplace.placers.search.climb:qualities_of_rows",),
    "search": ANNEALING_FUNCTIONS,
    "multilevel": ANNEALING_FUNCTIONS,
    "exact": (*ANNEALING_FUNCTIONS, *PROOF_FUNCTIONS),
    "policy": ("streamplace.policy.device_scorer.numpy_inference:NumpyScorer.sample",),
    "giph": ("streamplace.papers.giph.policy:Giph.rollout",),
    "rnn": ("streamplace.papers.rnn.network:Rnn.rollout",),
    "hsdag": ("streamplace.papers.hsdag.policy:Hsdag.rollout",),
    "auto": (*METIS_FUNCTIONS, *ANNEALING_FUNCTIONS),
    "heft": LIST_FUNCTIONS,
    "heft with contention": ("streamplace.placers.scheduling.lists:contention_schedule",),
    "peft": LIST_FUNCTIONS,
    "cpop": LIST_FUNCTIONS,
    "critical-path": SAMPLING_FUNCTIONS,
    "random-eft": SAMPLING_FUNCTIONS,
    "enumerative": ("streamplace.placers.scheduling.search:enumerative_placement",),
    "climb for makespans": CHAIN_FUNCTIONS,
    "search for makespans": PASS_FUNCTIONS,
    "exact for makespans": (*PASS_FUNCTIONS, *ENUMERATION_FUNCTIONS),
    "giph for makespans": ("streamplace.papers.giph.policy:Giph.rollout",),
    "rebuild": ("streamplace.policy.rebuild.policy:Rebuild.rollout",),
    "rnn for makespans": PASS_FUNCTIONS,
    "hsdag for makespans": ("streamplace.papers.hsdag.policy:Hsdag.rollout",),
    "auto for makespans": PASS_FUNCTIONS,
    CP_SAT: CP_SAT_FUNCTIONS,
    "KaHIP fast": ("kahip:kaffpa",),
    "KaHIP eco": ("kahip:kaffpa",),
    "Mt-KaHyPar": ("mtkahypar:Graph.partition",),
}
"""Wrapper -> the library functions that it calls; all other wrappers call METIS.

CP-SAT is also a separate wrapper, since `exact` first searches and then seldom needs CP-SAT.
"""
MAX_OPERATORS = {"fuser": 300, "giph": 100, "rnn": 100}
"""The largest number of operators for placers that take quadratic time."""
CP_SAT_MAX_OPERATORS = 60  # for larger problems, its models would be too large
CP_SAT_TIME, CP_SAT_WALL_S = 0.01, 5.0  # limits of CP-SAT: deterministic time, and wall seconds


def wrappers() -> list[str]:
    """Return the names of all wrappers, installed or not."""
    return [*DIRECT_METIS, CP_SAT, *PLACERS, *FOR_MAKESPANS, *OPTIONAL_MODULES]


def is_installed(name: str) -> bool:
    """Return whether the library of a wrapper is installed."""
    return name not in OPTIONAL_MODULES or find_spec(OPTIONAL_MODULES[name]) is not None


def library_of(name: str) -> Sequence[str]:
    """Return the functions of libraries that a wrapper calls, each as ``module:name``."""
    return CALLED_FUNCTIONS.get(name.partition(":")[0], METIS_FUNCTIONS)


def attempt_of(name: str) -> Attempt:
    """Return the function that tries problems with a wrapper."""
    if name in DIRECT_METIS:
        return lambda number, seed: try_metis(number, seed, recursive="recursive" in name)
    if name == CP_SAT:
        return try_cp_sat
    if name in OPTIONAL_MODULES:
        return lambda number, seed: try_partitioner(name, number, seed)
    if name in FOR_MAKESPANS:
        return lambda number, seed: try_makespan(FOR_MAKESPANS[name], number, seed)
    return lambda number, seed: try_placer(name, number, seed)


def largest_for(placer: str) -> int:
    """Return the largest number of operators for a placer, by its name with options."""
    return MAX_OPERATORS.get(placer.partition(":")[0], LARGE)


def try_makespan(name: str, number: int, seed: int) -> str | None:
    """Place a problem under the makespan objective and check the placement."""
    from streamplace.placers.registry import ready_placer  # noqa: PLC0415 - heavy

    problem = unusual_problem(number, seed, largest_for(name)).with_objective(Makespan())
    placer = ready_placer(name)
    return answer_fault(placer(problem, np.random.default_rng(number)))


def try_placer(name: str, number: int, seed: int) -> str | None:
    """Place a problem and check the placement; the number determines some placers' options."""
    from streamplace.placers.registry import ready_placer  # noqa: PLC0415 - heavy

    problem = unusual_problem(number, seed, largest_for(name))
    options = ""
    if name in ("metis", "metis-recursive", "fuser"):
        options += ("", ":parts=1", ":parts=2", ":parts=3", ":parts=1000")[number % 5]
    if name.startswith("metis") and number % 2:
        options += ":weights=utilisation"
    if name in ("greedy", "policy") and number % 2:
        options += f":order={ORDERS[number // 2 % len(ORDERS)]}"
    placer = ready_placer(name + options)
    return answer_fault(placer(problem, np.random.default_rng(number)))


def answer_fault(placement: object) -> str | None:
    """Return the fault of a placer's answer, or None."""
    if not isinstance(placement, Placement):
        return f"returned a {type(placement).__name__}"
    return placement.problem.feasibility.violation(placement.devices)


def try_partitioner(name: str, number: int, seed: int) -> str | None:
    """Partition a problem with KaHIP or Mt-KaHyPar, which support no constraints but colocation."""
    from benchmarks.partitioners import partitioners  # noqa: PLC0415 - only the child process needs it

    problem = unusual_problem(number, seed)
    Placement(problem, partitioners()[name](problem))
    return None


def try_cp_sat(number: int, seed: int) -> str | None:
    """Search with CP-SAT for a better placement than a greedy one, and check the answer."""
    from streamplace.placers.exact.cp_sat import Model  # noqa: PLC0415 - heavy

    drawn = unusual_problem(number, seed, CP_SAT_MAX_OPERATORS)
    problem = Problem(
        drawn.graph,
        drawn.cluster,
        source_rate=drawn.source_rate,
        constraints=drawn.constraints,
        target_utilisation=drawn.target_utilisation,
    )
    incumbent = Incumbent(problem, Greedy()(problem, np.random.default_rng(number)))
    decision = DecisionProblem(problem, incumbent.rate_to_beat)
    if not Model.is_small(decision):
        raise UsageError("the model is too large")
    outcome = Model(decision, 1, number).search(CP_SAT_TIME, Budget(CP_SAT_WALL_S))
    if outcome.found is None:
        return None
    return answer_fault(outcome.found)


def try_metis(number: int, seed: int, *, recursive: bool) -> str | None:
    """Partition a graph with integer weights of any size into any number of parts."""
    rng = np.random.default_rng((seed, number))
    count, ends = SHAPES[number % len(SHAPES)](rng, int(rng.choice(SIZES)))
    edges = np.array(ends, dtype=np.int64).reshape(-1, 2)
    part_counts = [1, 2, 2, 3, 7, count // 2, count, count]
    parts = min(count, max(1, int(rng.choice(part_counts)))) if rng.random() < 0.95 else count + 1
    shares = None
    if rng.random() < 0.5:
        shares = 10.0 ** rng.uniform(-float(rng.choice([1, 12, 40, 300])), 0, size=parts)
    try:
        weights = _weights(rng, count), np.maximum(1, _weights(rng, len(edges)))
        graph = WeightedGraph(edges[:, 0], edges[:, 1], *weights)
        part_of = graph.partition(parts, shares, recursive=recursive)
    except ValueError as error:  # an argument is out of range, such as the number of parts
        raise UsageError(str(error)) from None
    if part_of.shape != (count,) or part_of.min() < 0 or part_of.max() >= parts:
        return "returned a wrong number of entries, or a part index out of range"
    return None


def _weights(rng: np.random.Generator, count: int) -> NDArray[np.int64]:
    """Return zeros, or integers whose sum is about a power of 2 and may exceed METIS's limit."""
    total = 2 ** int(rng.choice([1, 8, 16, 20, 24, 28, 29, 30, 30, 31, 62]))
    kind = int(rng.integers(4))
    weights = np.zeros(count, dtype=np.int64)
    if kind == 1:  # equal weights
        weights += total // max(1, count)
    elif kind == 2 and count:  # one very large weight
        weights += 1
        weights[rng.integers(count)] = max(1, total - count)
    elif kind == 3:  # weights of all sizes
        weights = (
            (rng.dirichlet(np.full(count, 0.1)) * total).astype(np.int64) if count else weights
        )
    return weights
