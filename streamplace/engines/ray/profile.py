"""Profiles of pipelines of Ray actors: an operator's actors, watched over the dashboard."""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from streamplace.engines.ray.dashboard import Actor, Dashboard
from streamplace.errors import BackendError, UsageError
from streamplace.formats.profiling.counters import (
    READING_INTERVAL_S,
    Counters,
    Observed,
    Reading,
    increases,
    moments,
    total,
    usable_readings,
)
from streamplace.formats.profiling.estimates import (
    Estimate,
    or_exact,
    ratio,
)
from streamplace.formats.profiling.profile import OperatorProfile, Profile, StreamProfile
from streamplace.formats.profiling.shares import divided, shares_of
from streamplace.problem.graph import StreamGraph
from streamplace.problem.graph_checks import listed
from streamplace.problem.logical import LogicalGraph, instance_names
from streamplace.util.arrays import Floats

JOINED = "several streams lead to their target, and Ray counts the calls of all together"
NO_BYTES = "Ray counts no bytes"
PER_MS = 1e3  # instructions in a millisecond at 1 MIPS


@dataclass
class Watched(Observed):
    """Observations of a pipeline, whose readings have the counters of each actor by its id.

    Parameters
    ----------
    actors
        Operator -> its actors, by number of instance.
    """

    actors: Mapping[str, Sequence[Actor]]

    @property
    def hosts(self) -> dict[str, list[str]]:
        """Operator -> the node of each of its actors."""
        return {name: [each.node for each in row] for name, row in self.actors.items()}


def actors_of(
    graph: StreamGraph, actors: Sequence[Actor], namespace: str | None
) -> dict[str, list[Actor]]:
    """Return operator -> its actors, which have the names of its instances.

    Parameters
    ----------
    namespace
        The namespace of the actors; None: the only one that has actors of the graph.

    Raises
    ------
    UsageError
        If actors of operators are missing, or several namespaces have some, or none is called so.
    """
    by_namespace: dict[str, dict[str, Actor]] = {}
    for each in actors:
        by_namespace.setdefault(each.namespace, {})[each.name] = each
    if namespace is not None and namespace not in by_namespace:
        known = listed(sorted(by_namespace)) or "none"
        raise UsageError(f"--namespace: no named actor runs in {namespace!r}; namespaces: {known}")
    found: dict[str, dict[str, list[Actor]]] = {}
    for space, running in by_namespace.items():
        rows = {name: _instances(name, running) for name in graph.names}
        if any(rows.values()) and namespace in (None, space):
            found[space] = rows
    if len(found) > 1:
        spaces = listed(sorted(found))
        raise UsageError(
            f"actors of the graph run in the namespaces {spaces}: choose one by --namespace"
        )
    rows = next(iter(found.values()), {})
    if lacking := [name for name in graph.names if not rows.get(name)]:
        raise UsageError(
            f"no actor runs for {listed(lacking)}: name each actor after its operator, and those "
            f"of several instances {instance_names(lacking[0], 2)[0]}, "
            f"{instance_names(lacking[0], 2)[1]}, …"
        )
    return rows


def _instances(operator: str, running: Mapping[str, Actor]) -> list[Actor]:
    if operator in running:
        return [running[operator]]
    numbered = {name for name in running if re.fullmatch(re.escape(operator) + r"\[\d+\]", name)}
    wanted = [f"{operator}[{i}]" for i in range(len(numbered))]
    if other := sorted(numbered.difference(wanted)):
        raise UsageError(
            f"actor {other[0]} runs, but not all of those before it: number the instances of an "
            "operator from 0"
        )
    return [running[name] for name in wanted]


def watch(
    dashboard: Dashboard,
    actors: Mapping[str, Sequence[Actor]],
    seconds: float,
    *,
    every_s: float = READING_INTERVAL_S,
    seed: int = 0,
) -> Watched:
    """Read the counters of all actors for some seconds.

    A fault and an interrupt end the observation early, and keep the readings so far. A reading that
    is not whole when the time is over is left out.
    """
    watched, until = Watched(actors), time.monotonic() + seconds
    everyone = [each for row in actors.values() for each in row]
    with watched.kept(until):
        for began in moments(until, every_s, seed):
            watched.readings.append(Reading(began, _sweep(dashboard, everyone, until)))
    return watched


def _sweep(dashboard: Dashboard, actors: Sequence[Actor], until: float) -> dict[str, Counters]:
    """Return id -> the counters of each actor.

    Raises
    ------
    BackendError
        If the dashboard fails, or has answered about some of the actors only when the time is over.
    """
    found: dict[str, Counters] = {}
    for each in actors:
        try:
            found[each.id] = dashboard.counters(each, until)
        except BackendError:
            if not found or time.monotonic() < until:
                raise
            raise BackendError(
                f"{dashboard.server.url}: the time was over when {len(found):,} of "
                f"{len(actors):,} actors had been read; increase --seconds"
            ) from None
    return found


def fit(graph: StreamGraph, watched: Watched, mips: float) -> Profile:
    """Return the profile of a pipeline, estimated from readings.

    A call counts as a tuple. The work of a call is CPU time of its actor's process, so it includes
    what Ray does for it. The selectivity of a stream follows from the calls of its target, if no
    other stream leads there.

    Parameters
    ----------
    graph
        The operators and streams; what Ray does not count is kept from it.
    mips
        Speed of a core of the nodes, million instructions per second.
    """
    readings = usable_readings(watched.readings)
    dt = np.diff([each.at_s for each in readings])
    sums = {
        name: [total([reading.vertices[each.id] for each in row]) for reading in readings]
        for name, row in watched.actors.items()
    }
    calls = {name: increases(rows, "records_in") for name, rows in sums.items()}
    operators = [
        OperatorProfile(
            name,
            ratio(calls[name], dt),
            ratio(increases(sums[name], "cpu_ms"), calls[name]).times(mips * PER_MS),
            Estimate.missing(NO_BYTES),
        )
        for name in graph.names
    ]
    inputs = np.bincount(graph.stream_target, minlength=len(graph.names))
    streams = [
        StreamProfile(
            each.source,
            each.target,
            ratio(calls[each.target], calls[each.source])
            if inputs[target] == 1
            else Estimate.missing(JOINED),
            Estimate.missing(NO_BYTES),
        )
        for each, target in zip(graph.streams, graph.stream_target, strict=True)
    ]
    sources = [graph.names[v] for v in graph.sources]
    rate = ratio(np.sum([calls[name] for name in sources], axis=0), dt)
    rates = {each.name: each.rate.known for each in operators if each.name in sources}
    logical = _logical(graph, watched, operators, streams, rate, rates)
    return Profile(logical, rate, operators, streams, len(dt), float(np.sum(dt)))


def _logical(
    graph: StreamGraph,
    watched: Watched,
    operators: Sequence[OperatorProfile],
    streams: Sequence[StreamProfile],
    rate: Estimate,
    rates: Mapping[str, float | None],
) -> LogicalGraph:
    """Return the graph with what was measured, and with the numbers of actors."""
    known = {name: found for name, found in rates.items() if found is not None}
    shares = {name: found / sum(known.values()) for name, found in known.items() if found}
    work, work_se = _fill_in(
        graph.instructions, graph.instructions_se, [each.instructions for each in operators]
    )
    kept, kept_se = _fill_in(
        graph.selectivity, graph.selectivity_se, [each.selectivity for each in streams]
    )
    filled = graph.with_numbers(
        instructions=work,
        instructions_se=work_se,
        selectivity=kept,
        selectivity_se=kept_se,
        source_rate=rate.known or None,
        source_shares=shares if len(shares) == len(graph.sources) else None,
    )
    counts = {name: len(row) for name, row in watched.actors.items() if len(row) > 1}
    logical = LogicalGraph(graph, counts).with_graph(*filled)
    parts = {name: parts for name in counts if (parts := _shares(watched, name))}
    return divided(logical, parts)


def _shares(watched: Watched, name: str) -> tuple[float, ...]:
    """Return the share of an operator's calls that each of its actors executed, if uneven."""
    readings = usable_readings(watched.readings)
    rows = [[reading.vertices[each.id] for reading in readings] for each in watched.actors[name]]
    grown = [increases(row, "records_in") for row in rows]
    return shares_of([float(np.nansum(each)) for each in grown])


def _fill_in(
    values: Floats, errors: Floats, estimates: Sequence[Estimate]
) -> tuple[Floats, Floats]:
    """Return values and their standard errors, (N,) each, with the estimates that are known."""
    values, errors = values.copy(), errors.copy()
    for i, each in enumerate(estimates):
        if each.known is not None:
            values[i], errors[i] = each.known, or_exact(each)
    return values, errors
