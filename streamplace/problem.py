"""Problem: a graph, a cluster, source rates and constraints; and how to score a placement."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cached_property

from streamplace.cluster import LEAST, MOST, Cluster
from streamplace.constraints import Constraints
from streamplace.errors import ProblemError
from streamplace.feasibility import Feasibility
from streamplace.given import need, need_number
from streamplace.graph import StreamGraph
from streamplace.models import MODELS, Model
from streamplace.nearest import hint
from streamplace.shown import Shown, number

__all__ = ["MODELS", "Model", "Problem"]


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Problem(Shown):
    """Where should each operator of a graph run on a cluster?

    Parameters
    ----------
    cluster
        None: the paper's. Text, ``5x2500``, is read by `Cluster.parse`.
    source_rate
        Offered tuples/s over all sources; None: the graph's own. Several: one placement is sought
        for all, and its score is that at the worst of them.
    constraints
        None: the graph's own.
    model
        How throughput follows from a placement: ``bottleneck``, ``path-average`` or ``engine``.
    target_utilisation
        The share of every device and link that may be used, above 0 and at most 1: throughput is
        as if they had no more. Utilisations that are told are those of the whole.

    Attributes
    ----------
    source_rate
        The highest, where there are several.
    source_rates
        Each once, from the highest down.
    feasibility
        What may run where; see `Feasibility`.

    Raises
    ------
    ProblemError
        Without a source rate, on an unknown model, on a target utilisation that is none, or on
        constraints that name unknown operators or devices.
    InfeasibleError
        If constraints, labels or memory provably leave no placement.
    """

    graph: StreamGraph
    cluster: Cluster
    source_rate: float
    source_rates: tuple[float, ...]
    constraints: Constraints
    model: Model
    target_utilisation: float
    feasibility: Feasibility

    def __init__(
        self,
        graph: StreamGraph,
        cluster: Cluster | str | None = None,
        *,
        source_rate: float | Iterable[float] | None = None,
        constraints: Constraints | None = None,
        model: Model = "bottleneck",
        target_utilisation: float = 1.0,
    ) -> None:
        _need_graph(graph)
        if lacking := _lacking(graph, source_rate):
            raise ProblemError(
                f"not known: {'; '.join(lacking)}: add them, or import it with --costs"
            )
        rates = rates_of(graph, source_rate)
        check_scoring(model, target_utilisation)
        cluster = Cluster.of(cluster)
        constraints = graph.constraints if constraints is None else Constraints.of(constraints)
        vars(self).update(  # frozen: what is scored of a problem is kept
            graph=graph,
            cluster=cluster,
            source_rate=rates[0],
            source_rates=rates,
            constraints=constraints,
            model=model,
            target_utilisation=float(target_utilisation),
            feasibility=Feasibility(graph, cluster, constraints),
        )

    @property
    def worst_cases(self) -> tuple["Problem", ...]:
        """The problem at each source rate that can be the worst alone, from the highest down.

        At the highest it is the problem itself. Under ``bottleneck`` loads grow with the rate, so
        there is no other; elsewhere relative throughput need not fall as the rate rises.
        """
        return (self, *self._at_lower_rates)

    @cached_property
    def _at_lower_rates(self) -> tuple["Problem", ...]:
        if self.model == "bottleneck":
            return ()
        return tuple(self._at(rate) for rate in self.source_rates[1:])

    def _at(self, rate: float) -> "Problem":
        """Return the problem at one source rate; what it shares is not made again."""
        made = object.__new__(Problem)
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        vars(made).update(own, source_rate=rate, source_rates=(rate,))
        return made

    def __repr__(self) -> str:
        rates = ", ".join(map(number, self.source_rates))
        most = "" if self.target_utilisation == 1 else f", at most {self.target_utilisation:g} used"
        where = f"{self.graph!r} on {self.cluster!r}"
        return f"<Problem: {where} at {rates} tuples/s, {self.model}{most}>"


def check_scoring(model: Model, target_utilisation: float) -> None:
    """Refuse a model that is none, or a share of devices and links that is none.

    Raises
    ------
    ProblemError
        On either.
    """
    if model not in MODELS:
        said = f"model: must be one of {', '.join(MODELS)} (got {model!r})"
        raise ProblemError(said + hint(str(model), MODELS))
    need_number("target_utilisation:", target_utilisation, ProblemError)
    if not LEAST <= target_utilisation <= 1:
        allowed = f"must be {LEAST:g} to 1 (got {target_utilisation:g})"
        raise ProblemError(f"target_utilisation: {allowed}")


def _need_graph(graph: StreamGraph) -> None:
    instead = "sp.read_graph reads files, sp.from_networkx takes graphs of networkx"
    need("graph:", graph, StreamGraph, ProblemError, instead)


def _lacking(graph: StreamGraph, source_rate: object) -> list[str]:
    """Return what has to be told, if any number of the graph's has to be."""
    rate = ["the source rate"] if graph.source_rate is None is source_rate else []
    return [*graph.lacking, *rate] if graph.lacking else []


def rates_of(graph: StreamGraph, source_rate: float | Iterable[float] | None) -> tuple[float, ...]:
    """Return source rates, each once, from the highest down; those told, else the graph's own.

    Raises
    ------
    ProblemError
        If there is none, or one is out of range.
    """
    _need_graph(graph)
    given = graph.source_rate if source_rate is None else source_rate
    if given is None:
        raise ProblemError("source_rate: the graph has none, so it must be given")
    if isinstance(given, str):  # whose digits are not several rates
        raise ProblemError(f"source_rate: must be a number (got {given!r:.40})")
    several = list(given) if isinstance(given, Iterable) else [given]
    for rate in several:
        need_number("source_rate:", rate, ProblemError)
    rates = sorted({float(rate) for rate in several}, reverse=True)
    if not rates:
        raise ProblemError("source_rate: none is given")
    for rate in rates:
        if not LEAST <= rate <= MOST:
            raise ProblemError(f"source_rate: must be {LEAST:g} to {MOST:g} (got {rate:g})")
    return tuple(rates)
