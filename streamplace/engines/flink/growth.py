"""Increases of a Flink job's counters between readings, and the flows that follow from them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from streamplace.engines.flink.plan import RunningPlan, Vertex
from streamplace.formats.profiling.counters import Counters, Reading, increases
from streamplace.formats.profiling.estimates import ROUNDING, Estimate, ratio, solve_flows
from streamplace.problem.graph import Stream
from streamplace.problem.logical import Distribution, LogicalGraph
from streamplace.util.arrays import Floats

BUFFER_WEIGHT = 1e-4  # bytes sent are counted by whole buffers; bytes received are exact
LESSER_WEIGHT = 1e-4  # of tuples received where those sent are wanted, and the reverse
NOTHING: Floats = np.zeros(0)
_Row = tuple[Sequence[tuple[int, float]], Floats, float]
"""A sum of flows: [(stream, factor), …], the sum in each interval (n,), its weight."""


@dataclass(frozen=True)
class Growth:
    """Increase of every counter in each of the n intervals; nan where a counter is missing."""

    plan: RunningPlan
    readings: Sequence[Reading]

    @cached_property
    def intervals(self) -> int:
        """The number of intervals."""
        return max(len(self.readings) - 1, 0)

    @cached_property
    def dt(self) -> Floats:
        """Seconds of each interval, (n,)."""
        return np.diff([reading.at_s for reading in self.readings]) if self.intervals else NOTHING

    @cached_property
    def vertex_of(self) -> dict[str, Vertex]:
        """Operator -> its vertex."""
        return self.plan.vertex_of

    @cached_property
    def streams(self) -> tuple[Stream, ...]:
        """The streams of the graph, which makes each when it is asked for."""
        return tuple(self.logical.graph.streams)

    @cached_property
    def outer(self) -> list[int]:
        """Indices of the streams between vertices."""
        return [e for e, stream in enumerate(self.streams) if not self.is_inner(stream)]

    @property
    def logical(self) -> LogicalGraph:
        """The job's graph."""
        return self.plan.logical

    @cached_property
    def sources(self) -> frozenset[str]:
        """The operators without inputs."""
        return self.plan.sources

    def is_inner(self, stream: Stream) -> bool:
        """Return whether a stream is inside a chain."""
        return self.vertex_of[stream.source] is self.vertex_of[stream.target]

    def vertex_counter(self, vertex: Vertex, counter: str) -> Floats:
        """Return the increases, (n,), of a vertex's counter."""
        return self._increase(lambda reading: reading.vertices.get(vertex.id), counter)

    def operator_counter(self, operator: str, counter: str) -> Floats:
        """Return the increases, (n,), of an operator's own counter."""
        return self._increase(lambda reading: reading.operators.get(operator), counter)

    def _increase(self, of: Callable[[Reading], Counters | None], counter: str) -> Floats:
        if not self.intervals:
            return NOTHING
        return increases([of(reading) for reading in self.readings], counter)

    def processed(self, operator: str) -> Floats:
        """Return the tuples (n,) that an operator processed; a source processes what it emits."""
        vertex = self.vertex_of[operator]
        if operator in self.sources:
            emitted = self.operator_counter(operator, "records_out")
            alone = len(vertex.operators) == 1
            return (
                self.vertex_counter(vertex, "records_out")
                if alone and all_missing(emitted)
                else emitted
            )
        if operator == vertex.operators[0]:
            return self.vertex_counter(vertex, "records_in")
        return self._taken_inside(operator)

    def _taken_inside(self, operator: str) -> Floats:
        """Return the tuples (n,) that a member of a chain took from the member that feeds it.

        Members of the same name, such as the two maps before a join of Flink's API, share their
        metrics; then what the other one emits counts.
        """
        own = self.operator_counter(operator, "records_in")
        vertex = self.vertex_of[operator]
        feeding = vertex.chain.parents[vertex.operators.index(operator)]
        if not all_missing(own) or feeding is None:
            return own
        return self.operator_counter(vertex.operators[feeding], "records_out")

    def _emitted(self, operator: str) -> Floats:
        """Return the tuples (n,) that the last operator of a chain emitted.

        Of members of the same name, Flink counts only what the whole vertex emits; they are taken
        to emit equally many for each tuple that they take.
        """
        own = self.operator_counter(operator, "records_out")
        vertex = self.vertex_of[operator]
        names = dict(zip(vertex.operators, vertex.chain.names, strict=True))
        last = [vertex.operators[i] for i in vertex.chain.leaves]
        alike = [each for each, name in names.items() if name == names[operator]]
        if not all_missing(own) or not set(alike) <= set(last):
            return own
        every = np.sum([self._taken_inside(each) for each in alike], axis=0)
        others = [self.operator_counter(e, "records_out") for e in last if e not in alike]
        emitted = self.vertex_counter(vertex, "records_out") - np.sum(others, axis=0)
        shares = self._taken_inside(operator) / np.maximum(every, 1.0)
        return np.asarray(emitted * shares)

    def per_second(self, increase: Floats) -> Estimate:
        """Return the growth of a counter per second."""
        return ratio(increase, self.dt)

    @cached_property
    def sent(self) -> dict[int, Floats]:
        """Stream -> tuples (n,) sent on it; streams that the counters do not determine are absent.

        Tuples received count where nothing else does. While buffers in front of a bottleneck fill,
        which may take minutes, they are fewer.
        """
        return self._tuples(self._received("records_in", LESSER_WEIGHT), self._sent(1.0))

    @cached_property
    def received(self) -> dict[int, Floats]:
        """Stream -> tuples (n,) received from it, as are `bytes`; see `sent`."""
        return self._tuples(self._received("records_in", 1.0), self._sent(LESSER_WEIGHT))

    def _tuples(self, *rows: Iterable["_Row"]) -> dict[int, Floats]:
        found = self._flows([*chain.from_iterable(rows)])
        for e, stream in enumerate(self.streams):
            if self.is_inner(stream):
                found[e] = self._taken_inside(stream.target)
        return found

    @cached_property
    def bytes(self) -> dict[int, Floats]:
        """Stream -> its bytes (n,); see `received`."""
        rows = self._received("bytes_in", 1.0)
        for vertex in self.plan.vertices:
            outgoing = [e for e in self.outer if self._source(e) in vertex.operators]
            if outgoing:
                terms = [(e, self._copies(e)) for e in outgoing]
                rows.append((terms, self.vertex_counter(vertex, "bytes_out"), BUFFER_WEIGHT))
        return self._flows(rows)

    def _received(self, counter: str, weight: float) -> list["_Row"]:
        rows: list[_Row] = []
        for vertex in self.plan.vertices:
            incoming = [e for e in self.outer if self._target(e) == vertex.operators[0]]
            if incoming:
                terms = [(e, self._copies(e)) for e in incoming]
                rows.append((terms, self.vertex_counter(vertex, counter), weight))
        return rows

    def _sent(self, weight: float) -> list["_Row"]:
        """Return the sums of tuples sent by vertices and operators.

        Flink counts a tuple once even if its operator sends it on several streams, so vertices with
        such operators are left out.
        """
        rows: list[_Row] = []
        streams = self.streams
        counts: dict[str, int] = {}
        for stream in streams:
            counts[stream.source] = counts.get(stream.source, 0) + 1
        for vertex in self.plan.vertices:
            outgoing = [e for e in self.outer if self._source(e) in vertex.operators]
            if not outgoing or any(counts[self._source(e)] > 1 for e in outgoing):
                continue
            rows.append(
                ([(e, 1.0) for e in outgoing], self.vertex_counter(vertex, "records_out"), weight)
            )
            if len(vertex.operators) > 1:
                rows += [([(e, 1.0)], self._emitted(self._source(e)), weight) for e in outgoing]
        return rows

    def _flows(self, rows: Sequence["_Row"]) -> dict[int, Floats]:
        known = [row for row in rows if not all_missing(row[1])]
        if not known or not self.outer:
            return {}
        position = {e: i for i, e in enumerate(self.outer)}
        complete = np.all([np.isfinite(values) for _, values, _ in known], axis=0)
        largest = max(np.abs(values[complete]).sum() for _, values, _ in known)
        silent = {e for terms, values, _ in known if not values[complete].any() for e, _ in terms}
        flows, certain = solve_flows(
            [
                ([(position[e], f) for e, f in terms], values[complete], t)
                for terms, values, t in known
            ],
            len(self.outer),
            int(complete.sum()),
        )
        found = {}
        for e, i in position.items():
            if certain[i]:
                found[e] = np.full(self.intervals, np.nan)
                is_rounding = e in silent and np.abs(flows[i]).sum() <= ROUNDING * largest
                found[e][complete] = 0.0 if is_rounding else flows[i]
        return found

    def _copies(self, e: int) -> float:
        """Return the number of copies of each tuple that arrive on a stream."""
        ends = self._source(e), self._target(e)
        distributions = self.logical.distributions.get(ends, ())
        copied = Distribution.BROADCAST in distributions
        return float(self.vertex_of[ends[1]].parallelism) if copied else 1.0

    def _source(self, e: int) -> str:
        return self.streams[e].source

    def _target(self, e: int) -> str:
        return self.streams[e].target


def all_missing(increase: Floats) -> bool:
    return not np.isfinite(increase).any()
