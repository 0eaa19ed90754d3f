"""The evaluator of users' objectives: what is left of the throughput of placements."""

from abc import abstractmethod
from dataclasses import replace

import numpy as np

from streamplace.errors import UsageError
from streamplace.problem.objectives import NOUN, text_of
from streamplace.problem.problem import Problem
from streamplace.scoring.evaluator import Placements
from streamplace.scoring.local_search import LocalSearch
from streamplace.scoring.registry import model_evaluator
from streamplace.scoring.score import ThroughputScore
from streamplace.scoring.throughput_evaluator import ThroughputEvaluator
from streamplace.util.arrays import Floats
from streamplace.util.plugins import named_fault

ROUNDING = 1e-9  # relative


class ObjectiveEvaluator(ThroughputEvaluator):
    """What placements of one problem are worth under a user's objective; see `Evaluator`.

    A subclass defines `worth`, and the class attribute `evaluator` of the objective names it. What
    a placement is worth is counted as throughput everywhere: in scores, tables and files. It never
    exceeds the throughput, so bounds of throughput hold for it too.

    Attributes
    ----------
    problem
        Its `objective` has the options.
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
        """Return what K placements are worth, (K,) tuples/s, from 0 to their throughput.

        Parameters
        ----------
        problem
            At one source rate, of several one by one.
        devices
            (K, V) device indices.
        throughput
            (K,) tuples/s, under the problem's model.
        """

    def throughput_at(self, problem: Problem, devices: Placements) -> Floats:
        """Return what K placements are worth, (K,) tuples/s, at one of the cases.

        Raises
        ------
        UsageError
            If `worth` fails, or returns other than asked for.
        """
        rows = np.atleast_2d(devices)
        most = self.of_model.throughput_at(problem, rows)
        with named_fault(NOUN, text_of(problem.objective), "its evaluator failed"):
            found = np.asarray(self.worth(problem, rows, most.copy()), dtype=np.float64)
        if fault := _fault(found, most):
            raise UsageError(f"{NOUN} {text_of(problem.objective)!r}: its evaluator {fault}")
        return np.minimum(found, most)

    @property
    def least_utilisation(self) -> float:
        """The largest utilisation that no placement stays below, at the highest source rate."""
        return self.of_model.least_utilisation

    @property
    def best_possible(self) -> float | None:
        """The relative throughput that no placement exceeds; None where that is unknown."""
        return self.of_model.best_possible

    def local_search(self) -> LocalSearch:
        """Return the kernels that anneal throughput: the objective has none of its own."""
        return self.of_model.local_search()

    def score(self, devices: Placements) -> ThroughputScore:
        """Return the score of one placement, (V,), at the source rate where it is worth least."""
        case = self.worst_case(devices)
        alone = case.with_source_rate(case.source_rate)  # the highest rate stands for several
        worth = float(self.throughput_at(alone, devices)[0])
        return replace(
            model_evaluator(alone).score(devices),
            throughput=worth,
            relative_throughput=worth / alone.source_rate,
        )


def _fault(worth: Floats, most: Floats) -> str:
    """Return what is wrong with the worth of K placements of some throughput; empty if nothing."""
    if worth.shape != most.shape:
        return f"returned an array of shape {worth.shape}; {most.shape} is wanted"
    with np.errstate(invalid="ignore"):
        wrong = ~((worth >= 0) & (worth <= most * (1 + ROUNDING)))
    if not wrong.any():
        return ""
    k = int(wrong.argmax())
    limits = f"from 0 to the throughput, {most[k]:g}, is wanted"
    return f"returned {worth[k]:g} for placement {k}; a number {limits}"
