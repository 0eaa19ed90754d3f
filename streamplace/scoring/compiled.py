"""What scoring and search compute once per problem, and the problem keeps."""

from collections.abc import Iterator
from functools import cached_property
from hashlib import blake2b
from typing import Any, Protocol

import numpy as np

from streamplace.problem.objective import Throughput
from streamplace.problem.problem import Problem
from streamplace.problem.symmetry import identical_devices
from streamplace.scoring.arrays import make_flow, make_instance
from streamplace.sim.closed_form.bounds import least_shares
from streamplace.sim.exact import LoadBounds
from streamplace.sim.flow import Flow
from streamplace.sim.search import Instance, with_messages
from streamplace.util.arrays import Floats


class Compiled(Protocol):
    """Intermediate results of one problem, each computed on first use.

    They refer to the parts of the problem but not to the problem, so that it is freed at once when
    nothing else uses it.
    """

    def columns(self) -> Iterator[Any]:
        """Yield all arrays that scores depend on.

        Raises
        ------
        GraphError
            If loads overflow, or no tuple ever reaches a sink.
        """
        ...

    @property
    def work(self) -> Floats:
        """The work of each operator, (V,), in a unit that depends on the objective."""
        ...

    @property
    def mean_times(self) -> tuple[Floats, Floats]:
        """The mean times of operators, (V,), and streams, (E,); see `orders.mean_times`."""
        ...


class CompiledProblem:
    """Intermediate results of scoring throughput and of search."""

    def __init__(self, problem: Problem) -> None:
        self._graph, self._cluster = problem.graph, problem.cluster
        self._objective, self._rules = problem.throughput_objective, problem.feasibility
        self._constraints = problem.constraints
        self._lower_rates = [problem.with_source_rate(r) for r in problem.source_rates[1:]]

    @property
    def at_lower_rates(self) -> list[Problem]:
        """The problem at each single source rate below the highest, in decreasing order."""
        return self._lower_rates

    @cached_property
    def flow(self) -> Flow:
        """The problem as arrays, at its highest source rate."""
        return make_flow(self._graph, self._cluster, self._objective)

    def columns(self) -> Iterator[Any]:
        """Yield the arrays of the flow at each source rate."""
        yield from (*self.flow.columns, self.flow.operator_tuples, self.flow.stream_bits)
        for problem in self._lower_rates:
            yield from compiled(problem).columns()

    @property
    def work(self) -> Floats:
        """The instructions/s of each operator at the source rate, (V,)."""
        return self.flow.work

    @property
    def mean_times(self) -> tuple[Floats, Floats]:
        """The utilisations of a mean device, (V,), and of a mean link, (E,)."""
        return self.flow.work / float(self.flow.capacity.mean()), self.flow.traffic

    @cached_property
    def instance(self) -> Instance:
        """The units of the problem, as local search uses them."""
        return make_instance(self.flow, self._cluster, self._rules)

    @cached_property
    def load_bounds(self) -> LoadBounds:
        """Bounds on loads where an overloaded link throttles all sources."""
        return self._bounds(self.instance)

    @cached_property
    def cpu_bounds(self) -> LoadBounds:
        """Bounds on loads by CPU work alone."""
        return self._bounds(with_messages(self.instance, 0.0, 0.0))

    def least_utilisation(self, *, links_count: bool) -> float:
        """Return the quick lower bound on the largest utilisation, by all loads or by CPU work."""
        bounds = self.load_bounds if links_count else self.cpu_bounds
        return bounds.quick * self.instance.reference

    def _bounds(self, instance: Instance) -> LoadBounds:
        identical = identical_devices(self._cluster, self._constraints)
        total = least_shares(self.flow).total / instance.reference
        return LoadBounds(instance, identical, total)


def compiled(problem: Problem) -> CompiledProblem:
    """Return the intermediate results of a problem under throughput.

    Without a source rate, they are those at 1 tuple/s, which serve as weights of operators and
    streams.
    """
    if not problem.objective.has_rates:
        problem = problem.once(at_one_tuple)
    return problem.once(CompiledProblem)


def at_one_tuple(problem: Problem) -> Problem:
    """Return the problem at a source rate of 1 tuple/s."""
    return problem.with_objective(Throughput.of(1.0))


def compiled_parts(problem: Problem) -> Compiled:
    """Return the intermediate results of a problem under its objective."""
    if "compiled" not in problem.objective.functions:
        return compiled(problem)
    own: Compiled = problem.objective.function("compiled")(problem)
    return own


def parts_of_pass(problem: Problem) -> Any:
    """Return the intermediate results of a problem whose objective is about one pass.

    They are a `CompiledPass`.

    Raises
    ------
    ProblemError
        If the objective is another one.
    """
    problem.require_pass()
    return compiled_parts(problem)


def check_loads(problem: Problem) -> None:
    """Compile a problem under its objective.

    Raises
    ------
    GraphError
        If loads overflow, or no tuple ever reaches a sink.
    """
    next(compiled_parts(problem).columns())


def at_all_rates(problem: Problem) -> tuple[Problem, ...]:
    """Return the problem at each of its source rates, in decreasing order.

    The first is the problem itself, since scoring uses the highest of its rates.
    """
    return (problem, *compiled(problem).at_lower_rates)


def digest(problem: Problem) -> bytes:
    """Return a hash of the problem's arrays, at all its rates, to detect changes."""
    hasher = blake2b(digest_size=16)
    for column in compiled_parts(problem).columns():
        hasher.update(np.ascontiguousarray(column).tobytes())
    return hasher.digest()
