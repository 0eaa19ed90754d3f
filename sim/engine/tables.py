"""Tables of a simulation that do not depend on the placement: operators, streams, arrivals.

Floating-point sums depend on the order of their terms, and under backpressure a run can amplify a
difference in the last digit. A canonical order makes the result independent of the numbering.
"""

from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.engine import records
from streamplace.sim.engine.records import Records, blank
from streamplace.sim.engine.scene import Scene
from streamplace.sim.engine.snapshots import Order
from streamplace.sim.flow import Floats, Flow, Ints, by_operator
from streamplace.sim.jit import kernel
from streamplace.sim.orders import depths

Hashes = NDArray[np.uint64]
# Distance in streams up to which the hash distinguishes operators; then order decides. A guess.
ROUNDS = 8
# Largest number of sources whose tuples are tracked separately: a number per set for each.
MOST_TRACKED = 16


def canonical_order(flow: Flow) -> Ints:
    """Return the operators level by level, (V,): by depth, then in the order of their inputs.

    Operators with the same first input are ordered by a hash of themselves and their neighbourhood
    (Weisfeiler and Leman 1968), and by number only if their hashes are equal.
    """
    depth = depths(flow)
    order = np.lexsort((_hashes(flow), depth)).astype(np.int32)
    levels = np.searchsorted(depth[order], np.arange(int(depth.max()) + 2)).astype(np.int32)
    first, stream = by_operator(flow.target, flow.operators)
    _follow_inputs(order, levels, first, flow.source[stream])
    return order


def _hashes(flow: Flow) -> Hashes:
    """Return a hash of every operator, (V,)."""
    own = _bits(flow.instructions) ^ _mixed(_bits(flow.source_tuples))
    own = _mixed(own ^ _mixed(_bits(flow.operator_cores - 1.0)))  # one core does not change hashes
    timed = np.flatnonzero(flow.timed >= 0)
    for column in flow.timed_instructions.T:
        own[timed] = _mixed(own[timed] ^ _bits(column[flow.timed[timed]]))
    stream = _mixed(_bits(flow.selectivity) ^ _mixed(_bits(flow.bits)))
    for _ in range(ROUNDS):
        above, below = np.zeros_like(own), np.zeros_like(own)
        np.add.at(above, flow.target, _mixed(own[flow.source] ^ stream))
        np.add.at(below, flow.source, _mixed(own[flow.target] + stream))
        own = _mixed(own ^ _mixed(above) ^ _mixed(below + np.uint64(1)))
    return own


def _bits(numbers: NDArray[np.float64]) -> Hashes:
    return np.ascontiguousarray(numbers + 0.0).view(np.uint64)  # turns -0 into 0


def _mixed(x: Hashes) -> Hashes:
    """Return x with its bits mixed by the finaliser of splitmix64 (Steele, Lea and Flood 2014)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))


@kernel
def _follow_inputs(order: Ints, levels: Ints, first: Ints, source: Ints) -> None:
    """Sort the operators of every level but the first by the earliest of their inputs."""
    place = np.empty(order.shape[0], np.int32)
    for level in range(levels.shape[0] - 1):
        begin, end = levels[level], levels[level + 1]
        if level > 0:
            members = order[begin:end].copy()
            earliest = np.empty(end - begin, np.int32)
            for i in range(end - begin):
                v = members[i]
                earliest[i] = order.shape[0]
                for k in range(first[v], first[v + 1]):
                    earliest[i] = min(earliest[i], place[source[k]])
            sorted_ = np.argsort(earliest, kind="mergesort")
            for i in range(end - begin):
                order[begin + i] = members[sorted_[i]]
        for i in range(begin, end):
            place[order[i]] = i


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


class Tables:
    """The tables of a flow of V operators and E streams.

    Parameters
    ----------
    flow
        The flow in the order of `places`.
    scene
        Its operators are those of the flow outside.
    """

    def __init__(self, flow: Flow, places: Places, wiring: Wiring, scene: Scene) -> None:
        self.flow, self.places, self.wiring, self.scene = flow, places, wiring, scene

    @property
    def tracks_sources(self) -> bool:
        """Whether tuples at sinks are tracked by source."""
        return len(self.wiring.sources) <= MOST_TRACKED

    @cached_property
    def operators(self) -> Records:
        """The operators before the first tick, (V,)."""
        made, wiring = blank(records.OPERATOR, self.flow.operators), self.wiring
        made["source"], made["sink"] = wiring.source_of, wiring.sink_of
        made["first_in"], made["inputs"] = wiring.first_in[:-1], np.diff(wiring.first_in)
        made["first_out"], made["outputs"] = wiring.first_out[:-1], np.diff(wiring.first_out)
        made["window"] = -1
        windowed = self.places.of_operator[list(self.scene.windows)]
        made["window"][windowed] = np.arange(len(self.scene.windows))
        made["arrival"][wiring.sinks] = np.cumsum(self._columns) - self._columns
        return made

    @cached_property
    def streams(self) -> Records:
        """The streams before the first tick, (E,)."""
        made = blank(records.STREAM, len(self.flow.source))
        made["selectivity"] = self.flow.selectivity
        return made

    @cached_property
    def arrivals(self) -> Records:
        """The columns of arrivals at sinks: one per input, or one for a sink that is a source."""
        made = blank(records.ARRIVAL, int(self._columns.sum()))
        made["operator"] = np.repeat(self.wiring.sinks, self._columns)
        return made

    @cached_property
    def ends(self) -> tuple[Ints, Ints]:
        """The sink's number and the flow's stream index, or -1, of each arrival column."""
        sinks = self.wiring.sink_of[self.arrivals["operator"]]
        made = np.full(len(self.arrivals), -1, np.int32)
        for v in self.wiring.sinks.tolist():
            row = self.operators[v]
            first, column, count = (int(row[n]) for n in ("first_in", "arrival", "inputs"))
            made[column : column + count] = self.places.stream[first : first + count]
        return np.argsort(self.order.sinks).astype(np.int32)[sinks], made

    @cached_property
    def order(self) -> Order:
        """Where operators, streams, sources and sinks of the flow outside are in the tables."""
        of_source, of_sink = (
            np.argsort(self.places.operator[ends]).astype(np.int32)
            for ends in (self.wiring.sources, self.wiring.sinks)
        )
        tracked = of_source if self.tracks_sources else of_source[:0]
        return Order(self.places.of_operator, self.places.of_stream, of_source, of_sink, tracked)

    def queues(self, expected: Floats, queue: float, tick_s: float) -> Floats:
        """Return the largest number of tuples that may wait on each stream, (E,).

        A stream's queue is smaller than that of the operator's busiest input in proportion to the
        expected rate, but has room for bursts: two ticks at the peak rate, and twice the output of
        a window.

        Parameters
        ----------
        expected
            (E,) expected tuples/s.
        queue
            Longest queue of an operator's busiest input; 0: unlimited.
        """
        if queue == 0:
            return np.full(len(expected), np.inf)
        target = self.flow.target
        busiest = np.zeros(self.flow.operators)
        np.maximum.at(busiest, target, expected)
        share = np.divide(expected, busiest[target], out=np.ones(len(target)), where=expected > 0)
        peak = max([1.0, *(max(p.factor) for p in self.scene.profiles.values())])
        at_once = 2.0 * peak * expected * self._gathering_s(tick_s)[self.flow.source]
        return np.minimum(queue, np.maximum(share * queue, at_once))

    def _gathering_s(self, tick_s: float) -> Floats:
        """Return the seconds for which each operator's output may be gathered, (V,)."""
        longest = np.full(self.flow.operators, tick_s)
        for v, window in self.scene.windows.items():
            longest[self.places.of_operator[v]] = window.advance_s
        if self.scene.windows:
            streams = zip(self.flow.source.tolist(), self.flow.target.tolist(), strict=True)
            for v, w in streams:
                longest[w] = max(longest[w], longest[v])
        return longest

    @cached_property
    def _columns(self) -> NDArray[np.int64]:
        """(sinks,) number of arrival columns: one per input, or one for a sink that is a source."""
        return np.maximum(np.diff(self.wiring.first_in)[self.wiring.sinks].astype(np.int64), 1)
