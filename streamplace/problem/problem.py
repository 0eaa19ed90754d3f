"""Placement problems: a graph, a cluster, constraints and an objective."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, cast

from streamplace.display.mixins import Displayable, view_of
from streamplace.display.view import View
from streamplace.errors import Fault, ProblemError
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.feasibility import Feasibility
from streamplace.problem.graph import StreamGraph
from streamplace.problem.objective import (
    HOW_TO_SET_RATE,
    Model,
    Objective,
    Throughput,
    check_objective,
    loaded,
)
from streamplace.problem.objectives import text_of
from streamplace.util.checks import check_type
from streamplace.util.plugins import load_ours

if TYPE_CHECKING:
    from streamplace.problem.makespan import PassObjective

Part = TypeVar("Part")
COUNTS = "streamplace.problem.counts"
"""Makes instances of operators; loaded once a graph states their numbers."""


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Problem(Displayable):
    """The problem of placing the operators of a graph on the devices of a cluster.

    Parameters
    ----------
    graph
        The job; its numbers must be known where tuples arrive. Operators with several instances are
        replaced by these, ``name[0]``, ``name[1]``, ….
    cluster
        A cluster, or text for `Cluster.parse`; None: that of the paper, ``5x2500``.
    source_rate, model, target_utilisation
        Parameters of the objective, see `Throughput`. One source rate in tuples/s or several; None
        stands for the graph's own.
    constraints
        None stands for the graph's own. The name of a parallel operator stands for all its
        instances.
    objective
        The objective, instead of the three parameters above.

    Attributes
    ----------
    objective
        The objective, with its source rates filled in.
    feasibility
        The constraints, labels, memory and resources as arrays; see `Feasibility`.

    Raises
    ------
    ProblemError
        If the model, a source rate or a number that loads depend on is unknown, a rate or target
        utilisation is out of range, or constraints name unknown operators or devices.
    InfeasibleError
        If constraints, labels or limits of devices provably allow no placement.
    """

    graph: StreamGraph
    cluster: Cluster
    objective: Objective
    constraints: Constraints
    feasibility: Feasibility
    _made: dict[Callable[["Problem"], Any], Any] = field(init=False)
    _evaluator: Any = field(init=False)

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
        check_graph(graph)
        if graph.states_counts:
            graph = load_ours(f"{COUNTS}:expanded")(graph)
        if objective is None:
            check_known(graph, has_rate=source_rate is not None)
            objective = Throughput.of(source_rate, model, target_utilisation)
        else:
            if any(one is not None for one in (source_rate, model, target_utilisation)):
                raise ProblemError(
                    "cannot combine objective with source_rate, model or target_utilisation"
                )
            check_objective(objective)
            check_known(graph, has_rate=not objective.needs_rate)
        objective = objective.for_graph(graph)
        cluster = Cluster.of(cluster)
        if fault := objective.fault_of(cluster):
            raise fault
        if constraints is None:
            constraints = graph.constraints
        else:
            constraints = Constraints.of(constraints)
            if graph.instances or constraints.stated is not constraints:
                constraints = load_ours(f"{COUNTS}:for_instances")(graph, constraints)
        vars(self).update(  # the class is frozen, since it keeps what is made of it
            graph=graph,
            cluster=cluster,
            objective=objective,
            constraints=constraints,
            feasibility=Feasibility(graph, cluster, constraints),
            _made={},
            _evaluator=None,
        )

    def once(self, make: Callable[["Problem"], Part]) -> Part:
        """Return what a function or class makes of the problem, which is made once and kept."""
        if make not in self._made:
            self._made[make] = make(self)
        made: Part = self._made[make]
        return made

    def forget(self) -> None:
        """Drop what the problem keeps, as after a change to one of its arrays."""
        self._made.clear()
        vars(self)["_evaluator"] = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_made": {}, "_evaluator": None}

    @property
    def evaluator(self) -> Any:
        """The evaluator of placements under the objective, which is made once.

        It refers to an equal problem, so that no circle keeps the arrays of this one.
        """
        if self._evaluator is None:
            alike = self._with(_made=self._made)
            vars(self)["_evaluator"] = loaded(self.objective.functions["evaluator"])(alike)
        return self._evaluator

    def require_rates(self) -> None:
        """Raise ProblemError if the objective is not `Throughput` and does not derive from it."""
        if not self.objective.has_rates:
            raise ProblemError(
                "objective: throughput and source rates were asked for, but the objective is "
                f"{self.objective.quantity}; scoring.registry.evaluator(problem) scores under all"
            )

    def require_pass(self) -> None:
        """Raise ProblemError if the objective is not a `PassObjective`."""
        if not self.objective.is_pass:
            quantity = self.objective.quantity
            raise ProblemError(f"objective: this needs makespan, but the objective is {quantity}")

    @property
    def throughput_objective(self) -> Throughput:
        """The objective, if it has source rates; see `require_rates`."""
        self.require_rates()
        return cast("Throughput", self.objective)

    @property
    def makespan_objective(self) -> "PassObjective":
        """The objective, if it is about one pass; see `require_pass`."""
        self.require_pass()
        return cast("PassObjective", self.objective)

    @property
    def source_rate(self) -> float:
        """Tuples/s offered by all sources together; with several rates, the highest one.

        This and the three properties below raise ProblemError if the objective is a makespan.
        """
        return self.throughput_objective.source_rate

    @property
    def source_rates(self) -> tuple[float, ...]:
        """The distinct source rates in tuples/s, in decreasing order."""
        return self.throughput_objective.source_rates or ()

    @property
    def model(self) -> Model:
        """The model that computes the throughput of a placement."""
        return self.throughput_objective.model

    @property
    def target_utilisation(self) -> float:
        """The share of every device and link that may be used, above 0 and at most 1."""
        return self.throughput_objective.target_utilisation

    def with_objective(self, objective: Objective) -> "Problem":
        """Return the problem with another objective; the compiled constraints are reused.

        Raises
        ------
        ProblemError
            If `objective` is not an objective, if it needs a source rate and neither it nor the
            graph has one, or if it is a makespan and groups of devices share links.
        """
        check_objective(objective)
        objective = objective.for_graph(self.graph)
        if objective == self.objective:
            return self
        if fault := objective.fault_of(self.cluster):
            raise fault
        return self._with(objective=objective, _made={})

    def with_cluster(self, cluster: Cluster | str) -> "Problem":
        """Return the problem on another cluster.

        Raises
        ------
        ProblemError
            If constraints name a device that is not in `cluster`.
        InfeasibleError
            If constraints, labels or limits of devices provably allow no placement on it.
        """
        return Problem(self.graph, cluster, objective=self.objective, constraints=self.constraints)

    def with_source_rate(self, source_rate: float | Iterable[float]) -> "Problem":
        """Return the problem with another source rate, or several, in tuples/s.

        Raises
        ------
        ProblemError
            If a rate is out of range.
        """
        return self.with_objective(self.throughput_objective.with_changes(source_rate))

    def with_constraints(self, constraints: Constraints) -> "Problem":
        """Return the problem under other constraints.

        Raises
        ------
        ProblemError
            If the constraints name an unknown operator or device.
        InfeasibleError
            If constraints, labels or limits of devices provably allow no placement.
        """
        return Problem(self.graph, self.cluster, objective=self.objective, constraints=constraints)

    def _with(self, **parts: Any) -> "Problem":
        """Return the problem with other parts, and without an evaluator."""
        changed = object.__new__(Problem)
        vars(changed).update(vars(self), _evaluator=None, **parts)
        return changed

    def _view(self) -> View:
        graph, cluster = view_of(self.graph), view_of(self.cluster)
        body = (*graph.body, *cluster.body)
        aim = self.objective.in_words(text_of(self.objective))
        return View(f"Problem: <{graph}> on <{cluster}> {aim}", body=body)


def check_known(graph: StreamGraph, *, has_rate: bool) -> None:
    """Refuse a graph with unknown numbers; the message also mentions a missing source rate."""
    unknown, remedy = graph.lacking, "add them to the graph, or import it with --costs"
    if graph.firing != "all":
        remedy += ", or with --typical-costs, which fills in guesses"
    if unknown and not has_rate and graph.source_rate is None:
        unknown = [*unknown, "the source rate"]
        remedy += f"; as for the source rate, {HOW_TO_SET_RATE}"
    if unknown:
        raise ProblemError(Fault(f"unknown: {'; '.join(unknown)}", remedy=remedy))


def check_graph(graph: StreamGraph) -> None:
    """Raise a ProblemError if a graph is something else, such as the name of its file."""
    instead = "use sp.read_graph for files, sp.from_networkx for networkx graphs"
    check_type("graph:", graph, StreamGraph, ProblemError, instead)
