"""Uneven shares of an operator's tuples among its instances, from the counters of its subtasks.

Flink sends every key to one instance, and a source's partitions may be of different size. The
counters of a vertex are sums over its subtasks, in which that is lost.
"""

from collections.abc import Mapping

from streamplace.engines.flink.plan import RunningPlan
from streamplace.formats.profiling.counters import Counters
from streamplace.formats.profiling.shares import Row, divided, shares_of, tuples_grown
from streamplace.problem.logical import LogicalGraph


def with_shares(
    logical: LogicalGraph,
    plan: RunningPlan,
    first: Mapping[str, Row],
    last: Mapping[str, Row],
) -> LogicalGraph:
    """Return a logical graph whose streams and sources have the measured shares of instances.

    Shares are those of the tuples between the two moments; where nothing grew, of all tuples since
    the job started. Streams whose rule says which instance gets a tuple (forward, rescale,
    broadcast, global) keep it.

    Parameters
    ----------
    logical
        The graph of the plan, with measured selectivities.
    first, last
        Vertex id -> its subtasks at the beginning and at the end; `last` may be empty.
    """
    parts: dict[str, tuple[float, ...]] = {}
    for vertex in plan.vertices:
        rows = first.get(vertex.id, ()), last.get(vertex.id, first.get(vertex.id, ()))
        since = [(host, Counters(records_in=0.0, records_out=0.0)) for host, _ in rows[1]]
        if shares := shares_of(tuples_grown(*rows) or tuples_grown(since, rows[1])):
            parts |= dict.fromkeys(vertex.operators, shares)
    chained = {name for vertex in plan.vertices for name in vertex.operators[1:]}
    return divided(logical, parts, chained)
