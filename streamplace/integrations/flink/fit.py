"""Estimates of a Flink job's numbers from recorded counters, without a server."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np

from streamplace.integrations.flink.plan import RunningPlan, Vertex
from streamplace.integrations.profiling.counters import Counters, Reading, usable_readings
from streamplace.integrations.profiling.estimates import (
    Estimate,
    or_exact,
    or_unknown,
    slope,
    solve_flows,
    sum_of,
)
from streamplace.integrations.profiling.profile import OperatorProfile, Profile, StreamProfile
from streamplace.problem.graph import Stream
from streamplace.problem.logical import Distribution, LogicalGraph
from streamplace.util.arrays import Floats

NEVER_IDLE = 0.95  # share of time busy or under backpressure; above it, a source may be blocked
BACKPRESSURED = 0.05  # share of time under backpressure; above it, a rate is only a bound
BUFFER_WEIGHT = 1e-4  # bytes sent are counted by whole buffers; bytes received are exact
MS_PER_S = 1000.0
TOO_FEW = "the server's metrics changed fewer than two times; increase --seconds"
CHAINED = "chained: Flink does not measure {} inside a chain; profile with chaining off"
BLOCKING = "at most: the source is never idle, so it may be blocked; set this in --costs"
ABSENT = "the server did not report it"
MIXED = "the counters cannot distinguish it from other streams"


def fit(plan: RunningPlan, readings: Sequence[Reading], mips: float) -> Profile:
    """Return a job's profile, estimated from readings of its counters.

    Parameters
    ----------
    mips
        Speed of a core that a subtask runs on, million instructions per second.
    """
    growth = _Growth(plan, usable_readings(readings))
    graph = plan.logical.graph
    streams = _streams(growth)
    operators = [
        OperatorProfile(
            name,
            growth.per_second(growth.processed(name)),
            _instructions(growth, name, mips),
            _payload(growth, name),
        )
        for name in graph.names
    ]
    rate, shares = _source_rate(growth)
    filled = graph.with_numbers(
        instructions=[or_unknown(operator.instructions) for operator in operators],
        payload_bytes=[or_unknown(operator.payload_bytes) for operator in operators],
        instructions_se=[or_exact(operator.instructions) for operator in operators],
        payload_bytes_se=[or_exact(operator.payload_bytes) for operator in operators],
        selectivity=[or_unknown(stream.selectivity) for stream in streams],
        selectivity_se=[or_exact(stream.selectivity) for stream in streams],
        stream_payload_bytes=[or_unknown(stream.payload_bytes) for stream in streams],
        source_rate=rate.known,
        source_shares=shares,
    )
    logical = plan.logical.with_graph(*filled)
    return Profile(logical, rate, operators, streams, growth.intervals, float(np.sum(growth.dt)))


@dataclass(frozen=True)
class _Growth:
    """Increase of every counter in each of the n intervals; nan where a counter is missing."""

    plan: RunningPlan
    readings: Sequence[Reading]

    @cached_property
    def intervals(self) -> int:
        return max(len(self.readings) - 1, 0)

    @cached_property
    def dt(self) -> Floats:
        return np.diff([reading.at_s for reading in self.readings]) if self.intervals else NOTHING

    @cached_property
    def vertex_of(self) -> dict[str, Vertex]:
        return {name: vertex for vertex in self.plan.vertices for name in vertex.operators}

    @cached_property
    def outer(self) -> list[int]:
        """Indices of the streams between vertices."""
        return [e for e, s in enumerate(self.logical.graph.streams) if not self.is_inner(s)]

    @property
    def logical(self) -> LogicalGraph:
        return self.plan.logical

    @cached_property
    def sources(self) -> set[str]:
        return {self.logical.graph.names[v] for v in self.logical.graph.sources}

    def is_inner(self, stream: Stream) -> bool:
        return self.vertex_of[stream.source] is self.vertex_of[stream.target]

    def vertex_counter(self, vertex: Vertex, counter: str) -> Floats:
        return self._increase(lambda reading: reading.vertices.get(vertex.id), counter)

    def operator_counter(self, operator: str, counter: str) -> Floats:
        return self._increase(lambda reading: reading.operators.get(operator), counter)

    def _increase(self, of: Callable[[Reading], Counters | None], counter: str) -> Floats:
        if not self.intervals:
            return NOTHING
        values = [getattr(of(reading) or Counters(), counter) for reading in self.readings]
        return np.diff(np.array([np.nan if each is None else each for each in values]))

    def processed(self, operator: str) -> Floats:
        """Return the tuples (n,) that an operator processed; a source processes what it emits."""
        vertex = self.vertex_of[operator]
        if operator in self.sources:
            emitted = self.operator_counter(operator, "records_out")
            alone = len(vertex.operators) == 1
            return (
                self.vertex_counter(vertex, "records_out")
                if alone and _all_missing(emitted)
                else emitted
            )
        if operator == vertex.operators[0]:
            return self.vertex_counter(vertex, "records_in")
        return self.operator_counter(operator, "records_in")

    def per_second(self, increase: Floats) -> Estimate:
        return self.ratio(increase, self.dt)

    def ratio(self, y: Floats, x: Floats) -> Estimate:
        """Return the slope of y over x in the intervals where both are known."""
        if not self.intervals:
            return Estimate.missing(TOO_FEW)
        both = np.isfinite(y) & np.isfinite(x)
        if not both.any():
            return Estimate.missing(ABSENT)
        return slope(y[both], x[both])

    @cached_property
    def tuples(self) -> dict[int, Floats]:
        """Stream -> its tuples (n,); streams that the counters do not determine are absent."""
        rows = [*self._received("records_in"), *self._sent()]
        found = self._flows(rows)
        for e, stream in enumerate(self.logical.graph.streams):
            if self.is_inner(stream):
                found[e] = self.operator_counter(stream.target, "records_in")
        return found

    @cached_property
    def bytes(self) -> dict[int, Floats]:
        """Stream -> its bytes (n,); see `tuples`."""
        rows = list(self._received("bytes_in"))
        for vertex in self.plan.vertices:
            outgoing = [e for e in self.outer if self._source(e) in vertex.operators]
            if outgoing:
                terms = [(e, self._copies(e)) for e in outgoing]
                rows.append((terms, self.vertex_counter(vertex, "bytes_out"), BUFFER_WEIGHT))
        return self._flows(rows)

    def _received(self, counter: str) -> list["_Row"]:
        rows: list[_Row] = []
        for vertex in self.plan.vertices:
            incoming = [e for e in self.outer if self._target(e) == vertex.operators[0]]
            if incoming:
                terms = [(e, self._copies(e)) for e in incoming]
                rows.append((terms, self.vertex_counter(vertex, counter), 1.0))
        return rows

    def _sent(self) -> list["_Row"]:
        """Return the sums of tuples sent by vertices and operators.

        Flink counts a tuple once even if its operator sends it on several streams, so vertices with
        such operators are left out.
        """
        rows: list[_Row] = []
        streams = self.logical.graph.streams
        counts: dict[str, int] = {}
        for stream in streams:
            counts[stream.source] = counts.get(stream.source, 0) + 1
        for vertex in self.plan.vertices:
            outgoing = [e for e in self.outer if self._source(e) in vertex.operators]
            if not outgoing or any(counts[self._source(e)] > 1 for e in outgoing):
                continue
            rows.append(
                ([(e, 1.0) for e in outgoing], self.vertex_counter(vertex, "records_out"), 1.0)
            )
            if len(vertex.operators) > 1:
                for e in outgoing:
                    emitted = self.operator_counter(self._source(e), "records_out")
                    rows.append(([(e, 1.0)], emitted, 1.0))
        return rows

    def _flows(self, rows: Sequence["_Row"]) -> dict[int, Floats]:
        known = [row for row in rows if not _all_missing(row[1])]
        if not known or not self.outer:
            return {}
        position = {e: i for i, e in enumerate(self.outer)}
        complete = np.all([np.isfinite(values) for _, values, _ in known], axis=0)
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
                found[e][complete] = flows[i]
        return found

    def _copies(self, e: int) -> float:
        """Return the number of copies of each tuple that arrive on a stream."""
        ends = self._source(e), self._target(e)
        distributions = self.logical.distributions.get(ends, ())
        copied = Distribution.BROADCAST in distributions
        return float(self.vertex_of[ends[1]].parallelism) if copied else 1.0

    def _source(self, e: int) -> str:
        return self.logical.graph.streams[e].source

    def _target(self, e: int) -> str:
        return self.logical.graph.streams[e].target


_Row = tuple[Sequence[tuple[int, float]], Floats, float]
"""A sum of flows: [(stream, factor), …], the sum in each interval (n,), its weight."""
NOTHING: Floats = np.zeros(0)


def _streams(growth: _Growth) -> list[StreamProfile]:
    found = []
    for e, stream in enumerate(growth.logical.graph.streams):
        tuples, sizes = growth.tuples.get(e), growth.bytes.get(e)
        if not growth.intervals:
            selectivity = payload = Estimate.missing(TOO_FEW)
        elif tuples is None:
            selectivity = payload = Estimate.missing(MIXED)
        else:
            selectivity = growth.ratio(tuples, growth.processed(stream.source))
            if growth.is_inner(stream):
                payload = Estimate.missing(CHAINED.format("bytes"))
            elif sizes is None:
                payload = Estimate.missing(MIXED)
            else:
                payload = growth.ratio(sizes, tuples)
        found.append(StreamProfile(stream.source, stream.target, selectivity, payload))
    return found


def _payload(growth: _Growth, operator: str) -> Estimate:
    """Return the bytes per tuple that an operator emits, over all its streams."""
    outgoing = [e for e, s in enumerate(growth.logical.graph.streams) if s.source == operator]
    if not outgoing:
        return Estimate(0.0, 0.0)
    if any(growth.is_inner(growth.logical.graph.streams[e]) for e in outgoing):
        return Estimate.missing(CHAINED.format("bytes"))
    if not growth.intervals:
        return Estimate.missing(TOO_FEW)
    if any(e not in growth.tuples or e not in growth.bytes for e in outgoing):
        return Estimate.missing(MIXED)
    tuples, sizes = (
        np.sum([of[e] for e in outgoing], axis=0) for of in (growth.tuples, growth.bytes)
    )
    return growth.ratio(sizes, tuples)


def _instructions(growth: _Growth, operator: str, mips: float) -> Estimate:
    """Return instructions per tuple: busy time per tuple times the speed."""
    vertex = growth.vertex_of[operator]
    if len(vertex.operators) > 1:
        return Estimate.missing(CHAINED.format("busy time"))
    busy = growth.vertex_counter(vertex, "busy_ms")
    found = growth.ratio(busy, growth.processed(operator)).times(mips * 1e6 / MS_PER_S)
    if operator not in growth.sources or found.value is None:
        return found
    not_idle = busy + np.nan_to_num(growth.vertex_counter(vertex, "backpressured_ms"))
    share = growth.ratio(not_idle, growth.dt * MS_PER_S * vertex.parallelism).value
    if share is not None and share >= NEVER_IDLE:
        return Estimate(found.value, None, "bound", BLOCKING)
    return found


def _source_rate(growth: _Growth) -> tuple[Estimate, dict[str, float] | None]:
    """Return the tuples/s of all sources, and the measured share of each.

    A source under backpressure emits less than the offered rate, so the rate is then a lower bound.
    """
    rates, bound_reason = {}, ""
    for name in sorted(growth.sources):
        rates[name] = growth.per_second(growth.processed(name))
        vertex = growth.vertex_of[name]
        backpressured = growth.vertex_counter(vertex, "backpressured_ms")
        share = growth.ratio(backpressured, growth.dt * MS_PER_S * vertex.parallelism).value or 0.0
        if share > BACKPRESSURED:
            bound_reason = f"at least: {name!r} is under backpressure {share:.0%} of the time"
            if len(growth.sources) > 1:
                bound_reason += "; the sources' shares are as measured"
    values = {name: rate.value for name, rate in rates.items() if rate.value is not None}
    if len(values) < len(rates):
        return next(rate for rate in rates.values() if rate.value is None), None
    total = sum_of(values.values())
    if total <= 0:
        return Estimate.missing("no tuples arrived during the measurement"), None
    errors = [rate.error for rate in rates.values()]
    known = [error for error in errors if error is not None]
    error = sqrt(sum_of(e * e for e in known)) if len(known) == len(errors) else None
    shares = {name: value / total for name, value in values.items()}
    if bound_reason:
        return Estimate(total, None, "bound", bound_reason), shares
    return Estimate(total, error), shares


def _all_missing(increase: Floats) -> bool:
    return not np.isfinite(increase).any()
