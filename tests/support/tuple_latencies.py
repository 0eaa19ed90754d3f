"""Small problems whose single tuples the testbed can serve."""

from dataclasses import replace

from benchmarks.testbed.latency.devices import MACHINE
from benchmarks.testbed.scaling import Scaled, scale
from streamplace import Cluster, Network, Operator, Problem, Stream, StreamGraph

SERVICE_S = 0.0025


def two_paths(devices: int = 2, selectivity: float = 1.0) -> Scaled:
    """Return a scaled problem of two paths from a to d, and of e, which is a source and a sink.

    Every operator works for `SERVICE_S` on a tuple, and 40 tuples/s arrive.

    Parameters
    ----------
    selectivity
        Of the stream from a to c.
    """
    graph = StreamGraph(
        [Operator(name, 1e6, 1e4) for name in "abcde"],
        [Stream("a", "b"), Stream("a", "c", selectivity), Stream("b", "d"), Stream("c", "d")],
        source_rate=40.0,
        source_shares={"a": 0.75, "e": 0.25},
    )
    problem = Problem(graph, Cluster.equal(devices, 1e3, network=Network("pair")))
    return scale(problem, replace(MACHINE, tuples_s=40.0))
