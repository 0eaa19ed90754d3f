"""The problem: where each operator of a graph should run on a cluster, and for what objective."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from streamplace.display.mixins import Displayable, view_of
from streamplace.display.text import number
from streamplace.display.view import View
from streamplace.errors import ProblemError
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.feasibility import Feasibility
from streamplace.problem.graph import StreamGraph
from streamplace.problem.objective import Model, Objective, Throughput, check_objective
from streamplace.problem.objectives import text_of
from streamplace.util.checks import check_type


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Problem(Displayable):
    """Where should each operator of a graph run on a cluster?

    Parameters
    ----------
    cluster
        None: the paper's. Text, ``5x2500``, is read by `Cluster.parse`.
    source_rate, model, target_utilisation
        Of the objective, see `Throughput`: one source rate or several, by default the graph's own.
    constraints
        None: the graph's own.
    objective
        What is sought, in place of the three numbers above.

    Attributes
    ----------
    objective
        With the source rates filled in.
    feasibility
        What may run where; see `Feasibility`.

    Raises
    ------
    ProblemError
        Without a source rate, on an unknown model, on a target utilisation out of range, or on
        constraints that name unknown operators or devices.
    InfeasibleError
        If constraints, labels or memory provably leave no placement.
    """

    graph: StreamGraph
    cluster: Cluster
    objective: Objective
    constraints: Constraints
    feasibility: Feasibility

    def __init__(
        self,
        graph: StreamGraph,
        cluster: Cluster | str | None = None,
        *,
        source_rate: float | Iterable[float] | None = None,
        constraints: Constraints | None = None,
        model: Model | None = None,
        target_utilisation: float | None = None,
        objective: Objective | None = None,
    ) -> None:
        _check_graph(graph)
        if objective is None:
            _check_known(graph, has_rate=source_rate is not None)
            objective = Throughput.of(source_rate, model, target_utilisation)
        else:
            if any(one is not None for one in (source_rate, model, target_utilisation)):
                raise ProblemError(
                    "objective: it has the source rate, model and target utilisation already"
                )
            check_objective(objective)
            _check_known(graph, has_rate=objective.source_rates is not None)
        objective = with_rates_of(objective, graph)
        cluster = Cluster.of(cluster)
        constraints = graph.constraints if constraints is None else Constraints.of(constraints)
        vars(self).update(  # frozen, since what is compiled of a problem is kept
            graph=graph,
            cluster=cluster,
            objective=objective,
            constraints=constraints,
            feasibility=Feasibility(graph, cluster, constraints),
        )

    @property
    def source_rate(self) -> float:
        """Offered tuples/s over all sources; the highest of several rates."""
        return self.objective.source_rate

    @property
    def source_rates(self) -> tuple[float, ...]:
        """The source rates, each once, from the highest down."""
        return self.objective.source_rates or ()

    @property
    def model(self) -> Model:
        """How throughput follows from a placement."""
        return self.objective.model

    @property
    def target_utilisation(self) -> float:
        """The share of every device and link that may be used."""
        return self.objective.target_utilisation

    def with_objective(self, objective: Objective) -> "Problem":
        """Return the problem with another objective; what is worked out of its parts is kept.

        Raises
        ------
        ProblemError
            If it is no objective, or neither it nor the graph has a source rate.
        """
        check_objective(objective)
        objective = with_rates_of(objective, self.graph)
        if objective == self.objective:
            return self
        changed = object.__new__(Problem)
        vars(changed).update(vars(self), objective=objective)
        return changed

    def with_cluster(self, cluster: Cluster | str) -> "Problem":
        """Return the problem on another cluster.

        Raises
        ------
        ProblemError
            If constraints name a device that it lacks.
        InfeasibleError
            If constraints, labels or memory provably leave no placement on it.
        """
        return Problem(self.graph, cluster, objective=self.objective, constraints=self.constraints)

    def with_source_rate(self, source_rate: float | Iterable[float]) -> "Problem":
        """Return the problem at another source rate, or at several.

        Raises
        ------
        ProblemError
            If a rate is out of range.
        """
        return self.with_objective(self.objective.with_changes(source_rate))

    def with_constraints(self, constraints: Constraints) -> "Problem":
        """Return the problem under other constraints.

        Raises
        ------
        ProblemError
            If they name an operator or device that there is not.
        InfeasibleError
            If they, labels or memory provably leave no placement.
        """
        return Problem(self.graph, self.cluster, objective=self.objective, constraints=constraints)

    def _view(self) -> View:
        rates = ", ".join(map(number, self.source_rates))
        most = "" if self.target_utilisation == 1 else f", at most {self.target_utilisation:g} used"
        graph, cluster = view_of(self.graph), view_of(self.cluster)
        own = "" if type(self.objective) is Throughput else f", objective {text_of(self.objective)}"
        return View(
            f"Problem: <{graph}> on <{cluster}> at {rates} tuples/s, {self.model}{most}{own}",
            body=(*graph.body, *cluster.body),
        )


def _check_known(graph: StreamGraph, *, has_rate: bool) -> None:
    """Refuse a graph that lacks numbers; a missing source rate is named with them."""
    lacking = graph.lacking
    if lacking and not has_rate and graph.source_rate is None:
        lacking = [*lacking, "the source rate"]
    if lacking:
        raise ProblemError(f"not known: {'; '.join(lacking)}: add them, or import it with --costs")


def _check_graph(graph: StreamGraph) -> None:
    instead = "sp.read_graph reads files, sp.from_networkx takes graphs of networkx"
    check_type("graph:", graph, StreamGraph, ProblemError, instead)


def with_rates_of(objective: Objective, graph: StreamGraph) -> Objective:
    """Return an objective with the graph's own source rate where it has none.

    Raises
    ------
    ProblemError
        If neither has one.
    """
    _check_graph(graph)
    if objective.source_rates is not None:
        return objective
    if graph.source_rate is None:
        raise ProblemError("source_rate: the graph has none, so it must be given")
    return replace(objective, source_rates=(graph.source_rate,))
