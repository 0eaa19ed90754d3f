"""The base class of evaluators for custom objectives."""

from abc import abstractmethod
from dataclasses import replace

import numpy as np

from streamplace.errors import UsageError
from streamplace.problem.objectives import NOUN, text_of
from streamplace.problem.problem import Problem
from streamplace.scoring.evaluator import LocalSearch, Placements
from streamplace.scoring.registry import model_evaluator
from streamplace.scoring.score import ROUNDING, ThroughputScore
from streamplace.scoring.throughput_evaluator import ThroughputEvaluator
from streamplace.sim.exact import LoadBounds
from streamplace.util.arrays import Floats
from streamplace.util.plugins import named_fault


class ObjectiveEvaluator(ThroughputEvaluator):
    """Evaluator of placements under a custom objective; see `Evaluator`.

    A subclass defines `worth`, the value of a placement in tuples/s: its throughput less what the
    objective deducts. The objective's class attribute `evaluator` refers to the subclass. Scores,
    tables and files show the worth in place of the throughput. It may not exceed the throughput, so
    upper bounds on throughput hold for it too.

    Attributes
    ----------
    problem
        The problem; its `objective` has the options.
    of_model
        The evaluator of throughput under the problem's model.
    """

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.of_model = model_evaluator(problem)
        self.overload_matters = self.of_model.overload_matters
        self.gains_from_threads = self.of_model.gains_from_threads
        self.climbs = not self.gains_from_threads

    @abstractmethod
    def worth(self, problem: Problem, devices: Placements, throughput: Floats) -> Floats:
        """Return the worth of K placements, (K,) tuples/s, from 0 to their throughput.

        Parameters
        ----------
        problem
            The problem at one source rate; with several rates there is one call per rate.
        devices
            (K, V) device indices.
        throughput
            (K,) tuples/s under the problem's model.
        """

    def throughput_at(self, problem: Problem, devices: Placements) -> Floats:
        """Return the worth of K placements, (K,) tuples/s, at one of the source rates.

        Raises
        ------
        UsageError
            If `worth` raises, or returns a wrong shape or a value out of range.
        """
        rows = np.atleast_2d(devices)
        throughput = self.of_model.throughput_at(problem, rows)
        with named_fault(NOUN, text_of(problem.objective), "its evaluator failed"):
            worth = np.asarray(self.worth(problem, rows, throughput.copy()), dtype=np.float64)
        if fault := _fault(worth, throughput):
            raise UsageError(f"{NOUN} {text_of(problem.objective)!r}: its evaluator {fault}")
        return np.minimum(worth, throughput)

    @property
    def least_utilisation(self) -> float:
        """The lower bound on the largest utilisation, at the highest source rate."""
        return self.of_model.least_utilisation

    @property
    def throughput_bounds(self) -> LoadBounds:
        """The bounds of the model, since worth does not exceed throughput."""
        return self.of_model.throughput_bounds

    @property
    def load_bounds(self) -> LoadBounds:
        """The bounds of the model on loads."""
        return self.of_model.load_bounds

    @property
    def best_possible(self) -> float | None:
        """An upper bound on the relative throughput of all placements; None if unknown."""
        return self.of_model.best_possible

    def local_search(self) -> LocalSearch:
        """Return the kernels for throughput, since a custom objective has none."""
        return self.of_model.local_search()

    def score(self, devices: Placements) -> ThroughputScore:
        """Return the score of one placement, (V,), at the rate with the lowest relative worth."""
        case = self.worst_case(devices)
        # the first case is the problem itself, with all its rates
        alone = case.with_source_rate(case.source_rate)
        worth = float(self.throughput_at(alone, devices)[0])
        return replace(
            model_evaluator(alone).score(devices),
            throughput=worth,
            relative_throughput=worth / alone.source_rate,
        )


def _fault(worth: Floats, throughput: Floats) -> str:
    """Return what is wrong with the worth of K placements, or an empty text."""
    if worth.shape != throughput.shape:
        return f"must return an array of shape {throughput.shape} (got shape {worth.shape})"
    with np.errstate(invalid="ignore"):
        wrong = ~((worth >= 0) & (worth <= throughput * (1 + ROUNDING)))
    if not wrong.any():
        return ""
    k = int(wrong.argmax())
    limits = f"values from 0 to the throughput ({throughput[k]:g} tuples/s)"
    return f"must return {limits}, but returned {worth[k]:g} for placement {k}"
