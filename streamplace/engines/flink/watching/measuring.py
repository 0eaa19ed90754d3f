"""Observations of a job from two samples of its counters."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isnan

from streamplace.control.observation import Observation, Reading
from streamplace.engines.flink.documents import TASK, Subtask
from streamplace.engines.flink.fit import BACKPRESSURED, MS_PER_S, NEVER_IDLE
from streamplace.engines.flink.growth import Growth
from streamplace.engines.flink.plan import Vertex
from streamplace.engines.flink.poll import NOWHERE
from streamplace.engines.flink.states import FINISHED, RUNNING, not_going
from streamplace.engines.flink.watching.sampling import Sample
from streamplace.formats.profiling.counters import Counters
from streamplace.formats.profiling.shares import Row, shares_of, tuples_grown
from streamplace.problem.logical import Distribution
from streamplace.util.arrays import Floats

RESOLUTION_S = 5.0  # idle time and backpressure under way are added to the counters as seldom


def observation(
    before: Sample,
    after: Sample,
    devices: Mapping[str, str],
    weights: Mapping[str, float] | None = None,
) -> Observation:
    """Return what happened between two samples of a job.

    Parameters
    ----------
    devices
        TaskManager -> device, for those that are there.
    weights
        Operator -> work per tuple, in any unit. Flink measures only the busy time of a whole chain
        of operators, which is divided in proportion to the work of its members. Not needed for
        vertices of one operator.
    """
    window = Window(before, after, weights or {})
    missing = [*window.faults(), *_unknown_hosts(after, devices)]
    readings = {} if missing else dict(window.readings())
    read_s = offered_s = waiting = None
    growth_s: dict[str, float] = {}
    hidden = ""
    if not missing:
        read_s, growth_s = sum(map(window.read_s, sorted(after.plan.sources))), window.growth_s()
        if window.sources <= growth_s.keys():
            waiting = sum(after.waiting.values())
        silent = window.sources - growth_s.keys()
        never_idle = window.never_idle(silent)
        hidden = "; ".join([*window.held_back(silent), *never_idle.values()])
        busiest = max(each.busiest for each in readings.values())
        if all(readings[name].busiest < busiest for name in never_idle):
            offered_s = max(read_s + sum(growth_s.values()), 0.0)
    return Observation(
        after.at_s,
        max(window.seconds, 0.0),
        after.job.started_s,
        readings,
        offered_s,
        waiting,
        frozenset(devices.values()),
        dict(_hosts(after, devices)),
        tuple(missing),
        hidden,
        read_s,
        growth_s=growth_s,
        not_timed=dict.fromkeys(window.not_timed, TASK["busy_ms"]),
        groups={name: vertex.group for name, vertex in after.job.vertex_of.items()},
        finished=window.finished,
    )


@dataclass(frozen=True)
class Window:
    """The time between two samples."""

    before: Sample
    after: Sample
    weights: Mapping[str, float]

    @cached_property
    def finished(self) -> dict[str, int]:
        """Operator -> number of its instances that have finished; without those where none has."""
        found = dict[str, int]()
        for vertex in self.after.plan.vertices:
            states = [each.status for each in self.after.subtasks[vertex.id]]
            if FINISHED in states:
                found |= dict.fromkeys(vertex.operators, states.count(FINISHED))
        return found

    @cached_property
    def ended(self) -> frozenset[str]:
        """The operators of which all instances have finished."""
        if not self.finished:
            return frozenset()
        vertex_of = self.after.plan.vertex_of
        rows = self.finished.items()
        return frozenset(name for name, count in rows if count == vertex_of[name].parallelism)

    @cached_property
    def sources(self) -> frozenset[str]:
        """The sources that may still read something."""
        return self.after.plan.sources - self.ended

    @property
    def seconds(self) -> float:
        """Its length."""
        return self.after.at_s - self.before.at_s

    def faults(self) -> Iterator[str]:
        """Yield why the counters cannot be compared."""
        if self.after.job.state != RUNNING:
            yield f"the job is {self.after.job.state}"
            return
        for vertex in self.after.plan.vertices:
            if states := not_going({each.status for each in self.after.subtasks[vertex.id]}):
                yield f"{vertex.operators[0]} does not run: {states}"
        if self._changed():
            yield "the job, or a part of it, was started anew during the window"
            return
        if self.seconds <= 0:
            yield "the server's clock has not moved since the window began"
            return
        if not self.sources:
            yield "all sources have finished"
        for vertex in self.after.plan.vertices:
            if vertex.operators[0] not in self.ended:
                yield from self._faults_of(vertex)

    def _changed(self) -> bool:
        before, after = self.before.subtasks, self.after.subtasks
        if self.before.job.started_s != self.after.job.started_s or before.keys() != after.keys():
            return True
        return any(
            len(before[vertex]) != len(row)
            or any(
                one.host != other.host and other.status != FINISHED
                for one, other in zip(before[vertex], row, strict=True)
            )
            for vertex, row in after.items()
        )

    def _faults_of(self, vertex: Vertex) -> Iterator[str]:
        name = vertex.operators[0]
        pairs = [row for row in self._pairs(vertex) if row[1].status != FINISHED]
        counted = [each.counters for row in pairs for each in row]
        if any(each.records_in is None for each in counted):
            yield f"{name}: Flink reports no metrics"
        elif name not in self.not_timed and any(each.busy_ms is None for each in counted):
            yield f"{name}: Flink reports no {TASK['busy_ms']}"
        elif name not in self.not_timed and all(a.counters == b.counters for a, b in pairs):
            yield f"{name}: the metrics have not changed for {self.seconds:.0f} s"
        elif any(_fell(a.counters, b.counters) for a, b in pairs):
            yield f"{name}: its counters fell, so it was started anew"
        elif any(self._tuples(member, vertex) is None for member in vertex.operators):
            yield f"{name}: Flink does not count the tuples of its chain"
        elif self._is_divided(vertex) and not self._work(vertex) > 0:  # NaN: a cost is unknown
            yield (
                f"{name} is chained with {', '.join(vertex.operators[1:])}, and Flink measures "
                "only their busy time together; state their costs in the graph, or run the job "
                "with pipeline.operator-chaining.enabled: false"
            )

    def readings(self) -> Iterator[tuple[str, Reading]]:
        """Yield each operator and its means; the instances of a chain are equally busy."""
        for vertex in self.after.plan.vertices:
            pairs = self._pairs(vertex)
            busy = [self._busy(a, b) for a, b in pairs]
            held = [
                self._share(a.counters.backpressured_ms, b.counters.backpressured_ms)
                for a, b in pairs
            ]
            whole = self._work(vertex)
            rows = self._rows(vertex)
            shares = shares_of(tuples_grown(*rows))
            for name in vertex.operators:
                is_divided = whole > 0 and self._is_divided(vertex)
                part = self._work_of(name, vertex) / whole if is_divided else 1.0
                yield (
                    name,
                    Reading(
                        self.read_s(name),
                        part * sum(busy) / len(busy),
                        max(busy),
                        sum(held) / len(held),
                        len(busy),
                        self.arriving_s(name),
                        part * min(RESOLUTION_S / self.seconds, 1.0),
                        shares,
                    ),
                )

    def arriving_s(self, name: str) -> float | None:
        """Return the tuples per second that other vertices sent to an operator; None if unknown."""
        count = self.arrivals.get(name)
        return None if count is None else count / self.seconds

    @cached_property
    def growth(self) -> Growth:
        """The increases of the counters, summed over instances."""
        return Growth(self.after.plan, (self.before.reading, self.after.reading))

    @cached_property
    def arrivals(self) -> dict[str, float]:
        """Operator -> the tuples that other vertices sent to it; see `arrivals`."""
        return arrivals(self.growth)

    def read_s(self, name: str) -> float:
        """Return the tuples per second that an operator took, or a source read."""
        vertex = self.after.plan.vertex_of[name]
        return (self._tuples(name, vertex) or 0.0) / self.seconds

    def growth_s(self) -> dict[str, float]:
        """Return source -> the tuples/s by which what waits grew, where it is reported."""
        before, after = self.before.waiting, self.after.waiting
        known = sorted(before.keys() & after.keys())
        return {name: (after[name] - before[name]) / self.seconds for name in known}

    @cached_property
    def not_timed(self) -> list[str]:
        """Sources without busy times, with their chains.

        Flink measures none of sources of its former interface (``SourceStreamTask``): NaN.
        """
        found: list[str] = []
        for vertex in self.after.plan.vertices:
            times = [each.counters.busy_ms for row in self._pairs(vertex) for each in row]
            if vertex.operators[0] in self.sources and None in times:
                found += vertex.operators
        return found

    def held_back(self, sources: Collection[str]) -> Iterator[str]:
        """Yield which sources that do not say what waits are under backpressure."""
        for name in sorted(sources):
            if (held := self._most_held(name)) > BACKPRESSURED:
                yield (
                    f"backpressure hides the offered rate: {name} is under backpressure "
                    f"{held:.0%} of the time and does not report pendingRecords"
                )

    def never_idle(self, sources: Collection[str]) -> dict[str, str]:
        """Return source -> that it is busy all the time, of those that do not say what waits.

        It is too slow, or it counts the time in which it waits for tuples as busy.
        """
        return {
            name: f"the offered rate is unknown: {name} is never idle, so that more may wait, and "
            "it does not report pendingRecords"
            for name in sorted(sources)
            if self._most_held(name) <= BACKPRESSURED
            and any(
                self._held(a, b) + self._busy(a, b) >= NEVER_IDLE
                for a, b in self._pairs(self.after.plan.vertex_of[name])
            )
        }

    def _most_held(self, name: str) -> float:
        """Return the share of time that the instance most held back is under backpressure."""
        return max(self._held(a, b) for a, b in self._pairs(self.after.plan.vertex_of[name]))

    def _pairs(self, vertex: Vertex) -> list[tuple[Subtask, Subtask]]:
        rows = self.before.subtasks.get(vertex.id, ()), self.after.subtasks[vertex.id]
        return list(zip(*rows, strict=True))

    def _rows(self, vertex: Vertex) -> tuple[Row, Row]:
        """Return the counters of the instances at the beginning and at the end."""
        before, after = (
            [(each.host, each.counters) for each in row]
            for row in zip(*self._pairs(vertex), strict=True)
        )
        return before, after

    def _is_divided(self, vertex: Vertex) -> bool:
        """Return whether several operators divide the busy time of a vertex that gets tuples."""
        members = vertex.operators
        timed = members[0] not in self.not_timed
        return timed and len(members) > 1 and any(self._tuples(each, vertex) for each in members)

    def _tuples(self, name: str, vertex: Vertex) -> float | None:
        """Return the tuples that an operator processed; None if unknown, or if a counter fell."""
        if name not in self._processed:
            fell = any(_fell(a.counters, b.counters) for a, b in self._pairs(vertex))
            self._processed[name] = None if fell else _only_increase(self.growth.processed(name))
        return self._processed[name]

    @cached_property
    def _processed(self) -> dict[str, float | None]:
        """What `_tuples` has found, by operator."""
        return {}

    def _busy(self, before: Subtask, after: Subtask) -> float:
        return self._share(before.counters.busy_ms, after.counters.busy_ms)

    def _held(self, before: Subtask, after: Subtask) -> float:
        return self._share(before.counters.backpressured_ms, after.counters.backpressured_ms)

    def _share(self, before: float | None, after: float | None) -> float:
        """Return the share of the window that a counter of milliseconds grew by, from 0 to 1.

        Flink counts idle time and backpressure under way only every few seconds, and takes all
        other time as busy. The busy time of an idle instance can therefore fall a little.
        """
        grown = (after or 0.0) - (before or 0.0)
        return min(max(grown / (self.seconds * MS_PER_S), 0.0), 1.0)

    def _work(self, vertex: Vertex) -> float:
        return sum(self._work_of(name, vertex) for name in vertex.operators)

    def _work_of(self, name: str, vertex: Vertex) -> float:
        tuples = self._tuples(name, vertex)
        return self.weights.get(name, 0.0) * tuples if tuples else 0.0


def _fell(before: Counters, after: Counters) -> bool:
    """Return whether an instance has counted less than before, or is younger."""
    rows = [(getattr(before, name), getattr(after, name)) for name in ("records_in", "records_out")]
    rows.append((_age_ms(before), _age_ms(after)))
    return any(a is not None and b is not None and b < a for a, b in rows)


def _age_ms(counters: Counters) -> float | None:
    """Return the time in all states together; None if one of them is missing."""
    times = counters.busy_ms, counters.idle_ms, counters.backpressured_ms
    known = [each for each in times if each is not None]
    return sum(known) if len(known) == len(times) else None


def _only_increase(increase: Floats) -> float | None:
    """Return the increase in the one interval; None if it is unknown or negative."""
    return float(increase[0]) if increase[0] >= 0 else None  # not where it is NaN


def arrivals(growth: Growth) -> dict[str, float]:
    """Return operator -> the tuples sent to it from other vertices, of which some may wait.

    They wait in Flink's buffers. Operators are left out where the counters do not say it: Flink
    counts a tuple once, also if it is sent on several streams, so that the streams of a vertex with
    several of them are unknown.
    """
    vertex_of, outer = growth.vertex_of, [growth.streams[e] for e in growth.outer]
    senders = [vertex_of[each.source].id for each in outer]
    found: dict[str, float] = {}
    unknown: set[str] = set()
    for stream in outer:
        sender, target = vertex_of[stream.source], vertex_of[stream.target]
        sent = float(growth.vertex_counter(sender, "records_out")[0])
        if isnan(sent) or senders.count(sender.id) > 1:
            unknown.add(stream.target)
            continue
        distributions = growth.logical.distributions.get((stream.source, stream.target), ())
        copies = target.parallelism if Distribution.BROADCAST in distributions else 1
        found[stream.target] = found.get(stream.target, 0.0) + sent * copies
    return {name: count for name, count in found.items() if name not in unknown}


def _hosts(after: Sample, devices: Mapping[str, str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each operator and the devices of its instances that run, or ran until they finished.

    What has finished is on any device where its own is not known any more.
    """
    other = next(iter(sorted(devices.values())), None)
    for vertex in after.plan.vertices:
        found = [
            devices.get(each.host, other if each.status == FINISHED else None)
            for each in after.subtasks[vertex.id]
            if each.status in (RUNNING, FINISHED)
        ]
        on = [device for device in found if device is not None]
        for name in vertex.operators:
            yield name, tuple(on)


def _unknown_hosts(after: Sample, devices: Mapping[str, str]) -> Iterator[str]:
    hosts = {e.host for row in after.subtasks.values() for e in row if e.status == RUNNING}
    for host in sorted(hosts - devices.keys() - {NOWHERE}):
        yield f"TaskManager {host} is none of the cluster's devices"
