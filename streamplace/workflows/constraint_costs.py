"""What each constraint costs: how much more placements would carry without it."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from streamplace.display.text import limit_beside, number, rounded_down
from streamplace.display.view import Grid, Line
from streamplace.errors import InfeasibleError, PlacementError
from streamplace.placers.budget import Budget
from streamplace.placers.search.balance import FEW_PLACEMENTS, overloaded
from streamplace.placers.search.chains import best_of_chains, starts
from streamplace.placers.search.exhaustive import best_and_cheapest
from streamplace.problem.objective import MAX_RATE
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.problem.rules import LIMITS, Rule, RuledParts
from streamplace.scoring.throughput import max_source_rate
from streamplace.util.arrays import Ints

EVALUATIONS = 20_000  # changes tried without each rule, and with all of them
THOROUGH, IN_ALL = 1_000_000, 100_000_000  # if it need not be quick: at most, and together
TRIES = 4  # searches that the changes are for, at most
MIN_GAIN = 5e-3  # relative gain below which a rule counts as free, since the searches are short
FEW, SMALL = 20, 50_000  # rules, and rules x operators and streams, that take a fraction of 1 s
STARTED = 1_000_000  # rules x operators and streams up to which placers start each search
MANY, LARGE = 1_000, 20_000_000  # the same for some tens of seconds


@dataclass(frozen=True)
class ConstraintCost:
    """What placements carry without one rule.

    Parameters
    ----------
    max_source_rate
        Source rate in tuples/s that the best placement found without the rule carries.
    gain
        The increase over the best placement found with all rules.
    """

    rule: Rule
    max_source_rate: float
    gain: float

    def to_dict(self) -> dict[str, Any]:
        """Return the cost as `explain --json` prints it."""
        return {
            "rule": str(self.rule),
            "max_source_rate": self.max_source_rate,
            "gain": self.gain,
        }


@dataclass(frozen=True)
class ConstraintCosts:
    """The rules without which placements carry more, the most costly first.

    Parameters
    ----------
    max_source_rate
        Source rate in tuples/s that the best placement found with all rules carries.
    every_rule_tried
        False if there were too many rules.
    thorough
        Whether the searches were as long as ``--constraint-costs`` makes them.
    """

    max_source_rate: float
    without: tuple[ConstraintCost, ...]
    every_rule_tried: bool = True
    thorough: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Return the entry ``constraint_costs`` of `explain --json`."""
        return {
            "max_source_rate": self.max_source_rate,
            "without": [cost.to_dict() for cost in self.without],
            "every_rule_tried": self.every_rule_tried,
            "thorough": self.thorough,
        }

    @property
    def rates(self) -> list[float]:
        """The source rates in tuples/s that `body` shows."""
        return [self.max_source_rate, *(cost.max_source_rate for cost in self.without)]

    def body(
        self, name_of: Callable[[Rule], str] = str, shown: Sequence[float] = ()
    ) -> list[Line | Grid]:
        """Return the lines and the table of the costs.

        Parameters
        ----------
        name_of
            Returns the name of a rule.
        shown
            Rates that are shown beside them, rounded.
        """

        def carried(rate: float) -> str:
            return limit_beside(shown, rate, rounded_down)

        rate = f"{carried(self.max_source_rate)} tuples/s"
        more = [] if self.every_rule_tried else [Line("too many constraints to try all of them")]
        if not self.without:
            longer = "" if self.thorough else "; --constraint-costs searches longer"
            free = f"found no single constraint without which placements carry more than {rate}"
            return [*more, Line(free + longer)]

        def row(i: int) -> tuple[str, ...]:
            cost = self.without[i]
            change = _change(cost.rule, name_of)
            if cost.max_source_rate >= MAX_RATE:
                return change, "any rate", ""
            return change, carried(cost.max_source_rate), f"+{number(cost.gain)}"

        grid = Grid(
            ("change", "carries up to", "gain"),
            len(self.without),
            row,
            left_out="and {} more that cost less",
        )
        return [*more, Line(f"with all constraints, placements carry up to {rate}"), grid]


def constraint_costs(
    placement: Placement, *, seed: int = 0, quick: bool = False
) -> ConstraintCosts | None:
    """Return the rules whose removal alone would let placements carry more.

    A search, limited by its number of changes, runs with all rules, from the placement and from
    placers, and then without each rule, from the best placement with all of them and, unless there
    are many rules, from placers. Loads are those of ``bottleneck``. The same seed gives the same
    result. The result is None if there are no rules, for custom objectives, if no placement that
    obeys the rules is found, and if `quick` is set and the graph is too large.

    Parameters
    ----------
    quick
        Try only as many rules, and search only as long, as takes a fraction of a second.

    Raises
    ------
    InfeasibleError
        If it is proven that no placement obeys the rules, unless `quick` is set.
    """
    problem = placement.problem
    parts = RuledParts.of(problem)
    rules = [rule for rule in parts.rules() if rule.kind != "seconds_on"]
    size = len(problem.graph.names) + len(problem.graph.selectivity)
    most, total = (FEW, SMALL) if quick else (MANY, LARGE)
    tried = rules[: min(most, total // size)]
    if not tried or not problem.objective.follows_loads:
        return None
    rng = np.random.default_rng(seed)
    each = EVALUATIONS if quick else max(EVALUATIONS, min(THOROUGH, IN_ALL // len(tried)))

    def obeys(devices: Ints) -> bool:
        return problem.feasibility.violation(devices) is None

    def carried(devices: Ints) -> float:
        return min(max_source_rate(problem, devices) or MAX_RATE, MAX_RATE)

    own = [placement.devices] if obeys(placement.devices) else []
    try:
        best = most_carrying(problem, rng, [*own, *starts(problem, rng, None)], each)
    except InfeasibleError:
        if not quick:
            raise
        return None
    except PlacementError:
        return None
    found, few = [], len(tried) * size <= STARTED
    for rule in tried:
        graph, cluster, constraints = parts.without(rule)
        relaxed = Problem(graph, cluster, objective=problem.objective, constraints=constraints)
        found.append(
            most_carrying(relaxed, rng, [best, *(_others(relaxed, rng) if few else [])], each)
        )
    most_carried = max(carried(row) for row in (best, *found) if obeys(row))
    rates = [(carried(row), rule) for rule, row in zip(tried, found, strict=True)]
    costs = [
        ConstraintCost(rule, rate, rate - most_carried)
        for rate, rule in sorted(rates, key=lambda pair: -pair[0])
        if rate > most_carried * (1 + MIN_GAIN)
    ]
    return ConstraintCosts(most_carried, tuple(costs), len(tried) == len(rules), not quick)


def _change(rule: Rule, name_of: Callable[[Rule], str]) -> str:
    """Return the removal of a rule in words."""
    if rule.kind in LIMITS:
        return f"if {rule.key} had enough {rule.resource or rule.kind}"
    return f"without {name_of(rule)}"


def _others(problem: Problem, rng: np.random.Generator) -> list[Ints]:
    """Return the placements of placers, from which searches reach what is far from the best."""
    with suppress(InfeasibleError, PlacementError):
        return starts(problem, rng, None)
    return []


def most_carrying(
    problem: Problem, rng: np.random.Generator, rows: list[Ints], evaluations: int
) -> Ints:
    """Return the devices, (V,), of the placement that carries most, as a short search finds it.

    If there are few placements, all are tried.
    """
    loaded = overloaded(problem)
    if every := best_and_cheapest(loaded, 1.0, FEW_PLACEMENTS):
        return every[0].devices
    budget, best, tries = Budget(evaluations=evaluations), rows[0], 0
    while budget.left() and tries < TRIES:  # a search ends early when it no longer improves
        best = best_of_chains(loaded, rng, [best, *rows], budget).devices
        tries += 1
    return best
