"""Cuts by METIS: balanced load, little traffic across the cut (Karypis and Kumar 1998).

METIS would end the process where the sum of the weights overflows its integers, so that larger
weights are scaled down.
"""

import ctypes
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamplace.errors import PlacementError
from streamplace.problem.grouping import Quotient
from streamplace.problem.problem import Problem
from streamplace.sim import work_clock
from streamplace.util.arrays import Floats, Ints

Integers = NDArray[np.integer]

LARGEST_SUM = 2**30  # because some builds of METIS sum weights in 32-bit integers
# Edge weight: Mbit per source tuple, times 1000, as in the published baseline.
TRAFFIC_UNIT_BITS = 1000.0
MIN_MEAN = 100.0  # minimum mean vertex weight, so that rounding keeps the proportions
TINY = 1e-200  # dividing by less than this may overflow
_ONE_AT_A_TIME = threading.Lock()  # because stdout is shared by the whole process


class WeightedGraph:
    """An undirected graph with integer weights, checked, in the form that METIS reads.

    Parameters
    ----------
    source, target
        (Q,) ends of edges in any direction; repeated edges are summed.
    vertex_weights, edge_weights
        (N,), each at least 0, and (Q,), each at least 1. The sum of each is at most `LARGEST_SUM`.

    Attributes
    ----------
    vertex_weights
        (N,).
    starts, neighbours, edge_weights
        Each edge at both of its ends, as CSR: (N + 1,), (2Q',) and (2Q',).

    Raises
    ------
    ValueError
        If an argument is out of range: METIS would end the process or return nonsense.
    """

    def __init__(
        self,
        source: Integers,
        target: Integers,
        vertex_weights: NDArray[np.int64],
        edge_weights: NDArray[np.int64],
    ) -> None:
        if not (len(source) == len(target) == len(edge_weights)):
            raise ValueError("source, target and edge weights must have the same length")
        if vertex_weights.min() < 0 or edge_weights.min(initial=1) < 1:
            raise ValueError("vertex weights must be at least 0, edge weights at least 1")
        for column in (vertex_weights, edge_weights):
            if column.sum(dtype=np.float64) > LARGEST_SUM:
                raise ValueError(f"weights must add up to at most {LARGEST_SUM:,}")
        count = len(vertex_weights)
        a, b = np.concatenate([source, target]), np.concatenate([target, source])
        if len(a) and not (a.min() >= 0 and a.max() < count and (a != b).all()):
            raise ValueError("an edge has an unknown vertex, or joins a vertex to itself")
        pairs, which = np.unique(a.astype(np.int64) * count + b, return_inverse=True)
        both = np.concatenate([edge_weights, edge_weights])
        self.vertex_weights = vertex_weights
        self.edge_weights = np.bincount(which, both, len(pairs)).astype(np.int64)
        self._end_of, self.neighbours = np.divmod(pairs, count)
        self.starts = np.searchsorted(self._end_of, np.arange(count + 1))

    def partition(
        self,
        parts: int,
        shares: NDArray[np.float64] | None = None,
        *,
        recursive: bool,
        imbalance: float | None = None,
    ) -> Integers:
        """Return the part, 0..parts-1, of each of the N vertices.

        Parameters
        ----------
        parts
            Number of parts, 1 to N.
        shares
            (parts,) share of the vertex weight that each part should get; None: equal shares.
        imbalance
            How far a part may exceed its share, as a part of it, at least 0.001: METIS counts whole
            thousandths (``ufactor``). None: METIS's default.

        Raises
        ------
        ValueError
            If an argument is out of range.
        PlacementError
            If METIS fails, or its result is inconsistent.
        """
        count = len(self.vertex_weights)
        if not 1 <= parts <= count:
            raise ValueError(f"parts must be 1 to {count} (got {parts})")
        if shares is not None and not (shares.shape == (parts,) and (shares > 0).all()):
            raise ValueError(f"shares must be {parts} numbers above 0")
        if parts == 1:
            return np.zeros(count, dtype=np.int32)
        pymetis = _pymetis()
        options = pymetis.Options()
        if imbalance is not None:
            options.ufactor = round(1000 * imbalance)
        native = pymetis.zero_copy_dtype()
        columns = (self.starts, self.neighbours, self.vertex_weights, self.edge_weights)
        starts, neighbours, vweights, eweights = (c.astype(native, copy=False) for c in columns)
        try:
            with _stdout_silenced():
                cut, part_of = pymetis.part_graph(
                    parts,
                    pymetis.CSRAdjacency(starts, neighbours),
                    vweights=vweights,
                    eweights=eweights,
                    tpwgts=None if shares is None else (shares / shares.sum()).tolist(),
                    recursive=recursive,  # pymetis would bisect for up to 8 parts if it were None
                    options=options,
                )
        except RuntimeError as error:
            raise PlacementError(f"METIS failed: {error}") from None
        assigned = np.asarray(part_of, dtype=np.int32)
        self._recheck(assigned, cut, parts)
        return assigned

    def _recheck(self, assigned: Integers, cut: int, parts: int) -> None:
        count = len(self.vertex_weights)
        if assigned.shape != (count,) or assigned.min() < 0 or assigned.max() >= parts:
            raise PlacementError("METIS returned parts that do not exist")
        is_cut = assigned[self._end_of] != assigned[self.neighbours]
        if self.edge_weights[is_cut].sum() != 2 * cut:
            raise PlacementError(f"METIS reported a cut of {cut}, which does not match its parts")


@cache
def _pymetis() -> Any:
    """Return the library, which is heavy."""
    with work_clock.loading():
        import pymetis  # noqa: PLC0415 - heavy
    return pymetis


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)


@contextmanager
def _stdout_silenced() -> Iterator[None]:
    """Discard what C code writes to stdout, where METIS prints its warnings."""
    with _ONE_AT_A_TIME:
        sys.stdout.flush()
        libc = _libc()
        libc.fflush(None)
        kept = os.dup(1)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, 1)
            yield
        finally:
            libc.fflush(None)
            os.dup2(kept, 1)
            os.close(nowhere)
            os.close(kept)


def published_weights(quotient: Quotient) -> WeightedGraph:
    """Return a quotient graph with the published weights, rounded to integers."""
    return WeightedGraph(
        quotient.source,
        quotient.target,
        vertex_weights(quotient.load),
        edge_weights(quotient.traffic),
    )


def cut(
    problem: Problem,
    graph: WeightedGraph,
    parts: int,
    *,
    recursive: bool,
    imbalance: float | None = None,
) -> Ints:
    """Return the part of each vertex, (N,), sized by the capacities of the fastest devices.

    `WeightedGraph.partition` has the other arguments.
    """
    capacity = problem.cluster.capacity[problem.cluster.fastest_first[:parts]]
    equal = capacity[0] == capacity[-1]
    shares = None if equal else capacity / capacity.sum()
    made = graph.partition(parts, shares, recursive=recursive, imbalance=imbalance)
    return made.astype(np.int32, copy=False)


def vertex_weights(load: Floats) -> NDArray[np.int64]:
    """Return integer vertex weights in proportion to `load`, (G,); all 1 if there is no load."""
    if not load.any():
        return np.ones(len(load), dtype=np.int64)
    load = _large_enough(load)
    return _bound_weights(np.rint(load * max(1.0, MIN_MEAN / load.mean())))


def edge_weights(traffic: Floats) -> NDArray[np.int64]:
    """Return traffic in kbit per source tuple, at least 1; scaled up if all would round to 1."""
    weights = _large_enough(traffic) / TRAFFIC_UNIT_BITS
    largest = weights.max(initial=0.0)
    # All edges would get the same weight, and the cut would ignore traffic.
    if 0.0 < largest < 1.0:
        weights = weights * (TRAFFIC_UNIT_BITS / largest)
    return _bound_weights(np.maximum(1.0, np.rint(weights)))


def _large_enough(weights: Floats) -> Floats:
    """Return the weights, scaled up in proportion if they are too small to divide by."""
    largest = weights.max(initial=0.0)
    if not 0.0 < largest < TINY:
        return weights
    # by a power of two, because old versions of NumPy overflow when dividing by subnormal numbers
    scaled: Floats = np.ldexp(weights, -np.frexp(largest)[1])
    return scaled


def _bound_weights(weights: Floats) -> NDArray[np.int64]:
    """Return integer weights whose sum METIS can hold; weights of at least 1 stay at least 1."""
    total = weights.sum()
    if total > LARGEST_SUM:
        shrunk = np.floor(weights * (LARGEST_SUM / 2 / total))
        weights = np.maximum(np.minimum(weights, 1.0), shrunk)
    return weights.astype(np.int64)
