"""What `auto` is compared with, every rival on all subsets of the fastest devices in one budget.

A rival yields placements without end, and the best one within the budget counts. The clock is CPU
time. It does not run while the arrays of a problem on fewer devices are made. What ends far too
late counts only if it is the first.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import count

import numpy as np
import pymetis

from benchmarks.makespans.rivals import ONCE
from benchmarks.partitioners import ECO, FAST, kahip, mt_kahypar
from benchmarks.real_sizes.problems import LADDER
from streamplace import Cluster, Problem
from streamplace.errors import PlacementError
from streamplace.makespan.evaluator import MakespanEvaluator
from streamplace.placers.limits import MaxEvaluations, MaxRuntime, PlacerLimit
from streamplace.placers.partition.metis import units_by_instructions
from streamplace.placers.partition.partitioner import devices_of_parts, parts_for
from streamplace.placers.registry import placer_named
from streamplace.scoring.flow import flow
from streamplace.sim import work_clock
from streamplace.sim.closed_form.bottleneck import lowest_utilisation, worst_utilisation
from streamplace.util.arrays import Ints

IMBALANCES = (0.03, 0.3, 0.1, 1.0, 0.01)  # of every sweep, the most useful ones first
LATE = 1.3  # times the limit after which a placement ends too late: most placers overrun by less
AT_BOUND = 1.0005  # a rival stops this close to the lower bound, which no placement beats
SUBSETS = "-subsets"
"""The end of the name of a placer that runs on subsets of the devices."""

Tries = Iterator[Ints | None]  # devices of the operators, (V,); None where a try failed
PartitionMethod = Callable[[Problem, int, float, int], Ints]


@dataclass(frozen=True)
class Outcome:
    """What one placer reached on one problem.

    Parameters
    ----------
    devices
        (V,) the device of each operator.
    value
        Largest utilisation at the offered rate or, for makespans, seconds; lower is better.
    least
        A lower bound of the value.
    cpu_s
        CPU seconds until the last placement that counts.
    """

    devices: Ints
    value: float
    least: float
    cpu_s: float


@dataclass(frozen=True)
class Worth:
    """The values of placements of a problem, and a value that no placement is below."""

    of: Callable[[Ints], float]
    least: float

    @classmethod
    def for_problem(cls, problem: Problem) -> "Worth":
        """Return the largest utilisation at the offered rate, or the makespan in seconds."""
        if problem.objective.is_pass:
            judge = MakespanEvaluator(problem)
            return cls(lambda devices: float(judge.makespans(devices)[0]), judge.least_s)
        arrays = flow(problem)
        least = lowest_utilisation(arrays)
        return cls(lambda devices: float(worst_utilisation(arrays, devices)[0]), least)


def outcome(problem: Problem, name: str, limit: PlacerLimit, seed: int) -> Outcome:
    """Run a placer or a rival within a limit.

    Parameters
    ----------
    name
        A rival of `rivals`, a placer of the product, or a placer with `SUBSETS` after its name. A
        placer that accepts no limit runs with seed after seed, or once if it ignores seeds.
    limit
        CPU time; or evaluations, for placers that accept them.

    Raises
    ------
    UsageError
        On an unknown name, or a limit that the placer does not accept.
    PlacementError
        If there is no placement.
    """
    worth = Worth.for_problem(problem)  # outside the clock, as all need its arrays
    seconds = limit.value if isinstance(limit, MaxRuntime) else np.inf
    make = rivals().get(name, partial(_placed, name, limit))
    best, value = None, np.inf
    with work_clock.cpu_time():
        begun = work_clock.now()
        for devices in make(problem, seed):
            now = work_clock.now() - begun
            if best is not None and now > LATE * seconds:
                break
            used = now
            if devices is not None and (reached := worth.of(devices)) < value:
                best, value = devices, reached
            if used >= seconds or value <= worth.least * AT_BOUND:
                break
    if best is None:
        raise PlacementError(f"{name} found no placement")
    return Outcome(best, value, worth.least, used)


def rivals() -> dict[str, Callable[[Problem, int], Tries]]:
    """Return the installed sweeps of partitioners by name."""
    by_name: dict[str, list[PartitionMethod]] = {
        "metis-sweep": [partial(metis, recursive=False), partial(metis, recursive=True)]
    }
    if find_spec("kahip"):
        by_name["kahip-sweep"] = [partial(_kahip, FAST), partial(_kahip, ECO)]
    if find_spec("mtkahypar"):
        by_name["mt-kahypar-sweep"] = [mt_kahypar]
    return {name: partial(_sweep, methods) for name, methods in by_name.items()}


def _sweep(methods: list[PartitionMethod], problem: Problem, seed: int) -> Tries:
    """Yield the partitions of all methods, imbalances and numbers of parts, with seed after seed.

    Heavier parts go to faster devices.
    """
    for shift in count(seed):
        for imbalance in IMBALANCES:
            for method in methods:
                for parts in reversed(ladder(problem)):
                    try:
                        yield method(problem, parts, imbalance, shift)
                    except (PlacementError, RuntimeError):
                        yield None


def ladder(problem: Problem) -> list[int]:
    """Return the numbers of the fastest devices to use, all of them last."""
    devices = len(problem.cluster.devices)
    return [*(k for k in LADDER if k < devices), devices]


def metis(problem: Problem, parts: int, imbalance: float, seed: int, *, recursive: bool) -> Ints:
    """Run METIS (Karypis and Kumar 1998) for parts as large as the fastest devices."""
    parts = parts_for(problem, parts)
    units, edges = problem.once(units_by_instructions)
    capacity = problem.cluster.capacity[problem.cluster.fastest_first[:parts]]
    part_of = np.zeros(len(edges.vertex_weights), np.int32)
    if parts > 1:
        native = pymetis.zero_copy_dtype()
        starts, neighbours = edges.starts.astype(native), edges.neighbours.astype(native)
        _, found = pymetis.part_graph(
            parts,
            pymetis.CSRAdjacency(starts, neighbours),
            vweights=edges.vertex_weights.astype(native),
            eweights=edges.edge_weights.astype(native),
            tpwgts=(capacity / capacity.sum()).tolist(),
            recursive=recursive,
            options=pymetis.Options(ufactor=round(1000 * imbalance), seed=seed),
        )
        part_of = np.asarray(found, np.int32)
    return devices_of_parts(problem, units.expand(part_of).astype(np.int32), flow(problem).work)


def _kahip(mode: int, problem: Problem, parts: int, imbalance: float, seed: int) -> Ints:
    return kahip(problem, mode, parts, imbalance, seed)


def _placed(text: str, limit: PlacerLimit, problem: Problem, seed: int) -> Tries:
    """Yield the placements of a placer, on the devices or on each subset of the fastest."""
    name = text.removesuffix(SUBSETS)
    numbers = ladder(problem) if text.endswith(SUBSETS) else [len(problem.cluster.devices)]
    with work_clock.loading():
        placer = placer_named(name)
        is_limited = placer.accepts(limit)
        if is_limited or isinstance(limit, MaxEvaluations):
            share = limit.value / len(numbers)
            each = (
                MaxRuntime(share) if isinstance(limit, MaxRuntime) else MaxEvaluations(round(share))
            )
            placer = placer.limited(each)
        subsets = [subset(problem, k) for k in reversed(numbers)]
    is_once = is_limited or name in ONCE
    for shift in [seed] if is_once else count(seed):
        for on, part in subsets:
            try:
                yield on[placer(part, np.random.default_rng(shift)).devices]
            except PlacementError:
                yield None


def subset(problem: Problem, devices: int) -> tuple[Ints, Problem]:
    """Return the indices of the fastest devices, (k,), and the problem on them alone."""
    on = np.sort(problem.cluster.fastest_first[:devices]).astype(np.int32)
    if devices == len(problem.cluster.devices):
        return on, problem
    few = Cluster([problem.cluster.devices[d] for d in on.tolist()], problem.cluster.network)
    part = Problem(problem.graph, few, objective=problem.objective, constraints=problem.constraints)
    flow(part)
    return on, part
