"""Targets of wrappers: what a library answers is a valid placement, result or graph.

Each placer wraps a library or compiled code. KaHIP and Mt-KaHyPar are partitioners of the
benchmarks. A library that ends the process ends the tests, which pytest then reports.
"""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from hypothesis import strategies as st

from benchmarks.partitioners import partitioners
from streamplace import Makespan, Placement, Problem
from streamplace.errors import BackendError, StreamplaceError, UsageError
from streamplace.execution.backends import BACKENDS, Backend
from streamplace.execution.parallel import each
from streamplace.formats.documents import read_module
from streamplace.placers.partition.cut import WeightedGraph
from streamplace.placers.registry import names_for, placer_of
from streamplace.scoring.registry import qualities
from streamplace.scoring.score import ROUNDING
from streamplace.util.arrays import Ints
from tests.hardening.graph_shapes import SHAPES
from tests.hardening.target import FaultError, Target, message_of, watched
from tests.hardening.targets.consumers import use_job, use_placement
from tests.hardening.unusual_problems import SIZES, NoProblemError, unusual_problem

OPTIONS = {
    "climb": "climb:evaluations=200",
    "search": "search:evaluations=2000",
    "exact": "exact:seconds=0.02",
    "auto": "auto:evaluations=300",
    "giph": "giph:evaluations=6",
    "rebuild": "rebuild:evaluations=20",
    "rnn": "rnn:steps=2:samples=2",
    "hsdag": "hsdag:episodes=2:steps=2:samples=2",
    "critical-path": "critical-path:samples=5",
    "random-eft": "random-eft:samples=5",
}
"""Placer -> the same with options that limit its work."""
LEARNED = ("policy", "giph", "rebuild", "rnn", "hsdag")
LARGEST = {"fuser": 300, "fuser-oracle": 100, "giph": 100, "rnn": 100}
"""The largest number of operators for placers that take quadratic time."""
MOST = 1000  # operators for the others
CP_SAT_OPERATORS = 60  # for larger problems, its models would be too large
CP_SAT_TIME, CP_SAT_WALL_S = 0.01, 5.0  # limits of CP-SAT: deterministic time, and wall seconds
NUMBERS = st.integers(0, 10**6)
"""The numbers by which problems are drawn; successive ones cover all shapes and values."""
PARTITIONERS = {"KaHIP fast": "kahip", "KaHIP eco": "kahip", "Mt-KaHyPar": "mtkahypar"}
BACKEND_PACKAGES = {"local": "joblib", "ray": "ray", "dask": "distributed"}
MODULES = ("Net", "Images", "Attention")


def check_placer(name: str, objective: str, number: int) -> None:
    """Place an unusual problem; the placement must be feasible, and its score finite."""
    try:
        problem = unusual_problem(number, 0, LARGEST.get(name, MOST))
        if objective == "makespan":
            problem = problem.with_objective(Makespan())
    except NoProblemError:
        return
    with watched(effects=False):
        try:
            placer = placer_of(OPTIONS.get(name, name))
            placement = placer(problem, np.random.default_rng(number))
        except StreamplaceError as error:
            message_of(error)
            return
    check_placement(problem, placement)


def check_placement(problem: Problem, placement: object) -> None:
    """Raise a fault unless a placement is one of the problem, feasible and with a finite score."""
    if not isinstance(placement, Placement) or placement.problem is not problem:
        raise FaultError(f"no placement of the problem: {placement!r:.80}")
    if fault := problem.feasibility.violation(placement.devices):
        raise FaultError(f"a placement that is not feasible: {fault}")
    try:
        use_placement(placement)
    except StreamplaceError as error:  # such as times that overflow, which every placement has
        message_of(error)


def check_metis(recursive: bool, number: int) -> None:
    """Partition a graph with weights of any size, called without a placer."""
    rng = np.random.default_rng(number)
    count, ends = SHAPES[number % len(SHAPES)](rng, int(rng.choice(SIZES)))
    edges = np.array(ends, dtype=np.int64).reshape(-1, 2)
    parts = int(rng.choice([1, 2, 3, 7, max(1, count // 2), count, count + 1]))
    shares = 10.0 ** rng.uniform(-40, 0, size=parts) if rng.random() < 0.5 else None
    total = 2 ** int(rng.choice([1, 8, 16, 24, 30, 31, 62]))
    weights = rng.integers(0, total // max(1, count) + 1, size=count)
    costs = np.maximum(1, rng.integers(0, total // max(1, len(edges)) + 1, size=len(edges)))
    with watched(effects=False):
        try:
            graph = WeightedGraph(edges[:, 0], edges[:, 1], weights, costs)
            part_of = graph.partition(parts, shares, recursive=recursive)
        except (ValueError, StreamplaceError):  # an argument is out of range
            return
    if part_of.shape != (count,) or part_of.min() < 0 or part_of.max() >= parts:
        raise FaultError("a wrong number of entries, or a part out of range")


def check_cp_sat(number: int) -> None:
    """Search with CP-SAT for a better placement than a greedy one."""
    from streamplace.placers.budget import Budget  # noqa: PLC0415
    from streamplace.placers.exact.cp_sat import Model, Proof  # noqa: PLC0415 - an extra
    from streamplace.placers.exact.decision import DecisionProblem, Incumbent  # noqa: PLC0415

    try:
        problem = unusual_problem(number, 0, CP_SAT_OPERATORS)
    except NoProblemError:
        return
    with watched(effects=False):
        try:
            first = placer_of("greedy")(problem, np.random.default_rng(number))
            decision = DecisionProblem(problem, Incumbent(problem, first).rate_to_beat)
            if not Model.is_small(decision):
                return
            found = Proof(decision, 1, number).search(CP_SAT_TIME, Budget(CP_SAT_WALL_S)).found
        except StreamplaceError as error:
            message_of(error)
            return
    if found is not None:
        check_placement(problem, found)
        carried = problem.source_rate * qualities(problem, [found])[0]
        assert carried >= decision.rate * (1.0 - ROUNDING)


def check_partitioner(name: str, number: int) -> None:
    """Partition a problem with a library of the benchmarks, which know colocation only."""
    try:
        problem = unusual_problem(number, 0, MOST)
    except NoProblemError:
        return
    with watched(effects=False):
        try:
            devices: Ints = partitioners()[name](problem)
        except StreamplaceError as error:
            message_of(error)
            return
    Placement(problem, devices)


def halved(number: int) -> float:
    """Return half of a number; 13 cannot be halved."""
    if number == 13:
        raise UsageError("13 is unlucky")
    return number / 2


def check_backend(name: str, numbers: list[int]) -> None:
    """Apply a function to numbers on two processes: the same results in order, or its error."""
    try:
        found = list(each(halved, numbers, 2, Backend(name), items_per_process=1))
    except UsageError as error:
        if 13 not in numbers or message_of(error) != "13 is unlucky":
            raise FaultError(f"another error: {error}") from error
        return
    except BackendError as error:
        raise FaultError(f"the work failed: {message_of(error)}") from error
    if found != [number / 2 for number in numbers]:
        raise FaultError("other results")


@st.composite
def torch_inputs(draw: st.DrawFn) -> tuple[str, tuple[str, ...]]:
    """Return the name of a module, perhaps of none, and texts of its inputs, perhaps bad ones."""
    names = st.sampled_from(MODULES).map("tests.support.torch_modules:{}".format)
    other = st.sampled_from(["torch.nn:ReLU", "torch.nn:Linear", "torch:zeros", "no:body", "x", ""])
    sizes = st.lists(st.sampled_from([1, 2, 3, 6, 8, 0, 10**13]), max_size=4)
    shape = sizes.map(lambda some: "x".join(map(str, some)) or "scalar")
    text = st.tuples(shape, st.sampled_from(["", ":float32", ":int64", ":bool", ":object"]))
    fitting = st.sampled_from(["2x6", "1x3x8x8", "1x4x8"])
    inputs = text.map("".join) | fitting | st.text(max_size=6)
    return draw(names | other), tuple(draw(st.lists(inputs, max_size=2)))


def check_torch(case: tuple[str, tuple[str, ...]]) -> None:
    """Load a module of PyTorch; the graph must be usable."""
    try:
        found = read_module(case[0], "torch", case[1])
    except StreamplaceError as error:
        message_of(error)
        return
    with watched(effects=False):
        use_job(found)


def _placer_target(name: str, objective: str) -> Target:
    check = partial(check_placer, name, objective)
    return Target(lambda: NUMBERS, check, is_slow=name in LEARNED)


def _optional(packages: dict[str, str], made: Callable[[str], Target]) -> dict[str, Target]:
    """Return the targets of those libraries that are installed."""
    return {name: made(name) for name, package in packages.items() if find_spec(package)}


NUMBER_LISTS: Any = st.lists(st.integers(0, 50), max_size=12)
TARGETS = {
    **{f"placer {name}": _placer_target(name, "throughput") for name in names_for("throughput")},
    **{f"makespan {name}": _placer_target(name, "makespan") for name in names_for("makespan")},
    "METIS": Target(lambda: NUMBERS, partial(check_metis, False)),
    "METIS recursive": Target(lambda: NUMBERS, partial(check_metis, True)),
    "CP-SAT": Target(lambda: NUMBERS, check_cp_sat),
    **_optional(
        PARTITIONERS, lambda name: Target(lambda: NUMBERS, partial(check_partitioner, name))
    ),
    **_optional(
        {name: BACKEND_PACKAGES[name] for name in BACKENDS},
        lambda name: Target(lambda: NUMBER_LISTS, partial(check_backend, name), is_slow=True),
    ),
    "torch": Target(torch_inputs, check_torch, is_slow=True),
}
"""Name of a wrapper -> its target; of optional libraries only where they are installed."""
