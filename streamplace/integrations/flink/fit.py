"""A job's numbers from readings of its counters: pure functions, no server in sight."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np

from streamplace.integrations.flink.plan import RunningPlan, Vertex
from streamplace.integrations.profiling.counters import Counters, Reading, usable
from streamplace.integrations.profiling.estimates import (
    Estimate,
    balanced,
    or_unknown,
    slope,
    sum_of,
)
from streamplace.integrations.profiling.profile import OperatorProfile, Profile, StreamProfile
from streamplace.problem.graph import Stream
from streamplace.problem.logical import Distribution, LogicalGraph
from streamplace.util.arrays import Floats

NEVER_IDLE = 0.95  # share of its time that a source is busy or held back if it blocks
HELD_BACK = 0.05  # share of its time for which a source waits for others
TRUST_IN_BUFFERS = 1e-4  # bytes sent are counted by whole buffers, bytes received exactly
MS_PER_S = 1000.0
TOO_FEW = "the server's metrics did not change twice: watch for longer than it keeps them"
CHAINED = "chained: Flink counts no {} of its own inside a chain; profile with chaining off"
BLOCKING = "at most: it is never idle, so it may block and not compute; tell it by --costs"
ABSENT = "the server did not tell it"
MIXED = "the counters do not tell it apart from other streams"


def fit(plan: RunningPlan, readings: Sequence[Reading], mips: float) -> Profile:
    """Return what readings of a job's counters tell.

    Parameters
    ----------
    mips
        Million instructions per second of the device that a subtask runs on.
    """
    seen = _Seen(plan, usable(readings))
    graph = plan.job.graph
    streams = _streams(seen)
    operators = [
        OperatorProfile(
            name,
            seen.per_second(seen.processed(name)),
            _instructions(seen, name, mips),
            _payload(seen, name),
        )
        for name in graph.names
    ]
    rate, shares = _source_rate(seen)
    filled = graph.with_numbers(
        instructions=[or_unknown(operator.instructions) for operator in operators],
        payload_bytes=[or_unknown(operator.payload_bytes) for operator in operators],
        selectivity=[or_unknown(stream.selectivity) for stream in streams],
        stream_payload_bytes=[or_unknown(stream.payload_bytes) for stream in streams],
        source_rate=rate.known,
        source_shares=shares,
    )
    job = plan.job.with_graph(*filled)
    return Profile(job, rate, operators, streams, seen.intervals, float(np.sum(seen.dt)))


@dataclass(frozen=True)
class _Seen:
    """How much every counter grew in each of n intervals; nan where a counter is missing."""

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
        """Streams between vertices."""
        return [e for e, s in enumerate(self.job.graph.streams) if not self.is_inner(s)]

    @property
    def job(self) -> LogicalGraph:
        return self.plan.job

    @cached_property
    def sources(self) -> set[str]:
        return {self.job.graph.names[v] for v in self.job.graph.sources}

    def is_inner(self, stream: Stream) -> bool:
        return self.vertex_of[stream.source] is self.vertex_of[stream.target]

    def vertex(self, vertex: Vertex, counter: str) -> Floats:
        return self._grown(lambda reading: reading.vertices.get(vertex.id), counter)

    def own(self, operator: str, counter: str) -> Floats:
        return self._grown(lambda reading: reading.operators.get(operator), counter)

    def _grown(self, of: Callable[[Reading], Counters | None], counter: str) -> Floats:
        if not self.intervals:
            return NOTHING
        told = [getattr(of(reading) or Counters(), counter) for reading in self.readings]
        return np.diff(np.array([np.nan if each is None else each for each in told]))

    def processed(self, operator: str) -> Floats:
        """Return the tuples that an operator processed; for a source those that it emitted."""
        vertex = self.vertex_of[operator]
        if operator in self.sources:
            own = self.own(operator, "records_out")
            alone = len(vertex.operators) == 1
            return self.vertex(vertex, "records_out") if alone and _silent(own) else own
        if operator == vertex.operators[0]:
            return self.vertex(vertex, "records_in")
        return self.own(operator, "records_in")

    def per_second(self, grown: Floats) -> Estimate:
        return self.ratio(grown, self.dt)

    def ratio(self, y: Floats, x: Floats, why: str = "no tuples came in the time") -> Estimate:
        """Return the slope over the intervals in which both are known."""
        if not self.intervals:
            return Estimate.missing(TOO_FEW)
        both = np.isfinite(y) & np.isfinite(x)
        if not both.any():
            return Estimate.missing(ABSENT)
        return slope(y[both], x[both], why)

    @cached_property
    def tuples(self) -> dict[int, Floats]:
        """Stream -> its tuples; those that cannot be told from others are not there."""
        rows = [*self._received("records_in"), *self._sent()]
        found = self._flows(rows)
        for e, stream in enumerate(self.job.graph.streams):
            if self.is_inner(stream):
                found[e] = self.own(stream.target, "records_in")
        return found

    @cached_property
    def bytes(self) -> dict[int, Floats]:
        """Stream -> its bytes; see `tuples`."""
        rows = list(self._received("bytes_in"))
        for vertex in self.plan.vertices:
            leaving = [e for e in self.outer if self._source(e) in vertex.operators]
            if leaving:
                terms = [(e, self._copies(e)) for e in leaving]
                rows.append((terms, self.vertex(vertex, "bytes_out"), TRUST_IN_BUFFERS))
        return self._flows(rows)

    def _received(self, counter: str) -> list["_Row"]:
        rows: list[_Row] = []
        for vertex in self.plan.vertices:
            coming = [e for e in self.outer if self._target(e) == vertex.operators[0]]
            if coming:
                terms = [(e, self._copies(e)) for e in coming]
                rows.append((terms, self.vertex(vertex, counter), 1.0))
        return rows

    def _sent(self) -> list["_Row"]:
        """Return sums of tuples sent; an operator counts a tuple once, whoever it goes to."""
        rows: list[_Row] = []
        streams = self.job.graph.streams
        counts: dict[str, int] = {}
        for stream in streams:
            counts[stream.source] = counts.get(stream.source, 0) + 1
        for vertex in self.plan.vertices:
            leaving = [e for e in self.outer if self._source(e) in vertex.operators]
            if not leaving or any(counts[self._source(e)] > 1 for e in leaving):
                continue
            rows.append(([(e, 1.0) for e in leaving], self.vertex(vertex, "records_out"), 1.0))
            if len(vertex.operators) > 1:
                own = [(e, self.own(self._source(e), "records_out")) for e in leaving]
                rows += [([(e, 1.0)], told, 1.0) for e, told in own]
        return rows

    def _flows(self, rows: Sequence["_Row"]) -> dict[int, Floats]:
        known = [row for row in rows if not _silent(row[1])]
        if not known or not self.outer:
            return {}
        place = {e: i for i, e in enumerate(self.outer)}
        whole = np.all([np.isfinite(told) for _, told, _ in known], axis=0)
        flows, certain = balanced(
            [([(place[e], f) for e, f in terms], told[whole], t) for terms, told, t in known],
            len(self.outer),
            int(whole.sum()),
        )
        found = {}
        for e, i in place.items():
            if certain[i]:
                found[e] = np.full(self.intervals, np.nan)
                found[e][whole] = flows[i]
        return found

    def _copies(self, e: int) -> float:
        """Return in how many copies a tuple of a stream arrives."""
        ends = self._source(e), self._target(e)
        spread = self.job.distributions.get(ends, ())
        copied = Distribution.BROADCAST in spread
        return float(self.vertex_of[ends[1]].parallelism) if copied else 1.0

    def _source(self, e: int) -> str:
        return self.job.graph.streams[e].source

    def _target(self, e: int) -> str:
        return self.job.graph.streams[e].target


_Row = tuple[Sequence[tuple[int, float]], Floats, float]
NOTHING: Floats = np.zeros(0)


def _streams(seen: _Seen) -> list[StreamProfile]:
    found = []
    for e, stream in enumerate(seen.job.graph.streams):
        tuples, weight = seen.tuples.get(e), seen.bytes.get(e)
        if not seen.intervals:
            selectivity = payload = Estimate.missing(TOO_FEW)
        elif tuples is None:
            selectivity = payload = Estimate.missing(MIXED)
        else:
            selectivity = seen.ratio(tuples, seen.processed(stream.source))
            if seen.is_inner(stream):
                payload = Estimate.missing(CHAINED.format("bytes"))
            elif weight is None:
                payload = Estimate.missing(MIXED)
            else:
                payload = seen.ratio(weight, tuples)
        found.append(StreamProfile(stream.source, stream.target, selectivity, payload))
    return found


def _payload(seen: _Seen, operator: str) -> Estimate:
    """Return the bytes of a tuple that an operator emits, over all its streams."""
    leaving = [e for e, s in enumerate(seen.job.graph.streams) if s.source == operator]
    if not leaving:
        return Estimate(0.0, 0.0)
    if any(seen.is_inner(seen.job.graph.streams[e]) for e in leaving):
        return Estimate.missing(CHAINED.format("bytes"))
    if not seen.intervals:
        return Estimate.missing(TOO_FEW)
    if any(e not in seen.tuples or e not in seen.bytes for e in leaving):
        return Estimate.missing(MIXED)
    tuples, weight = (np.sum([of[e] for e in leaving], axis=0) for of in (seen.tuples, seen.bytes))
    return seen.ratio(weight, tuples)


def _instructions(seen: _Seen, operator: str, mips: float) -> Estimate:
    """Return instructions per tuple: busy time per tuple, in instructions."""
    vertex = seen.vertex_of[operator]
    if len(vertex.operators) > 1:
        return Estimate.missing(CHAINED.format("busy time"))
    busy = seen.vertex(vertex, "busy_ms")
    found = seen.ratio(busy, seen.processed(operator)).times(mips * 1e6 / MS_PER_S)
    if operator not in seen.sources or found.value is None:
        return found
    not_idle = busy + np.nan_to_num(seen.vertex(vertex, "backpressured_ms"))
    share = seen.ratio(not_idle, seen.dt * MS_PER_S * vertex.parallelism).value
    if share is not None and share >= NEVER_IDLE:
        return Estimate(found.value, None, "bound", BLOCKING)
    return found


def _source_rate(seen: _Seen) -> tuple[Estimate, dict[str, float] | None]:
    """Return the tuples/s of all sources, and the share of each.

    A source that waits hides the rate; the shares are what they are while it waits.
    """
    rates, waiting = {}, ""
    for name in sorted(seen.sources):
        rates[name] = seen.per_second(seen.processed(name))
        vertex = seen.vertex_of[name]
        held = seen.vertex(vertex, "backpressured_ms")
        share = seen.ratio(held, seen.dt * MS_PER_S * vertex.parallelism).value or 0.0
        if share > HELD_BACK:
            waiting = f"at least: {name!r} is held back {share:.0%} of its time"
            if len(seen.sources) > 1:
                waiting += "; the sources' shares are as measured meanwhile"
    values = {name: rate.value for name, rate in rates.items() if rate.value is not None}
    if len(values) < len(rates):
        return next(rate for rate in rates.values() if rate.value is None), None
    total = sum_of(values.values())
    if total <= 0:
        return Estimate.missing("no tuples came in the time"), None
    errors = [rate.error for rate in rates.values()]
    known = [error for error in errors if error is not None]
    error = sqrt(sum_of(e * e for e in known)) if len(known) == len(errors) else None
    shares = {name: value / total for name, value in values.items()}
    return Estimate(total, None, "bound", waiting) if waiting else Estimate(total, error), shares


def _silent(grown: Floats) -> bool:
    return not np.isfinite(grown).any()
