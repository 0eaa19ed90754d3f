"""Uneven shares of instances, as far as plans depend on them.

It is not known which keys an instance has. If one key makes it the busiest, no number of instances
divides its work; so plans count the tuples of each instance that runs now as those of one key.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import count as numbers

import numpy as np

from streamplace.capacity.sizing.factored import Instances
from streamplace.capacity.sizing.requirements import Requirement
from streamplace.control.costs import Times
from streamplace.control.decisions import percent
from streamplace.control.observation import Observation
from streamplace.problem.graph import StreamGraph
from streamplace.problem.logical import (
    default_groups,
    group_of,
    groups_of,
    instances_of_groups,
)
from streamplace.problem.parallelism import KeyShares
from streamplace.util.arrays import Floats
from streamplace.util.text import counted

MEASURED = "measured "  # before the number of a key that stands for all keys of an instance
MIDDLE = 0.1  # of the groups of an instance; keys there stay apart if there are more instances
IN_WORDS = "of one instance, and perhaps of one key, which more instances do not divide"


def with_shares(
    graph: StreamGraph, observation: Observation, most: float
) -> tuple[StreamGraph, list[int]]:
    """Return the graph with uneven shares, and the operators whose numbers of instances must stay.

    Operators have keys where the busiest instance has more than is expected of it. Of sources, and
    of what gets the tuples of their instances one to one, neither partitions nor their sizes are
    known, so nothing says what other numbers of instances would read: they stay, and each instance
    counts as the busiest.

    Parameters
    ----------
    graph
        The graph with measured costs and selectivities.
    observation
        A window with readings of all operators and the devices of all their instances.
    most
        What its share may be, in multiples of what the graph says of it, before that counts as
        uneven. Less is within the headroom of plans.
    """
    counts, stays = observation.parallelism, list[int]()
    for v in graph.order.tolist():
        shares = observation.readings[graph.names[v]].shares
        if len(shares) != counts[graph.names[v]]:
            continue
        found = Instances(graph, counts, 1.0)
        factor = max(shares) * found.rates[v].sum() / (found.rates[v].max() or np.inf)
        into = np.flatnonzero(graph.stream_target == v).tolist()
        before = {int(graph.stream_source[e]) for e in into if found.is_forward(e)}
        if not factor > most:
            continue
        if into and before.isdisjoint(stays):
            graph = _with_keys(graph, found, v, into, np.array(shares))
            continue
        stays.append(v)
        graph = _costlier(graph, v, factor)
    return graph, stays


def _costlier(graph: StreamGraph, v: int, factor: float) -> StreamGraph:
    """Return the graph with an operator that needs more for each tuple, on every kind of device."""
    work, times = graph.instructions.copy(), dict[int, Times](graph.seconds_on)
    work[v] *= factor
    if v in times:
        times[v] = {kind: None if s is None else s * factor for kind, s in times[v].items()}
    return graph.with_numbers(instructions=work, seconds_on=times)[0]


def _with_keys(
    graph: StreamGraph, found: Instances, v: int, into: list[int], shares: Floats
) -> StreamGraph:
    """Return the graph with an operator's tuples divided by the shares of its instances.

    Streams by key are uneven; where there are none, all streams are.
    """
    by_key = [e for e in into if graph.partitioning.get(e) == "hash"] or into
    rest = shares * float(found.rates[v].sum())
    for e in into:
        sent = found.rates[int(graph.stream_source[e])] * float(graph.selectivity[e])
        if e not in by_key:
            rest = rest - (sent if found.is_forward(e) else sent.sum() * found.shares(e))
    rest = np.maximum(rest, 0.0)
    if not rest.sum() > 0.0:
        return graph
    keys = _keys(groups_of(graph.partitions.get(v), len(rest)), rest / rest.sum())
    return graph.with_numbers(
        partitioning={**graph.partitioning, **dict.fromkeys(by_key, "hash")},
        key_shares={**graph.key_shares, **dict.fromkeys(by_key, keys)},
    )[0]


def _keys(groups: int | None, shares: Floats) -> KeyShares:
    """Return a key for each instance that has a share, which Flink sends to that instance.

    Flink runs no more instances than groups, so a number below theirs is wrong, and the default
    takes its place.
    """
    count = len(shares)
    known = groups if groups and groups >= count else default_groups(count)
    owner = instances_of_groups(known, count)
    middle = [float(np.flatnonzero(owner == i).mean()) for i in range(count)]
    found: dict[int, str] = {}
    for number in numbers():
        name = f"{MEASURED}{number}"
        group = group_of(name, known)
        i = int(owner[group])
        if abs(group - middle[i]) <= max(MIDDLE * known / count, 0.5):
            found.setdefault(i, name)
        if len(found) == len(middle):
            break
    return KeyShares({name: float(shares[i]) for i, name in found.items()})


def in_words(
    lacking: Requirement, observation: Observation, by_slots: Mapping[str, int]
) -> Requirement:
    """Return what an operator lacks, with what is known of its instances, their keys and slots.

    Parameters
    ----------
    by_slots
        Operator -> its largest number of instances within the slots; empty if these do not limit.
    """
    name, count = lacking.operator, lacking.most
    if lacking.key.startswith(MEASURED):
        return replace(lacking, limit=f"{lacking.limit} {IN_WORDS}", key="")
    if not lacking.is_max:
        return lacking
    reading = observation.readings[name]
    if reading.shares and reading.instances == count:
        most = percent(max(reading.shares))
        stays = f"stays at {count} instances, of which one has {most} of the tuples"
        return replace(lacking, limit=stays)
    if by_slots.get(name) == count:
        return replace(lacking, limit=f"slots for {counted(count, 'instance')}")
    return lacking
