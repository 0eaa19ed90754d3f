"""The cache of everything that is computed once per problem."""

from functools import cached_property
from hashlib import blake2b
from weakref import WeakKeyDictionary

import numpy as np

from sim.closed_form.bounds import least_utilisation
from sim.engine import Settings, Simulation
from sim.flow import Flow
from sim.search import Instance
from streamplace.problem.makespan import Makespan
from streamplace.problem.problem import Problem
from streamplace.scoring.arrays import make_flow, make_instance


class CompiledProblem:
    """Intermediate results of scoring and search, each computed on first use.

    It refers to the parts of the problem but not to the problem, so that the cache does not keep
    the problem alive.
    """

    def __init__(self, problem: Problem) -> None:
        self._graph, self._cluster = problem.graph, problem.cluster
        self._objective, self._rules = problem.throughput_objective, problem.feasibility
        self._simulations: dict[Settings, Simulation] = {}
        self._least: dict[bool, float] = {}
        self._lower_rates = [problem.with_source_rate(r) for r in problem.source_rates[1:]]

    @property
    def at_lower_rates(self) -> list[Problem]:
        """The problem at each single source rate below the highest, in decreasing order."""
        return self._lower_rates

    @cached_property
    def flow(self) -> Flow:
        """The problem as arrays, at its highest source rate."""
        return make_flow(self._graph, self._cluster, self._objective)

    @cached_property
    def instance(self) -> Instance:
        """The units of the problem, as local search uses them."""
        return make_instance(self.flow, self._cluster, self._rules)

    def least_utilisation(self, *, links_count: bool) -> float:
        """Return the lower bound on the largest utilisation; see `sim.closed_form.bounds`.

        Parameters
        ----------
        links_count
            Whether to include the bounds from streams that are too heavy for any link, and from
            those that cross one because their ends never share a device.
        """
        if links_count not in self._least:
            flow, apart = self.flow, None
            if links_count:
                apart = self._rules.kept_apart(flow.source, flow.target)
            self._least[links_count] = least_utilisation(flow, self._rules.unit_of, apart)
        return self._least[links_count]

    def simulation(self, settings: Settings) -> Simulation:
        """Return the engine's simulation of the problem with some settings."""
        if settings not in self._simulations:
            latency_s = self._cluster.link_column("latency_s")
            self._simulations[settings] = Simulation(self.flow, latency_s, settings)
        return self._simulations[settings]


_COMPILED: WeakKeyDictionary[Problem, CompiledProblem] = WeakKeyDictionary()


def compiled(problem: Problem) -> CompiledProblem:
    """Return the cached intermediate results of a problem."""
    parts = _COMPILED.get(problem)
    if parts is None:
        parts = _COMPILED[problem] = CompiledProblem(problem)
    return parts


def check_loads(problem: Problem) -> None:
    """Compile a problem under its objective.

    Raises
    ------
    GraphError
        If loads overflow, or no tuple ever reaches a sink.
    """
    if isinstance(problem.objective, Makespan):
        from streamplace.scoring.compiled_pass import compiled_pass  # noqa: PLC0415 - slow to load

        compiled_pass(problem).tasks  # noqa: B018 - raises
    else:
        compiled(problem).flow  # noqa: B018


def at_all_rates(problem: Problem) -> tuple[Problem, ...]:
    """Return the problem at each of its source rates, in decreasing order.

    The first is the problem itself, since scoring uses the highest of its rates.
    """
    return (problem, *compiled(problem).at_lower_rates)


def digest(problem: Problem) -> bytes:
    """Return a hash of the problem's arrays, at all its rates, to detect changes."""
    hasher = blake2b(digest_size=16)
    if isinstance(problem.objective, Makespan):
        from streamplace.scoring.compiled_pass import compiled_pass  # noqa: PLC0415 - slow to load

        for field in compiled_pass(problem).tasks.columns:
            hasher.update(np.ascontiguousarray(field).tobytes())
        return hasher.digest()
    for one in at_all_rates(problem):
        flow = compiled(one).flow
        for column in flow.columns:
            hasher.update(np.ascontiguousarray(column).tobytes())
        hasher.update(flow.operator_tuples.tobytes() + flow.stream_bits.tobytes())
    return hasher.digest()


def forget(problem: Problem) -> None:
    """Drop the cached intermediate results of a problem."""
    _COMPILED.pop(problem, None)
    if isinstance(problem.objective, Makespan):
        from streamplace.scoring.compiled_pass import forget_pass  # noqa: PLC0415 - see digest

        forget_pass(problem)
