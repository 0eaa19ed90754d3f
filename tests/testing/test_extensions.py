"""The conformance checks of placers, families and objectives: what passes, and defects."""

from dataclasses import dataclass
from itertools import count, pairwise
from typing import Any, ClassVar

import numpy as np
import pytest

import streamplace as sp
from streamplace.scoring.objective_evaluator import ObjectiveEvaluator
from streamplace.testing import check_family, check_objective, check_placer

DRAWN = np.random.default_rng(0)
CALLS = count()


@pytest.mark.parametrize("name", ["greedy", "random", "search:evaluations=50", "metis"])
def test_built_in_placers_pass(name: str) -> None:
    check_placer(name)


@pytest.mark.parametrize("name", ["dream", "layered", "series-parallel"])
def test_built_in_families_pass(name: str) -> None:
    check_family(name)


def test_throughput_passes() -> None:
    check_objective("throughput")


def stateful_placer(problem: sp.Problem, rng: Any, start: Any = None) -> sp.Placement:
    """Draw random numbers from a generator of its own."""
    devices = DRAWN.integers(len(problem.cluster.devices), size=len(problem.graph.names))
    return sp.Placement(problem, devices)


def careless_placer(problem: sp.Problem, rng: Any, start: Any = None) -> sp.Placement:
    """Ignore constraints."""
    return sp.Placement(problem, np.zeros(len(problem.graph.names), dtype=np.int32))


def broken_placer(problem: sp.Problem, rng: Any, start: Any = None) -> sp.Placement:
    """Raise an error with two lines."""
    raise ZeroDivisionError("no\ndevices left")


@pytest.mark.parametrize(
    ("placer", "fault"),
    [
        (broken_placer, "graph layered_0: it raised ZeroDivisionError: no devices left"),
        (3, "a int is not a placer"),
        (stateful_placer, "the same seed gives two placements; draw random numbers only from rng"),
        (careless_placer, "may not run on device 'a'"),
        ("nobody", "unknown placer"),
    ],
)
def test_defects_of_placers_are_named(placer: Any, fault: str) -> None:
    with pytest.raises(AssertionError, match=fault) as caught:
        check_placer(placer)
    assert len(str(caught.value).splitlines()) == 1


def float_placer(problem: sp.Problem, rng: Any, start: Any = None) -> sp.Placement:
    """Return device indices that are not integers."""
    return sp.Placement(problem, np.zeros(len(problem.graph.names)))


def test_a_defect_names_the_placer_once() -> None:
    for placer in (careless_placer, float_placer, f"{__name__}:broken_placer"):
        with pytest.raises(AssertionError, match=r"^graph layered_") as caught:
            check_placer(placer)
        assert str(caught.value).count("_placer") == 1


def chain(length: int, work: float, name: str) -> sp.StreamGraph:
    """Return a chain in which every operator has the same work."""
    names = [f"op{v}" for v in range(length)]
    streams = [(one, other, 1.0) for one, other in pairwise(names)]
    operators = [(each, work, 1e3) for each in names]
    return sp.StreamGraph(operators, streams, name=name, source_rate=1e4)


def counting_family(operators: int, rng: np.random.Generator, name: str) -> sp.StreamGraph:
    """Keep state between calls."""
    return chain(operators, 1e5 + next(CALLS), name)


def fixed_family(operators: int, rng: np.random.Generator, name: str) -> sp.StreamGraph:
    """Draw nothing, not even the number of operators."""
    return chain(8, 1e5, name)


def broken_family(operators: int, rng: np.random.Generator, name: str) -> sp.StreamGraph:
    """Raise an error."""
    raise ZeroDivisionError("no operators left")


@pytest.mark.parametrize(
    ("family", "fault"),
    [
        (counting_family, "graphs depend on the order in which they are drawn"),
        (fixed_family, "graphs do not depend on the seed"),
        (broken_family, "no operators left"),
    ],
)
def test_defects_of_families_are_named(family: Any, fault: str) -> None:
    with pytest.raises(AssertionError, match=fault) as caught:
        check_family(family)
    assert len(str(caught.value).splitlines()) == 1


class RankedEvaluator(ObjectiveEvaluator):
    """Let the worth of a placement depend on the best one of the call."""

    def worth(self, problem: sp.Problem, devices: Any, throughput: Any) -> Any:
        return throughput * throughput / throughput.max()


class GenerousEvaluator(ObjectiveEvaluator):
    """Return more than the throughput."""

    def worth(self, problem: sp.Problem, devices: Any, throughput: Any) -> Any:
        return throughput + 1.0


@dataclass(frozen=True)
class Ranked(sp.Throughput):
    evaluator: ClassVar[type] = RankedEvaluator


@dataclass(frozen=True)
class Generous(sp.Throughput):
    evaluator: ClassVar[type] = GenerousEvaluator


@pytest.mark.parametrize(
    ("objective", "fault"),
    [
        (Ranked(), "the worth of a placement depends on other placements of the same call"),
        (Generous(), "its evaluator "),
        ("makespan", "is not a subclass of streamplace.Throughput"),
        ("nothing", "unknown objective"),
    ],
)
def test_defects_of_objectives_are_named(objective: Any, fault: str) -> None:
    with pytest.raises(AssertionError, match=fault) as caught:
        check_objective(objective)
    assert len(str(caught.value).splitlines()) == 1
