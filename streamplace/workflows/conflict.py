"""The rules of an infeasible problem that cannot hold together."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from streamplace.errors import (
    InfeasibleError,
    PlacementError,
    StreamplaceError,
    UsageError,
)
from streamplace.placers.budget import Budget
from streamplace.placers.exact.decision import DecisionProblem
from streamplace.placers.repair import assign
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.counts import expanded
from streamplace.problem.feasibility import Feasibility
from streamplace.problem.graph import StreamGraph
from streamplace.problem.limits import SLOTS
from streamplace.problem.problem import Problem
from streamplace.problem.rules import LIMITS, Rule, RuledParts
from streamplace.sim import work_clock

STEPS = 2_000  # of the search that needs no preparation and decides most problems
NODES = 100_000  # of the search that learns from failures
EFFORT = 1.0  # of CP-SAT, in its deterministic seconds
MAX_SIZE = 4_000_000  # units x units x devices: the tables of larger problems take too much memory
DEFAULT_SECONDS = 2.0  # for the search; a guess
NAMES_SHOWN = 6
UNLISTED = 3  # devices from which all of them are not listed by name


def satisfiable(problem: Problem, budget: Budget) -> bool | None:
    """Return whether a problem has a feasible placement; None if that was not decided in time.

    Its streams and costs should be negligible, as in `RuledParts.with_only`: a placement counts
    only if it carries the source rate.
    """
    feasibility = problem.feasibility
    if feasibility.is_free:
        return True
    preferred = [np.flatnonzero(row).tolist() for row in feasibility.allowed]
    try:
        assign(problem, preferred, STEPS)
    except InfeasibleError:
        return False
    except PlacementError:
        return _decided(problem, budget)
    return True


def _decided(problem: Problem, budget: Budget) -> bool | None:
    units, devices = problem.feasibility.unit_count, len(problem.cluster.devices)
    if units**2 * devices > MAX_SIZE or budget.seconds_left() <= 0:
        return None
    decision = DecisionProblem(problem, problem.source_rate)
    outcome = decision.search(NODES, budget)
    if outcome.open and budget.seconds_left() > 0:
        with suppress(UsageError):  # OR-tools is not installed
            with work_clock.loading():
                from streamplace.placers.exact import cp_sat  # noqa: PLC0415 - slow to load

            if cp_sat.Model.is_small(decision):
                outcome = cp_sat.Proof(decision, 1, 0).search(EFFORT, budget)
    if outcome.found is not None:
        return problem.feasibility.violation(outcome.found.devices) is None or None
    return False if outcome.proven else None


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
    devices
        Number of devices of the cluster; 0: not known.
    whole_operators
        Number of a colocation group -> its operator, for groups of the option --whole-operators.
    """

    rules: tuple[Rule, ...]
    is_minimal: bool
    devices: int = field(default=0, compare=False)
    whole_operators: Mapping[int, str] = field(default_factory=dict, compare=False)

    def __str__(self) -> str:
        if self.is_minimal and all(rule.kind in LIMITS for rule in self.rules):
            return f"the operators do not fit on the devices: {self._limits()}"
        names = self._names()
        text = listed_and(names)
        if not self.is_minimal:
            return f"the conflict is among {text}"
        return f"no placement satisfies {text}" + (" together" if len(names) > 1 else "")

    def _limits(self) -> str:
        """Return which limits are too small, such as ``the memory of a and b is too small``."""
        kinds = dict.fromkeys(rule.resource or rule.kind for rule in self.rules)
        names = dict.fromkeys(str(rule.key) for rule in self.rules)
        what = f"the {listed_and(kinds)} of {listed_and(names, self._all(len(names)))}"
        if [*kinds] == [SLOTS]:
            return f"{what} are too few"
        return f"{what} {'is' if len(kinds) == 1 else 'are'} too small"

    @property
    def of_constraints(self) -> bool:
        """Whether some rule is one of the constraints, without the groups of an option."""
        return any(rule.of_constraints and not self._owner(rule) for rule in self.rules)

    def _owner(self, rule: Rule) -> str | None:
        """Return the operator that a rule keeps whole because of the option; None for others."""
        return self.whole_operators.get(int(rule.key)) if rule.kind == "colocate" else None

    def _name(self, rule: Rule) -> str:
        owner = self._owner(rule)
        return str(rule) if owner is None else f"--whole-operators of {owner!r}"

    def _names(self) -> list[str]:
        """Return the names of the rules; a limit of all devices has one name."""
        of_all: dict[str, list[Rule]] = {}
        for rule in self.rules:
            if rule.kind in LIMITS:
                of_all.setdefault(rule.limit, []).append(rule)
        names: dict[str, None] = {}
        for rule in self.rules:
            every = self._all(len(of_all.get(rule.limit, ())))
            names[f"{rule.limit} of {every}" if every else self._name(rule)] = None
        return list(names)

    def _all(self, count: int) -> str:
        """Return what to call a number of devices, if these are all of several; else nothing."""
        return f"all {count} devices" if UNLISTED <= self.devices == count else ""

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON value."""
        return {"rules": [str(rule) for rule in self.rules], "is_minimal": self.is_minimal}


def listed_and(names: Iterable[str], instead: str = "") -> str:
    """Return names as text, such as ``a, b and c``; beyond some, only their number.

    The text `instead` replaces more than two names.
    """
    every = list(names)
    if instead and len(every) >= UNLISTED:
        return instead
    more = len(every) - NAMES_SHOWN
    shown = every[:NAMES_SHOWN] + ([f"{more} more"] if more > 0 else [])
    return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))


def conflict(
    graph: StreamGraph,
    cluster: Cluster | str | None = None,
    constraints: Constraints | None = None,
    *,
    seconds: float = DEFAULT_SECONDS,
) -> Conflict | None:
    """Return rules that cannot hold together, as few as possible; None if a placement exists.

    Rules are the constraints one by one, the labels that each operator requires, and the memory,
    slots and resources of each device. They are dropped in turn, many at a time first, for as long
    as the others are proven infeasible: by the checks of `Feasibility`, by a search that tries
    everything, or by CP-SAT if it is installed. The source rate and all costs are irrelevant.

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
    parts = RuledParts(expanded(graph), Cluster.of(cluster), rules)
    return _conflict(parts, seconds, ())


def _conflict(parts: RuledParts, seconds: float, about: Collection[str]) -> Conflict | None:
    """Return a conflict; if one is among the rules that name only some operators, that one."""
    decider = _Decider(parts, Budget(seconds))
    every = tuple(parts.rules())
    named = [(rule, parts.operators_of(rule)) for rule in every]
    near = [rule for rule, names in named if names and all(name in about for name in names)]
    if near and decider.satisfiable(near) is False:
        return decider.reduced(near)
    answer = decider.satisfiable(every)
    if answer is None:
        raise PlacementError("found neither a placement nor a proof that there is none")
    return None if answer else decider.reduced(every)


class _Decider:
    """The deletion filter: rules are dropped for as long as the rest is infeasible."""

    def __init__(self, parts: RuledParts, budget: Budget) -> None:
        self._parts, self._budget = parts, budget
        self._devices = len(parts.cluster.devices)

    def satisfiable(self, rules: Sequence[Rule]) -> bool | None:
        """Return whether some rules can hold together; None if that is not known."""
        try:
            graph, cluster, constraints = self._parts.with_only(frozenset(rules))
            problem = Problem(graph, cluster, constraints=constraints)
        except InfeasibleError:
            return False
        return satisfiable(problem, self._budget)

    def reduced(self, rules: Sequence[Rule]) -> Conflict:
        """Return the conflict that is left of rules that cannot hold together."""
        left, is_minimal = list(rules), True
        size = max(len(left) // 2, 1)
        while size:
            at, is_minimal = 0, True
            while at < len(left):
                if self._budget.seconds_left() <= 0:
                    return Conflict(tuple(left), False, self._devices)
                rest = left[:at] + left[at + size :]
                answer = self.satisfiable(rest)
                if answer is False:
                    left = rest
                else:
                    is_minimal &= answer is not None
                    at += size
            size = min(size, len(left)) // 2
        return Conflict(tuple(left), is_minimal, self._devices)


def add_conflict(error: StreamplaceError) -> None:
    """Add the rules that cannot hold together to the error of an infeasible problem.

    A fault that remains without any constraint needs nothing more: it names what is too small.
    """
    if error.infeasible is None:
        return
    graph, cluster, constraints = error.infeasible
    parts = RuledParts(graph, cluster, constraints.stated)
    owner_of = dict(zip(graph.names, graph.owners, strict=True))
    owners = {owner_of.get(name, name) for name in error.fault.operators}
    about = {name for name, owner in owner_of.items() if owner in owners}
    error.infeasible = None
    with suppress(StreamplaceError):  # a proof that was possible with costs may need more time
        Feasibility(graph, cluster, Constraints())
        found = _conflict(parts, DEFAULT_SECONDS, about)
        if found is not None and _helps(found, parts, about):
            error.update(conflict=found)


def _helps(found: Conflict, parts: RuledParts, about: Collection[str]) -> bool:
    """Return whether a conflict belongs to a message about some operators, and is no noise."""
    if not found.is_minimal and len(found.rules) > NAMES_SHOWN:
        return False
    named = {name for rule in found.rules for name in parts.operators_of(rule)}
    return not (named and about) or not named.isdisjoint(about)
