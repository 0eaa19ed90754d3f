"""Checks around pymetis, which ends the process on invalid graphs.

pymetis also ends the process when the sum of the weights overflows its integers.
"""

import ctypes
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from sim import work_clock
from streamplace.errors import PlacementError

Integers = NDArray[np.integer]

LARGEST_SUM = 2**30  # because some builds of METIS sum weights in 32-bit integers

_ONE_AT_A_TIME = threading.Lock()  # because stdout is shared by the whole process


def partition(
    source: Integers,
    target: Integers,
    vertex_weights: NDArray[np.int64],
    edge_weights: NDArray[np.int64],
    shares: NDArray[np.float64] | None,
    parts: int,
    *,
    recursive: bool,
) -> Integers:
    """Return the part, 0..parts-1, of each of the N vertices.

    Parameters
    ----------
    source, target
        (Q,) ends of edges in any direction; repeated edges are summed.
    vertex_weights, edge_weights
        (N,), each at least 0, and (Q,), each at least 1. The sum of each is at most `LARGEST_SUM`.
    shares
        (parts,) share of the vertex weight that each part should get; None: equal shares.
    parts
        Number of parts, 1 to N.

    Raises
    ------
    ValueError
        If an argument is out of range: METIS would end the process or return nonsense.
    PlacementError
        If METIS fails, or its result is inconsistent.
    """
    count = len(vertex_weights)
    if not 1 <= parts <= count:
        raise ValueError(f"parts must be 1 to {count} (got {parts})")
    if vertex_weights.min() < 0 or edge_weights.min(initial=1) < 1:
        raise ValueError("vertex weights must be at least 0, edge weights at least 1")
    for column in (vertex_weights, edge_weights):
        if column.sum(dtype=np.float64) > LARGEST_SUM:
            raise ValueError(f"weights must add up to at most {LARGEST_SUM:,}")
    if shares is not None and not (shares.shape == (parts,) and (shares > 0).all()):
        raise ValueError(f"shares must be {parts} numbers above 0")
    if parts == 1:
        return np.zeros(count, dtype=np.int32)
    starts, neighbours, weights = symmetric(count, source, target, edge_weights)
    with work_clock.loading():
        import pymetis  # noqa: PLC0415 - heavy

    native = pymetis.zero_copy_dtype()
    try:
        with _stdout_silenced():
            cut, part_of = pymetis.part_graph(
                parts,
                pymetis.CSRAdjacency(starts.astype(native), neighbours.astype(native)),
                vweights=vertex_weights.astype(native),
                eweights=weights.astype(native),
                tpwgts=None if shares is None else (shares / shares.sum()).tolist(),
                recursive=recursive,
            )
    except RuntimeError as error:
        raise PlacementError(f"METIS failed: {error}") from None
    assigned = np.asarray(part_of, dtype=np.int32)
    _recheck(assigned, cut, parts, starts, neighbours, weights)
    return assigned


def symmetric(
    count: int, source: Integers, target: Integers, weights: Integers
) -> tuple[Integers, Integers, Integers]:
    """Return the symmetric graph as CSR: starts (N + 1,), neighbours and weights (2Q',)."""
    if not (len(source) == len(target) == len(weights)):
        raise ValueError("source, target and edge weights must have the same length")
    a, b = np.concatenate([source, target]), np.concatenate([target, source])
    if len(a) and not (a.min() >= 0 and a.max() < count and (a != b).all()):
        raise ValueError("an edge has an unknown vertex, or joins a vertex to itself")
    pairs, which = np.unique(a.astype(np.int64) * count + b, return_inverse=True)
    summed = np.bincount(which, weights=np.tile(weights, 2), minlength=len(pairs))
    starts = np.searchsorted(pairs // max(count, 1), np.arange(count + 1))
    return starts, pairs % max(count, 1), summed.astype(np.int64)


def _recheck(
    assigned: Integers,
    cut: int,
    parts: int,
    starts: Integers,
    neighbours: Integers,
    weights: Integers,
) -> None:
    count = len(starts) - 1
    if assigned.shape != (count,) or assigned.min() < 0 or assigned.max() >= parts:
        raise PlacementError("METIS returned parts that do not exist")
    ends = np.repeat(assigned, np.diff(starts))
    if weights[ends != assigned[neighbours]].sum() != 2 * cut:
        raise PlacementError(f"METIS reported a cut of {cut}, which does not match its parts")


@contextmanager
def _stdout_silenced() -> Iterator[None]:
    """Discard what C code writes to stdout, where METIS prints its warnings."""
    with _ONE_AT_A_TIME:
        sys.stdout.flush()
        libc = ctypes.CDLL(None)
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
