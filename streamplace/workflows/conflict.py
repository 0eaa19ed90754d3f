"""The rules of an infeasible problem that cannot hold together."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from streamplace.errors import InfeasibleError, PlacementError, StreamplaceError, reworded
from streamplace.placers.satisfiability import satisfiable
from streamplace.placers.search.annealing import Budget
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.feasibility import Feasibility
from streamplace.problem.graph import StreamGraph
from streamplace.problem.problem import Problem
from streamplace.problem.rules import Rule, RuledParts

SECONDS = 2.0  # for the search, by default
NAMES_SHOWN = 6
LIMITS = ("memory", "resources")


@dataclass(frozen=True)
class Conflict:
    """Rules that no placement obeys together.

    Parameters
    ----------
    rules
        The rules, in the order of `RuledParts.rules`.
    is_minimal
        Whether it is proven that the others can hold if any one of these is dropped. Otherwise the
        conflict is among them, but some of them may not be needed for it.
    """

    rules: tuple[Rule, ...]
    is_minimal: bool

    def __str__(self) -> str:
        if self.is_minimal and all(rule.kind in LIMITS for rule in self.rules):
            return f"the operators do not fit on the devices: {self._limits()} is too small"
        names = [str(rule) for rule in self.rules]
        text = listed_and(names)
        if not self.is_minimal:
            return f"the conflict is among {text}"
        return f"no placement satisfies {text}" + (" together" if len(names) > 1 else "")

    def _limits(self) -> str:
        """Return what devices have too little of, such as ``the memory and gpu of a and b``."""
        kinds = listed_and(dict.fromkeys(rule.resource or "memory" for rule in self.rules))
        return f"the {kinds} of {listed_and(dict.fromkeys(str(rule.key) for rule in self.rules))}"

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON value."""
        return {"rules": [str(rule) for rule in self.rules], "is_minimal": self.is_minimal}


def listed_and(names: Iterable[str]) -> str:
    """Return names as text, such as ``a, b and c``; beyond some, only their number."""
    every = list(names)
    more = len(every) - NAMES_SHOWN
    shown = every[:NAMES_SHOWN] + ([f"{more} more"] if more > 0 else [])
    return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))


def conflict(
    graph: StreamGraph,
    cluster: Cluster | str | None = None,
    constraints: Constraints | None = None,
    *,
    seconds: float = SECONDS,
) -> Conflict | None:
    """Return rules that cannot hold together, as few as possible; None if a placement exists.

    Rules are the constraints one by one, the labels that each operator requires, and the memory of
    each device. They are dropped in turn, many at a time first, for as long as the others are
    proven infeasible: by the checks of `Feasibility`, by a search that tries everything, or by
    CP-SAT if it is installed. The source rate and all costs are irrelevant.

    Parameters
    ----------
    cluster, constraints
        As for `place`.
    seconds
        Wall time after which to return the rules that are left.

    Raises
    ------
    PlacementError
        If neither a placement nor a proof that none exists was found.
    ProblemError
        If the constraints name an unknown operator or device.
    """
    rules = graph.constraints if constraints is None else Constraints.of(constraints)
    parts = RuledParts(graph, Cluster.of(cluster), rules)
    decider = _Decider(parts, Budget(seconds))
    every = tuple(parts.rules())
    answer = decider.satisfiable(every)
    if answer is None:
        raise PlacementError("found neither a placement nor a proof that there is none")
    return None if answer else decider.reduced(every)


class _Decider:
    """The deletion filter: rules are dropped for as long as the rest is infeasible."""

    def __init__(self, parts: RuledParts, clock: Budget) -> None:
        self._parts, self._clock = parts, clock

    def satisfiable(self, rules: Sequence[Rule]) -> bool | None:
        """Return whether some rules can hold together; None if that is not known."""
        try:
            graph, cluster, constraints = self._parts.with_only(frozenset(rules))
            problem = Problem(graph, cluster, constraints=constraints)
        except InfeasibleError:
            return False
        return satisfiable(problem, self._clock)

    def reduced(self, rules: Sequence[Rule]) -> Conflict:
        """Return the conflict that is left of rules that cannot hold together."""
        left, is_minimal = list(rules), True
        size = max(len(left) // 2, 1)
        while size:
            at, is_minimal = 0, True
            while at < len(left):
                if self._clock.seconds_left() <= 0:
                    return Conflict(tuple(left), is_minimal=False)
                rest = left[:at] + left[at + size :]
                answer = self.satisfiable(rest)
                if answer is False:
                    left = rest
                else:
                    is_minimal &= answer is not None
                    at += size
            size = min(size, len(left)) // 2
        return Conflict(tuple(left), is_minimal)


def named(error: StreamplaceError) -> StreamplaceError:
    """Return the error with the rules that cannot hold together at the end of its message.

    A message that holds without any constraint needs nothing more: it names what is too small.
    """
    if error.infeasible is None:
        return error
    graph, cluster, constraints = error.infeasible
    found = None
    with suppress(StreamplaceError):  # a proof that was possible with costs may need more time
        Feasibility(graph, cluster, Constraints())
        found = conflict(graph, cluster, constraints)
    text = str(error) if found is None else f"{error}; {found}"
    complete = reworded(error, text)
    complete.infeasible = None
    return complete


@contextmanager
def naming_conflicts() -> Iterator[None]:
    """Name the rules that cannot hold together in the error of an infeasible problem."""
    try:
        yield
    except StreamplaceError as error:
        if error.infeasible is None:
            raise
        raise named(error) from None
