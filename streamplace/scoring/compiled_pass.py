"""The cache of everything that is computed once per problem under the makespan objective."""

from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np

from sim.schedule.bounds import Bounds, lower_bounds
from sim.schedule.fastest import FastestPaths, fastest_paths
from sim.schedule.rules import Rules
from sim.schedule.state import Noise, Order
from sim.schedule.task_graph import TaskGraph
from streamplace.problem.makespan import DispatchOrder
from streamplace.problem.problem import Problem
from streamplace.scoring.dispatch import Masks, dispatch_order
from streamplace.scoring.rules import rules_of
from streamplace.scoring.tasks import make_tasks


class CompiledPass:
    """Intermediate results of scheduling, each computed on first use.

    It refers to the parts of the problem but not to the problem, so that the cache does not keep
    the problem alive.
    """

    def __init__(self, problem: Problem) -> None:
        self._graph, self._cluster = problem.graph, problem.cluster
        self._objective, self._rules = problem.makespan_objective, problem.feasibility
        self._orders: dict[DispatchOrder, Order] = {}
        self.proven_s = 0.0
        """A lower bound in seconds that a placer has proven; 0 if none has."""

    @cached_property
    def tasks(self) -> TaskGraph:
        """One pass as arrays."""
        return make_tasks(self._graph, self._cluster, self._objective)

    @cached_property
    def masks(self) -> Masks:
        """The devices that may run each operator."""
        allowed, row_of = self._rules.unit_masks
        return Masks(np.array(allowed, order="C"), row_of[self._rules.unit_of])

    @cached_property
    def rules(self) -> Rules:
        """The constraints, as kernels of list scheduling and search take them."""
        return rules_of(self._rules, self._cluster)

    def order(self, name: DispatchOrder) -> Order:
        """Return an order of operators by its name; ``any`` is none."""
        if name not in self._orders:
            topological = self._graph.order
            self._orders[name] = dispatch_order(self.tasks, self.masks, topological, name)
        return self._orders[name]

    @cached_property
    def bounds(self) -> Bounds:
        """Lower bounds on the makespan of every placement without noise, in seconds."""
        return lower_bounds(self.tasks, *self.masks)

    @cached_property
    def fastest(self) -> FastestPaths:
        """Paths with every operator on its fastest device, in seconds."""
        return fastest_paths(self.tasks, *self.masks)

    @cached_property
    def noises(self) -> tuple[Noise, ...]:
        """The factors of each repeated pass; one without factors if there is no noise."""
        aim = self._objective
        if not aim.noise:
            return (Noise(np.zeros(0), np.zeros(0)),)
        sizes = self.tasks.operators, len(self.tasks.source)
        drawn = []
        for repeat in range(aim.repeats):
            rng = np.random.default_rng([aim.seed, repeat])
            drawn.append(Noise(*(rng.uniform(1 - aim.noise, 1 + aim.noise, n) for n in sizes)))
        return tuple(drawn)


_COMPILED: WeakKeyDictionary[Problem, CompiledPass] = WeakKeyDictionary()


def compiled_pass(problem: Problem) -> CompiledPass:
    """Return the cached intermediate results of a problem under the makespan objective."""
    parts = _COMPILED.get(problem)
    if parts is None:
        parts = _COMPILED[problem] = CompiledPass(problem)
    return parts


def forget_pass(problem: Problem) -> None:
    """Drop the cached intermediate results of a problem."""
    _COMPILED.pop(problem, None)
