"""The optimum, and the proof that it is one."""

from dataclasses import dataclass
from functools import cache
from math import inf

import numpy as np

from streamplace.cluster import Cluster
from streamplace.errors import UsageError
from streamplace.graph import Operator, Stream, StreamGraph
from streamplace.models import CLOSED_FORMS
from streamplace.placement import Placement
from streamplace.placers.annealing import Budget, check_limits
from streamplace.placers.base import Proof
from streamplace.placers.bracket import Bracket
from streamplace.placers.enumerating import enumerate_all
from streamplace.placers.refuting import refute_all
from streamplace.placers.search import Search
from streamplace.problem import Problem

MOST_WORKERS = 1024  # CP-SAT itself refuses more than 10,000, as a model that is invalid
MOST_ROOM = 4_000_000  # units x units x devices: what larger problems need does not fit memory


@dataclass(frozen=True)
class Exact:
    """Search for a good placement, then prove that none is better, or find one that is.

    A proof holds to a relative 1e-9 of throughput. Given time enough for it, the same seed gives
    the same placement.

    Parameters
    ----------
    seconds
        Wall time after which to stop with what is known then, once the search is done.
    workers
        Threads of CP-SAT.
    """

    seconds: float = 10.0
    workers: int = 1

    def __post_init__(self) -> None:
        check_limits("exact", self.seconds, None)
        if not 1 <= self.workers <= MOST_WORKERS:
            raise UsageError(f"exact: workers must be 1 to {MOST_WORKERS} (got {self.workers})")

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the best placement found."""
        return self.prove(problem, rng, start).placement

    def prove(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Proof:
        """Return the best placement found, and what none exceeds.

        Raises
        ------
        UsageError
            Under ``engine``.
        PlacementError, InfeasibleError
            If no feasible placement was found, or there is none.
        """
        if problem.model == "engine":
            raise UsageError("placer 'exact' proves under bottleneck and path-average, not engine")
        _compile()  # before the clock starts
        clock = Budget(self.seconds)
        bracket = Bracket(problem, Search()(problem, rng, start))
        units, devices = problem.feasibility.unit_count, len(problem.cluster.devices)
        if units**2 * devices > MOST_ROOM:
            return bracket.proof()
        if problem.model == "path-average":
            enumerate_all(bracket, clock)
        else:
            refute_all(bracket, clock, self.workers, int(rng.integers(2**31)))
        return bracket.proof()


@cache
def _compile() -> None:
    """Compile the kernels, on two operators that need two devices."""
    graph = StreamGraph([Operator("a", 1e7, 1.0), Operator("b", 1e7, 1.0)], [Stream("a", "b")])
    for model in CLOSED_FORMS:
        problem = Problem(graph, Cluster.equal(2), source_rate=1e3, model=model)
        on_one = Placement(problem, [0, 0])
        if model == "bottleneck":
            refute_all(Bracket(problem, on_one), Budget(inf), 1, 0)
        else:
            enumerate_all(Bracket(problem, on_one), Budget(inf))
