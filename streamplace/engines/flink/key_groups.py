"""Numbers of instances and of key groups, the maximum parallelism, in the document of a job."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from streamplace.problem.counts import has_keys
from streamplace.problem.graph import StreamGraph
from streamplace.problem.logical import (
    MOST_GROUPS,
    AnyDistribution,
    KeyedDistribution,
    LogicalGraph,
)
from streamplace.problem.parallelism import FLINK


def counts_in(details: Mapping[str, Any]) -> dict[str, int]:
    """Return vertex id -> number of its instances, where the document of a job states one."""
    return _numbers(details, "parallelism")


def stated_most(details: Mapping[str, Any]) -> dict[str, int]:
    """Return vertex id -> its maximum parallelism, where the document of a job states one.

    A vertex without its own has that of the job. -1 says that there is none.
    """
    return _numbers(details, "maxParallelism", details.get("maxParallelism"))


def _numbers(details: Mapping[str, Any], name: str, default: object = None) -> dict[str, int]:
    rows = details.get("vertices")
    found = dict[str, int]()
    for row in rows if isinstance(rows, list) else ():
        if not isinstance(row, dict) or not isinstance(row.get("id"), str):
            continue
        for number in (row.get(name), default):
            if type(number) is int and 0 < number <= MOST_GROUPS:
                found.setdefault(row["id"], number)
    return found


def with_limits(logical: LogicalGraph, most: Mapping[str, int]) -> LogicalGraph:
    """Return a logical graph with maximum parallelisms instead of Flink's default.

    Numbers that the graph has already are kept.

    Parameters
    ----------
    most
        Operator -> its maximum parallelism.
    """
    known = {**most, **logical.max_parallelism}
    distributions = {
        (source, target): [_stated(each, known.get(target)) for each in several]
        for (source, target), several in logical.distributions.items()
    }
    return replace(logical, distributions=distributions, max_parallelism=known)


def _stated(distribution: AnyDistribution, groups: int | None) -> AnyDistribution:
    if isinstance(distribution, KeyedDistribution) and distribution.groups == FLINK and groups:
        return replace(distribution, groups=groups)
    return distribution


def as_running(graph: StreamGraph, most: Mapping[str, int]) -> StreamGraph:
    """Return a graph whose operators have the maximum parallelisms of a running job.

    A job keeps them as long as it keeps its state, also where they are those of a former default.

    Parameters
    ----------
    most
        Operator -> its maximum parallelism.
    """
    limits, groups = dict(graph.max_parallelism), dict(graph.partitions)
    for name in graph.index.keys() & most.keys():
        v = graph.index[name]
        if has_keys(graph, v):
            groups[v] = most[name]
        else:
            limits[v] = min(most[name], limits.get(v, most[name]))
    return graph.with_numbers(max_parallelism=limits, partitions=groups)[0]
