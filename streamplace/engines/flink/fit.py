"""Estimates of a Flink job's numbers from recorded counters, without a server."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import sqrt

import numpy as np

from streamplace.engines.flink.growth import Growth
from streamplace.engines.flink.plan import RunningPlan, Vertex
from streamplace.formats.profiling.counters import Reading, usable_readings
from streamplace.formats.profiling.estimates import (
    NO_TUPLES,
    TOO_FEW,
    Estimate,
    or_exact,
    or_unknown,
    ratio,
    sum_of,
)
from streamplace.formats.profiling.profile import OperatorProfile, Profile, StreamProfile
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph_checks import listed
from streamplace.util.text import counted

NEVER_IDLE = 0.95  # share of time busy or under backpressure; above it, a source may be blocked
BACKPRESSURED = 0.05  # share of time under backpressure; above it, a rate is only a bound
MS_PER_S = 1000.0
CHAINED = "chained: it is a part of that of {!r}"
INSIDE = "chained: bytes inside a chain are not measured, and cross no link"
BLOCKING = "at most: the source is never idle, so it may be blocked; set this in --costs"
MIXED = "the counters cannot distinguish it from other streams"


def fit(
    plan: RunningPlan,
    readings: Sequence[Reading],
    mips: float,
    cpu_times: Mapping[str, Estimate] | None = None,
) -> Profile:
    """Return a job's profile, from readings of its counters over REST; see `fit_growth`."""
    return fit_growth(Growth(plan, usable_readings(readings)), mips, cpu_times)


def fit_growth(
    growth: Growth, mips: float, cpu_times: Mapping[str, Estimate] | None = None
) -> Profile:
    """Return a job's profile, estimated from the growth of its counters.

    The operators of a chain are measured together: the first one has the cost of all, per tuple
    that it processes, and the others none. They have to stay together, so that bytes between them
    do not matter, as long as these numbers hold.

    Parameters
    ----------
    mips
        Speed of a core that a subtask runs on, million instructions per second.
    cpu_times
        Vertex id -> CPU seconds per second of its subtasks, used instead of busy times.
    """
    plan = growth.plan
    graph = plan.logical.graph
    streams = _streams(growth)
    operators = [
        OperatorProfile(
            name,
            growth.per_second(growth.processed(name)),
            _instructions(growth, name, mips, cpu_times),
            _payload(growth, name),
        )
        for name in graph.names
    ]
    rate, shares = _source_rate(growth)
    several = [vertex.operators for vertex in plan.vertices if len(vertex.operators) > 1]
    chains = several if growth.intervals else []  # otherwise no number is measured
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
        constraints=Constraints(colocate=chains),
    )
    logical = replace(plan.logical.with_graph(*filled), by_channel=chains)
    return Profile(logical, rate, operators, streams, growth.intervals, float(np.sum(growth.dt)))


def chain_notes(profile: Profile) -> list[str]:
    """Return what a profile has only for whole chains, as one line; none if it has no chains."""
    if not (chains := profile.logical.by_channel):
        return []
    names = listed([" -> ".join(chain) for chain in chains])
    return [
        f"{counted(len(chains), 'chain')} measured as a whole ({names}): the first operator has "
        "the cost of all, and they stay together; for the costs of single operators, profile with "
        "chaining off (pipeline.operator-chaining.enabled: false)"
    ]


def _streams(growth: Growth) -> list[StreamProfile]:
    found = []
    for e, stream in enumerate(growth.logical.graph.streams):
        tuples, sizes = growth.sent.get(e), growth.bytes.get(e)
        if not growth.intervals:
            selectivity = payload = Estimate.missing(TOO_FEW)
        elif tuples is None:
            selectivity = payload = Estimate.missing(MIXED)
        else:
            selectivity = ratio(tuples, growth.processed(stream.source))
            if growth.is_inner(stream):
                payload = Estimate.chained(INSIDE)
            elif sizes is None:
                payload = Estimate.missing(MIXED)
            else:
                payload = ratio(sizes, growth.received[e])
        found.append(StreamProfile(stream.source, stream.target, selectivity, payload))
    return found


def _payload(growth: Growth, operator: str) -> Estimate:
    """Return the bytes per tuple that an operator emits, over all its streams out of its chain."""
    streams = growth.logical.graph.streams
    every = [e for e, s in enumerate(streams) if s.source == operator]
    if not every:
        return Estimate(0.0, 0.0)
    if not growth.intervals:
        return Estimate.missing(TOO_FEW)
    outgoing = [e for e in every if not growth.is_inner(streams[e])]
    if not outgoing:
        return Estimate.chained(INSIDE)
    if any(e not in growth.received or e not in growth.bytes for e in outgoing):
        return Estimate.missing(MIXED)
    tuples, sizes = (
        np.sum([of[e] for e in outgoing], axis=0) for of in (growth.received, growth.bytes)
    )
    return ratio(sizes, tuples)


def _instructions(
    growth: Growth, operator: str, mips: float, cpu_times: Mapping[str, Estimate] | None
) -> Estimate:
    """Return instructions per tuple: busy time or CPU time per tuple, times the speed."""
    vertex = growth.vertex_of[operator]
    if growth.intervals and operator != vertex.operators[0]:
        return Estimate.chained(CHAINED.format(vertex.operators[0]))
    if cpu_times is None:
        return seconds_per_tuple(growth, vertex).times(mips * 1e6)
    spent = cpu_times.get(vertex.id, Estimate.missing("no thread dump has its CPU time"))
    return spent.over(growth.per_second(growth.processed(operator))).times(mips * 1e6)


def seconds_per_tuple(growth: Growth, vertex: Vertex) -> Estimate:
    """Return the busy seconds of a vertex per tuple that its first operator processes."""
    operator = vertex.operators[0]
    busy = growth.vertex_counter(vertex, "busy_ms")
    found = ratio(busy, growth.processed(operator)).times(1 / MS_PER_S)
    if operator not in growth.sources or found.value is None:
        return found
    not_idle = busy + np.nan_to_num(growth.vertex_counter(vertex, "backpressured_ms"))
    share = ratio(not_idle, growth.dt * MS_PER_S * vertex.parallelism).value
    if share is not None and share >= NEVER_IDLE:
        return Estimate(found.value, None, "bound", BLOCKING)
    return found


def _source_rate(growth: Growth) -> tuple[Estimate, dict[str, float] | None]:
    """Return the tuples/s of all sources, and the measured share of each.

    A source under backpressure emits less than the offered rate, so the rate is then a lower bound.
    """
    rates, bound_reason = {}, ""
    for name in sorted(growth.sources):
        rates[name] = growth.per_second(growth.processed(name))
        vertex = growth.vertex_of[name]
        backpressured = growth.vertex_counter(vertex, "backpressured_ms")
        share = ratio(backpressured, growth.dt * MS_PER_S * vertex.parallelism).value or 0.0
        if share > BACKPRESSURED:
            bound_reason = f"at least: {name!r} is under backpressure {share:.0%} of the time"
            if len(growth.sources) > 1:
                bound_reason += "; the sources' shares are as measured"
    values = {name: rate.value for name, rate in rates.items() if rate.value is not None}
    if len(values) < len(rates):
        return next(rate for rate in rates.values() if rate.value is None), None
    total = sum_of(values.values())
    if total <= 0:
        return Estimate.missing(NO_TUPLES), None
    errors = [rate.error for rate in rates.values()]
    known = [error for error in errors if error is not None]
    error = sqrt(sum_of(e * e for e in known)) if len(known) == len(errors) else None
    shares = {name: value / total for name, value in values.items()}
    if bound_reason:
        return Estimate(total, None, "bound", bound_reason), shares
    return Estimate(total, error), shares
