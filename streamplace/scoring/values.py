"""Scores and evaluators of objectives without source rates: one number for each placement."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from streamplace.display.mixins import Tabular
from streamplace.display.text import number, percent_up
from streamplace.display.view import Cell, Grid, Line, View
from streamplace.errors import SimulationError, UsageError
from streamplace.problem.objective import Objective
from streamplace.problem.objectives import NOUN, text_of
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.evaluator import LocalSearch, Placements, Trace
from streamplace.scoring.flow import flow
from streamplace.scoring.loads import use_columns
from streamplace.scoring.registry import made_by_own_class
from streamplace.scoring.score import ROUNDING, Score
from streamplace.sim.closed_form.bottleneck import utilisations
from streamplace.util.arrays import Floats
from streamplace.util.plugins import named_fault
from streamplace.util.running_search import count


@dataclass(frozen=True, repr=False, eq=False)
class ValueScore(Tabular, Score):
    """The value of a placement under an objective without source rates.

    Parameters
    ----------
    placement
        The placement.
    reached
        Its value, in the unit of the objective.
    bound
        The bound on the value of any placement; None if none is known.
    """

    first_tried: ClassVar[str] = "the first operators"
    largest_part: ClassVar[str] = ""

    placement: Placement
    reached: float
    bound: float | None = None

    @property
    def objective(self) -> Objective:
        """The objective."""
        return self.placement.problem.objective

    @property
    def quantity(self) -> str:  # type: ignore[override]  # that of the objective
        """What the value is, in words."""
        return self.objective.quantity

    @property
    def value(self) -> float:
        """The value, in `unit`."""
        return self.reached

    @property
    def unit(self) -> str:
        """The unit of the value; empty without one."""
        return self.objective.unit

    @property
    def verb(self) -> str:
        """What a move does that improves the value, in words."""
        return "raises" if self.objective.higher_is_better else "lowers"

    @property
    def figures(self) -> dict[str, float]:
        """The value, by its name in JSON."""
        return {self.objective.value_key: self.value}

    @property
    def gap(self) -> float | None:
        """How far the value is from the bound, as a share of the larger; None without a bound."""
        if self.bound is None:
            return None
        larger = max(self.value, self.bound)
        return abs(self.value - self.bound) / larger if larger else 0.0

    @property
    def quality(self) -> float:
        """The value on the scale of `ValueEvaluator.quality`."""
        return float(quality_of(np.array([self.value]), self.objective)[0])

    def with_bound(self, bound: float | None) -> Self:
        """Return the score with a bound that a placer has proven, unless its own is tighter."""
        if bound is None:
            return self
        tightest = min if self.objective.higher_is_better else max
        known = bound if self.bound is None else tightest(self.bound, bound)
        return replace(self, bound=known)

    @property
    def headline(self) -> str:
        """The value as a phrase."""
        gap = "" if self.gap is None else f", gap {percent_up(self.gap)}"
        return f"{self.quantity} {self.in_unit(number(self.value))}{gap}"

    def to_dict(self) -> dict[str, Any]:
        """Return what `simulate --json` prints."""
        return {
            "objective": text_of(self.objective),
            "quantity": self.quantity,
            "unit": self.unit,
            **self.figures,
            "bound": self.bound,
            "gap": self.gap,
            "devices": self.to_records(),
        }

    def to_records(self) -> list[dict[str, Any]]:
        """Return name and number of operators of each device."""
        names, on = self.placement.problem.cluster.names, self.placement.devices
        counts = np.bincount(on, minlength=len(names)).tolist()
        rows = zip(names, counts, strict=True)
        return [{"name": name, "operators": several} for name, several in rows]

    def summary(self) -> dict[str, Any]:
        """Return the score as `place --json` prints it."""
        return self.to_dict()

    def differing_lines(self, other: "ValueScore") -> tuple[Line, ...]:
        """Return the objectives of both scores, unless they are equal."""
        texts = tuple(text_of(one.objective) for one in (self, other))
        return (Line("scored under {} and under {}", texts),) if len(set(texts)) > 1 else ()

    def explanation_entries(self) -> dict[str, Any]:
        """Return the score as `explain --json` prints it."""
        return self.to_dict()

    def explanation(self) -> tuple[Line | Grid, ...]:
        """Return the score as lines and tables."""
        return (Line(self.headline),)

    def _view(self) -> View:
        return self.view_with(self.placement)

    def view_with(self, placement: Placement | None) -> View:
        """Return the view of the score; it always has the names of operators."""
        return View(
            f"{type(self).__name__}: {self.headline}",
            body=(Line(self.headline), self._device_grid()),
        )

    def _device_grid(self) -> Grid:
        """Return the devices with what is used on them and their operators as a table."""
        columns, names = use_columns(self.placement), self.placement.problem.cluster.names

        def row(d: int) -> tuple[Cell, ...]:
            used = (column[d] for column in columns.values())
            return names[d], *used, self.placement.operators_on(d)

        head = ("device", *columns, "operators")
        return Grid(head, len(names), row, (0, len(head) - 1))


class ValueEvaluator(ABC):
    """Evaluator of placements under an objective without source rates; see `Evaluator`.

    A subclass defines `values`, and the objective's class attribute `evaluator` refers to it.

    Attributes
    ----------
    problem
        The problem; its `objective` has the options.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._flow = flow(problem)  # raises where loads overflow

    @abstractmethod
    def values(self, devices: Placements) -> Floats:
        """Return the value of K placements, (K,), for (K, V) device indices; at least 0."""

    @property
    def bound(self) -> float | None:
        """The bound on the value of any placement; None: none is known."""
        return None

    @property
    def parts(self) -> int:
        """The number of operators and streams, in proportion to which a score takes time."""
        return len(self.problem.graph.names) + len(self._flow.source)

    def check_values(self, devices: Placements) -> Floats:
        """Return the value of each placement, (K,).

        Raises
        ------
        UsageError
            If `values` raises, or returns a wrong shape or a value that is negative or not finite.
        """
        rows, name = np.atleast_2d(devices), text_of(self.problem.objective)
        count(len(rows))
        with named_fault(NOUN, name, "its evaluator failed"):
            found = np.asarray(self.values(rows), dtype=np.float64)
        if found.shape != (len(rows),):
            fault = f"an array of shape {(len(rows),)} (got shape {found.shape})"
        elif not (np.isfinite(found) & (found >= 0.0)).all():
            wrong = found[~(np.isfinite(found) & (found >= 0.0))]
            fault = f"finite values from 0, but returned {wrong[0]:g}"
        else:
            return found
        raise UsageError(f"{NOUN} {name!r}: its evaluator must return {fault}")

    def quality(self, devices: Placements) -> Floats:
        """Return a number from 0 to 1 for each placement, (K,), that is higher if it is better."""
        return quality_of(self.check_values(devices), self.problem.objective)

    def loss(self, devices: Placements) -> Floats:
        """Return the value of each placement, (K,), with a minus if higher values are better."""
        found = self.check_values(devices)
        return -found if self.problem.objective.higher_is_better else found

    def trace(self, devices: Placements) -> Trace:
        """Return the loads of devices under each placement, at the rate of `scoring.flow`."""
        rows = np.atleast_2d(devices).astype(np.int32)
        return Trace(np.stack([utilisations(self._flow, row)[0] for row in rows]))

    def score(self, devices: Placements) -> ValueScore:
        """Return the score of one placement, (V,)."""
        row = np.atleast_2d(devices)[0]
        value = float(self.check_values(row)[0])
        return ValueScore(Placement(self.problem, row), value, self.bound)

    @property
    def best_possible(self) -> float | None:
        """The quality of the bound; None without one."""
        if self.bound is None:
            return None
        return float(quality_of(np.array([self.bound]), self.problem.objective)[0])

    def local_search(self) -> LocalSearch | None:
        """Return None: no kernels search for such values."""
        return None


def quality_of(values: Floats, objective: Objective) -> Floats:
    """Return values from 0 as numbers from 0 to 1, (K,), that are higher if they are better."""
    least: Floats = 1.0 / (1.0 + values)
    return 1.0 - least if objective.higher_is_better else least


def evaluator_for_values(problem: Problem) -> ValueEvaluator:
    """Return a new evaluator of a problem; see `made_by_own_class`."""
    made: ValueEvaluator = made_by_own_class(problem, ValueEvaluator, "ValueEvaluator")
    return made


def without_rounding(bound: float, value: float, *, higher_is_better: bool = False) -> float:
    """Return a bound on values, in their unit, which is no worse than the value of a placement.

    Raises
    ------
    SimulationError
        If the value is better than the bound by more than rounding: one of them must be wrong.
    """
    excess = value - bound if higher_is_better else bound - value
    if excess > ROUNDING * abs(value):
        side, where = ("upper", "below") if higher_is_better else ("lower", "above")
        raise SimulationError(
            f"the {side} bound of {bound!r} is {where} the {value!r} of a placement, so one of "
            "them is wrong; please report this with the graph and the cluster"
        )
    return max(bound, value) if higher_is_better else min(bound, value)
