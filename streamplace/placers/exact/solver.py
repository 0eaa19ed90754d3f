"""The runs of CP-SAT, the constraint solver of OR-tools, that prove a bound together.

CP-SAT 9.15.6755 has called a schedule optimal that was 0.2% too long, with presolve and integers up
to 2^40; without presolve, or with smaller integers, its answer was right. So no integer of a model
is above 2^30, and a proof counts only if a second run with another scale and without presolve has
the same outcome.
"""

from typing import Any, NamedTuple

from streamplace.errors import UsageError
from streamplace.util.extras import missing_message

try:
    from ortools.sat.python import cp_model
except ImportError:
    raise UsageError(missing_message("placer 'exact'", "OR-tools", "exact")) from None

__all__ = ["RUNS", "Run", "cp_model"]


class Run(NamedTuple):
    """How one run of CP-SAT differs from others.

    Attributes
    ----------
    limit
        The integer that stands for the limit of a model.
    presolve
        Whether CP-SAT simplifies the model first.
    """

    limit: int
    presolve: bool

    def rounded(self, share: float) -> int:
        """Return a share of the limit as an integer, rounded down; what exceeds it, as limit + 1.

        A sum of shares within the limit is therefore at most the limit as integers, too.
        """
        return self.limit + 1 if share > 1.0 else int(share * self.limit)

    def margin(self, terms: int) -> float:
        """Return the share of the limit by which rounding can reduce a sum of up to some terms."""
        return terms / self.limit

    def solver(self, workers: int, seed: int, seconds: float) -> Any:
        """Return a solver with a number of threads, a random seed and a time limit."""
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = workers
        solver.parameters.random_seed = seed
        solver.parameters.cp_model_presolve = self.presolve
        solver.parameters.max_time_in_seconds = max(0.0, seconds)
        solver.parameters.catch_sigint_signal = False  # Ctrl-C must end the process, not one solve
        return solver


RUNS = Run((1 << 30) - 1, presolve=True), Run(10**9, presolve=False)
"""The run that searches, and the one that confirms what it proves."""
