"""The part of a simulation that depends on the graph alone."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.engine.canonical_order import canonical_order
from sim.flow import Floats, Flow, Ints, by_operator
from sim.jit import kernel

MOST_TRACKED = 16  # largest number of sources whose tuples are tracked separately


class Places(NamedTuple):
    """The internal order of operators (by depth) and streams (by target).

    Upstream operators come first, and entries used together are close in memory.
    """

    operator: Ints  # (V,) flow's operator at each place
    stream: Ints  # (E,) flow's stream at each place
    of_operator: Ints  # (V,) place of each of the flow's operators
    of_stream: Ints  # (E,) place of each of the flow's streams

    @classmethod
    def of(cls, flow: Flow) -> "Places":
        """Return the places of a flow's operators and streams."""
        operator = canonical_order(flow)
        of_operator = _inverse(operator)
        ends = (of_operator[flow.source], of_operator[flow.target])
        stream = np.lexsort(ends).astype(np.int32)
        return cls(operator, stream, of_operator, _inverse(stream))

    def arranged(self, flow: Flow) -> Flow:
        """Return the flow with operators and streams in their places."""
        return replace(
            flow,
            source_tuples=flow.source_tuples[self.operator],
            instructions=flow.instructions[self.operator],
            operator_cores=flow.operator_cores[self.operator],
            source=self.of_operator[flow.source][self.stream],
            target=self.of_operator[flow.target][self.stream],
            selectivity=flow.selectivity[self.stream],
            bits=flow.bits[self.stream],
            timed=flow.timed[self.operator] if len(flow.timed) else flow.timed,
        )


class Wiring(NamedTuple):
    """The connections of a flow in its `Places`, with V operators, E streams and S sources.

    The streams into an operator are contiguous. Up to `MOST_TRACKED` sources are tracked.
    """

    first_in: Ints  # (V + 1,) index of each operator's first input
    first_out: Ints  # (V + 1,) index of each operator's first output in `out_stream`
    out_stream: NDArray[np.uint32]  # (E,) streams by source
    sources: Ints
    source_of: Ints  # (V,) number among the sources, or -1
    sinks: Ints
    sink_of: Ints  # (V,) number among the sinks, or -1
    carried: Floats  # (E, S) share of the paths from each source to the target that use the stream
    path_weight: Floats  # (sinks, S) share of each source's paths to sinks that end at the sink


def wire(flow: Flow) -> Wiring:
    """Return the wiring of a flow in its places."""
    first_in, _ = by_operator(flow.target, flow.operators)
    first_out, out_stream = by_operator(flow.source, flow.operators)
    sources = np.flatnonzero(np.diff(first_in) == 0).astype(np.int32)
    sinks = flow.sinks
    tracked = sources if len(sources) <= MOST_TRACKED else sources[:0]
    paths = _log_paths(flow, tracked)
    with np.errstate(invalid="ignore"):  # -inf - -inf if neither end is reached
        carried = np.exp(paths[flow.source] - paths[flow.target])
        ending = np.exp(paths[sinks] - paths[sinks].max(axis=0, initial=-np.inf))
    ending = np.nan_to_num(ending)
    return Wiring(
        first_in=first_in,
        first_out=first_out,
        out_stream=out_stream.astype(np.uint32),
        sources=sources,
        source_of=_number(sources, flow.operators),
        sinks=sinks,
        sink_of=_number(sinks, flow.operators),
        carried=np.nan_to_num(carried),
        path_weight=ending / np.maximum(ending.sum(axis=0), 1e-300),
    )


def _inverse(order: Ints) -> Ints:
    inverse = np.empty_like(order)
    inverse[order] = np.arange(len(order), dtype=order.dtype)
    return inverse


def _number(some: Ints, operators: int) -> Ints:
    number = np.full(operators, -1, np.int32)
    number[some] = np.arange(len(some), dtype=np.int32)
    return number


def _log_paths(flow: Flow, sources: Ints) -> Floats:
    """Return the logarithm of the number of paths from each source to each operator, (V, S)."""
    paths = np.full((flow.operators, len(sources)), -np.inf)
    paths[sources, np.arange(len(sources))] = 0.0
    _run_down(paths, flow.source, flow.target)
    return paths


@kernel
def _run_down(paths: NDArray[np.float64], source: Ints, target: Ints) -> None:
    for e in range(source.shape[0]):
        for s in range(paths.shape[1]):
            a, b = paths[target[e], s], paths[source[e], s]
            if a < b:
                a, b = b, a
            if b > -np.inf:
                a += np.log1p(np.exp(b - a))
            paths[target[e], s] = a
