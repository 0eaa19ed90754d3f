"""The names that constraints use, checked against a graph and a cluster."""

from streamplace.errors import ProblemError
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import StreamGraph
from streamplace.util.suggest import candidates, did_you_mean


def check_names(graph: StreamGraph, cluster: Cluster, constraints: Constraints) -> None:
    """Raise ProblemError if constraints name an unknown operator or device."""
    groups = [
        (f"{kind}[{i}]", group)
        for kind in ("colocate", "exlocate", "apart_groups")
        for i, group in enumerate(getattr(constraints, kind))
    ]
    operators = [("pins", name) for name in constraints.pins]
    operators += [("allowed", name) for name in constraints.allowed]
    operators += [(place, name) for place, group in groups for name in group]
    devices = [(f"pins[{v!r}]", name) for v, name in constraints.pins.items()]
    devices += [
        (f"allowed[{v!r}]", name) for v, names in constraints.allowed.items() for name in names
    ]
    for place, name in operators:
        if name not in graph.index:
            message = f"constraints.{place}: unknown operator {name!r}"
            raise ProblemError(message + did_you_mean(name, graph.index))
    for place, name in devices:
        if name not in cluster.index:
            message = f"constraints.{place}: unknown device {name!r}"
            raise ProblemError(message + candidates(name, cluster.names))
