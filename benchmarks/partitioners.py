"""METIS, KaHIP and Mt-KaHyPar, as functions from a problem to devices.

They divide the units of a problem into balanced parts with a small cut. All use METIS's vertex and
edge weights and, except METIS's sweep, an imbalance of 3% where they accept one, and a part for
each device; fewer parts go to the fastest devices. KaHIP makes equal parts only. KaHIP and
Mt-KaHyPar are optional (extra `partitioners`).
"""

from collections.abc import Callable
from functools import cache, partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamplace import Problem
from streamplace.placers.partition.metis import units_by_instructions
from streamplace.placers.partition.partitioner import devices_of_parts, parts_for
from streamplace.placers.registry import placer_of
from streamplace.problem.grouping import Grouping
from streamplace.scoring.flow import flow
from streamplace.util.arrays import Ints

IMBALANCE = 0.03
FAST, ECO = 0, 1  # modes of KaHIP
# with few vertices of large weights, or with weights of 0, KaHIP can take minutes
UNITS, UNITS_PER_VERTEX = 1_000_000, 1_000  # largest total weight for KaHIP: the larger of both

Partitioner = Callable[[Problem], Ints]


def partitioners() -> dict[str, Partitioner]:
    """Return the installed partitioners by name; each returns the device of each operator, (V,)."""
    by_name: dict[str, Partitioner] = {
        "METIS k-way": partial(placed, "metis"),
        "METIS recursive": partial(placed, "metis-recursive"),
        "METIS sweep": partial(placed, "metis-sweep"),
    }
    if find_spec("kahip"):
        by_name["KaHIP fast"] = partial(kahip, mode=FAST)
        by_name["KaHIP eco"] = partial(kahip, mode=ECO)
    if find_spec("mtkahypar"):
        by_name["Mt-KaHyPar"] = mt_kahypar
    return by_name


def placed(name: str, problem: Problem) -> Ints:
    """Run a placer of streamplace."""
    return placer_of(name)(problem, np.random.default_rng(0)).devices


def kahip(
    problem: Problem,
    mode: int,
    parts: int | None = None,
    imbalance: float = IMBALANCE,
    seed: int = 0,
) -> Ints:
    """Run KaHIP's kaffpa (Sanders and Schulz 2013)."""
    import kahip as library  # noqa: PLC0415 - optional

    parts = parts_for(problem, parts)
    if parts == 1:
        return np.full(len(problem.graph.names), problem.cluster.fastest_first[0], np.int32)
    units, edges = units_by_instructions(problem)
    lists = (
        kahip_weights(edges.vertex_weights),
        edges.starts,
        edges.edge_weights,
        edges.neighbours,
    )
    columns = [column.tolist() for column in lists]
    _, part_of = library.kaffpa(*columns, parts, imbalance, True, seed, mode)
    return _devices(problem, units, part_of)


def kahip_weights(weights: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return weights of vertices, (N,), that KaHIP handles fast: at least 1, and not too large."""
    total = max(int(weights.sum()), 1)
    most = max(UNITS, UNITS_PER_VERTEX * len(weights))
    return np.maximum(weights * min(most, total) // total, 1)


def mt_kahypar(
    problem: Problem, parts: int | None = None, imbalance: float = IMBALANCE, seed: int = 0
) -> Ints:
    """Run Mt-KaHyPar's default preset on one thread, minimising cut edges.

    Gottesbüren et al. 2021.
    """
    import mtkahypar as library  # noqa: PLC0415 - optional

    parts = parts_for(problem, parts)
    if parts == 1:  # Mt-KaHyPar makes at least two parts
        return np.full(len(problem.graph.names), problem.cluster.fastest_first[0], np.int32)
    units, edges = units_by_instructions(problem)
    library.set_seed(seed)
    started = _mt_kahypar_on_one_thread()
    context = started.context_from_preset(library.PresetType.DEFAULT)
    capacity = problem.cluster.capacity[problem.cluster.fastest_first[:parts]]
    context.set_partitioning_parameters(parts, imbalance, library.Objective.CUT)
    context.logging = False
    if np.ptp(capacity) > 0:
        shares = (1 + imbalance) * edges.vertex_weights.sum() * capacity / capacity.sum()
        context.set_individual_target_block_weights(np.ceil(shares).astype(int).tolist())
    source = np.repeat(np.arange(len(edges.vertex_weights)), np.diff(edges.starts))
    once = source < edges.neighbours
    pairs = list(zip(source[once].tolist(), edges.neighbours[once].tolist(), strict=True))
    weights = edges.vertex_weights.tolist(), edges.edge_weights[once].tolist()
    graph = started.create_graph(context, len(edges.vertex_weights), len(pairs), pairs, *weights)
    return _devices(problem, units, graph.partition(context).get_partition())


@cache
def _mt_kahypar_on_one_thread() -> Any:
    import mtkahypar as library  # noqa: PLC0415 - optional

    return library.initialize(1, False)


def _devices(problem: Problem, units: Grouping, part_of: list[int]) -> Ints:
    of_operators = units.expand(np.array(part_of, np.int32)).astype(np.int32)
    return devices_of_parts(problem, of_operators, flow(problem).work)
