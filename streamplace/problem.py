"""Problem: a graph, a cluster, a source rate and constraints; and how to score a placement."""

from dataclasses import dataclass

from streamplace.cluster import LEAST, MOST, Cluster
from streamplace.constraints import Constraints
from streamplace.errors import ProblemError
from streamplace.feasibility import Feasibility
from streamplace.graph import StreamGraph
from streamplace.models import MODELS, Model

__all__ = ["MODELS", "Model", "Problem"]


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Problem:
    """Where should each operator of a graph run on a cluster?

    Parameters
    ----------
    source_rate
        Offered tuples/s over all sources; None: the graph's own.
    constraints
        None: the graph's own.
    model
        How throughput follows from a placement: ``bottleneck`` or ``path-average``.

    Attributes
    ----------
    feasibility
        What may run where; see `Feasibility`.

    Raises
    ------
    ProblemError
        Without a source rate, on an unknown model, or on constraints that name unknown operators
        or devices.
    InfeasibleError
        If constraints, labels or memory provably leave no placement.
    """

    graph: StreamGraph
    cluster: Cluster
    source_rate: float
    constraints: Constraints
    model: Model
    feasibility: Feasibility

    def __init__(
        self,
        graph: StreamGraph,
        cluster: Cluster | None = None,
        *,
        source_rate: float | None = None,
        constraints: Constraints | None = None,
        model: Model = "bottleneck",
    ) -> None:
        rate = graph.source_rate if source_rate is None else source_rate
        if rate is None:
            raise ProblemError("source_rate: the graph has none, so it must be given")
        if not LEAST <= rate <= MOST:
            raise ProblemError(f"source_rate: must be {LEAST:g} to {MOST:g} (got {rate:g})")
        if model not in MODELS:
            raise ProblemError(f"model: must be one of {', '.join(MODELS)} (got {model!r})")
        cluster = Cluster.equal() if cluster is None else cluster
        constraints = graph.constraints if constraints is None else constraints
        vars(self).update(  # frozen: what is scored of a problem is kept
            graph=graph,
            cluster=cluster,
            source_rate=float(rate),
            constraints=constraints,
            model=model,
            feasibility=Feasibility(graph, cluster, constraints),
        )

    def __repr__(self) -> str:
        rate = f"{self.source_rate:g} tuples/s"
        return f"<Problem: {self.graph!r} on {self.cluster!r} at {rate}, {self.model}>"
