"""Results at real sizes: the values of every placer and limit, and ratios of them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations
from math import exp
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.real_sizes.problems import Recipe
from benchmarks.result_lines import read
from streamplace.errors import UsageError
from streamplace.util.arrays import Floats
from streamplace.util.effect import Effect

Values = dict[str, float]  # value by problem
Ratios = dict[str, float]  # placer over rival by problem; above 1 the placer is better


@dataclass(frozen=True)
class Results:
    """All results of some files.

    Attributes
    ----------
    values
        (placer, limit) -> problem -> value, of the latest line of each.
    least
        Problem -> lower bound of the value by CPU alone.
    commits
        (placer, limit) -> commits of these lines.
    cpu_s
        (placer, limit) -> problem -> CPU seconds.
    """

    values: dict[tuple[str, str], Values]
    least: Values
    commits: dict[tuple[str, str], set[str]]
    cpu_s: dict[tuple[str, str], Values]

    @classmethod
    def of(cls, files: Iterable[Path]) -> "Results":
        """Read files.

        Raises
        ------
        UsageError
            If two lines of one problem were measured on different graphs.
        """
        latest: dict[tuple[str, str, str], dict[str, Any]] = {}
        graphs: dict[str, str] = {}
        for row in (row for file in files for row in read(file)):
            problem = row["problem"]
            if graphs.setdefault(problem, row["graph"]) != row["graph"]:
                raise UsageError(f"{problem}: results of different graphs")
            latest[row["placer"], row["limit"], problem] = row
        values: dict[tuple[str, str], Values] = {}
        commits: dict[tuple[str, str], set[str]] = {}
        cpu_s: dict[tuple[str, str], Values] = {}
        for (placer, limit, problem), row in latest.items():
            values.setdefault((placer, limit), {})[problem] = row["value"]
            commits.setdefault((placer, limit), set()).add(row["commit"])
            cpu_s.setdefault((placer, limit), {})[problem] = row["cpu_s"]
        least = {problem: row["least"] for (_, _, problem), row in latest.items()}
        return cls(values, least, commits, cpu_s)

    def limits(self, placer: str) -> list[str]:
        """Return the limits of a placer, the longest first."""
        return sorted(
            (t for p, t in self.values if p == placer), key=lambda t: -float(t.split()[0])
        )

    def rivals(self, placer: str, limit: str) -> list[str]:
        """Return the other placers with a limit, the one that it compares worst with first."""
        others = [name for name, own in self.values if own == limit and name != placer]
        own = self.values[placer, limit]
        return sorted(others, key=lambda name: mean(ratios(own, self.values[name, limit])).mean)


def ratios(own: Values, others: Values) -> Ratios:
    """Return throughput over throughput, each at most the offered rate, or makespans reversed."""
    return uncapped_ratios(capped(own), capped(others))


def uncapped_ratios(own: Values, others: Values) -> Ratios:
    """Return the same without a limit by the offered rate, which compares headroom too."""
    return {problem: others[problem] / value for problem, value in own.items() if problem in others}


def capped(values: Values) -> Values:
    """Return utilisations that are at least 1, and makespans as they are."""
    return {
        problem: value if Recipe.of(problem).batch else max(1.0, value)
        for problem, value in values.items()
    }


def best_of(results: Results, stored: Values) -> Values:
    """Return the best value of each problem, stored or among some results."""
    found = dict(stored)
    for values in results.values.values():
        for problem, value in values.items():
            found[problem] = min(value, found.get(problem, np.inf))
    return found


def pairs(values: Values) -> Ratios:
    """Return the value on fewer devices over that on more, for every pair of numbers."""
    numbers: dict[str, dict[int, float]] = {}
    for problem, value in capped(values).items():
        recipe = Recipe.of(problem)
        whole = str(replace(recipe, fastest=0))
        numbers.setdefault(whole, {})[recipe.fastest or recipe.devices] = value
    return {
        f"{Recipe.of(whole).words} on {few} and {more}": on[few] / on[more]
        for whole, on in numbers.items()
        for few, more in combinations(sorted(on), 2)
    }


def mean(some: Ratios) -> Effect:
    """Return the geometric mean with its interval."""
    if not some:
        return Effect(1.0, np.nan, np.nan)
    effect = Effect.of(np.log(array(some)))
    return Effect(exp(effect.mean), exp(effect.low), exp(effect.high))


def array(some: Ratios) -> Floats:
    """Return the ratios, (N,)."""
    return np.array(list(some.values()))
