"""A decision problem as a model for CP-SAT, the constraint solver of OR-tools.

CP-SAT works with integers, and every load is rounded down. Every placement within the limit is
therefore a solution of the model; if the model has no solution, no placement is within the limit.
It is below that of the decision problem by what rounding can hide, so that every solution is a
placement within the latter.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from streamplace.placers.budget import Budget
from streamplace.placers.exact.decision import DecisionOutcome, DecisionProblem
from streamplace.placers.exact.solver import RUNS, Run, cp_model
from streamplace.sim.flow import NONE
from streamplace.sim.links import cpu_seconds, link_seconds, slot_of
from streamplace.sim.search import Instance, own_loads, unit_loads

MAX_CROSSINGS = 100_000  # streams x pairs of devices: larger models take too long to build


class Model:
    """A CP-SAT model of the placements of joined units in which no load exceeds the limit.

    Attributes
    ----------
    margin
        The share by which the limit is below that of the decision problem.
    """

    def __init__(self, decision: DecisionProblem, run: Run) -> None:
        self._decision, self._instance, self._run = decision, decision.instance, run
        ends = int(self._instance.outward.sum())
        self.margin = run.margin(len(self._instance.work) + ends)  # each adds to a load once
        self._limit = decision.limit / (1.0 + self.margin)
        self._model = cp_model.CpModel()
        self._terms: defaultdict[int, list[tuple[int, Any]]] = defaultdict(list)
        units, devices = len(self._instance.work), len(self._instance.capacity)
        self._on = [
            [self._model.new_bool_var(f"{u} on {d}") for d in range(devices)] for u in range(units)
        ]
        self._place_units()
        self._order_identical_devices()
        cross = self._cross_interfaces if self._instance.nic else self._cross_pairs
        for u, v, i in _streams(self._instance):
            cross(u, v, i)
            self._cross_uplinks(u, v, i)
        for terms in self._terms.values():
            self._model.add(_total(terms) <= run.limit)

    @staticmethod
    def is_small(decision: DecisionProblem) -> bool:
        """Return whether a model of the decision problem can be built in reasonable time.

        There is none of messages that several streams share.
        """
        instance = decision.instance
        crossings = len(instance.other) * len(instance.capacity) ** 2
        return instance.multicast == NONE and crossings <= 2 * MAX_CROSSINGS

    def search(self, effort: float, budget: Budget, workers: int, seed: int) -> DecisionOutcome:
        """Solve with an effort in CP-SAT's deterministic seconds, while time is left."""
        solver = self._run.solver(workers, seed, budget.seconds_left())
        solver.parameters.max_deterministic_time = effort
        status: Any = solver.solve(self._model)
        if status == cp_model.INFEASIBLE:
            return DecisionOutcome(proven=True, margin=self.margin)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return DecisionOutcome()
        on = np.array([[solver.value(x) for x in row] for row in self._on]).argmax(axis=1)
        found = self._decision.placement(on.astype(np.int32))
        broken = found.problem.feasibility.violation(
            found.devices
        )  # a limit, by less than rounding
        return DecisionOutcome() if broken else DecisionOutcome(found=found)

    def _place_units(self) -> None:
        """Put every unit on one allowed device, within its limits, apart from units it excludes."""
        instance = self._instance
        too_slow, loads = own_loads(instance) > self._limit, unit_loads(instance)
        for u, row in enumerate(self._on):
            self._model.add_exactly_one(row)
            for d, x in enumerate(row):
                if too_slow[u, d] or not instance.allowed[instance.row_of[u], d]:
                    self._model.add(x == 0)
                self._add_loads([x], {d: loads[u, d]})
            for v in instance.rival[instance.first_rival[u] : instance.first_rival[u + 1]]:
                if v > u:
                    for x, y in zip(row, self._on[v], strict=True):
                        self._model.add_at_most_one(x, y)
            self._keep_apart(u)
        for d, k in np.argwhere(instance.needs.sum(axis=0) > instance.room).tolist():
            share = instance.needs[:, k] / max(instance.room[d, k], 1.0)
            column = [row[d] for row in self._on]
            amounts = map(self._run.rounded, share.tolist())
            self._model.add(_total([*zip(amounts, column, strict=True)]) <= self._run.limit)

    def _keep_apart(self, u: int) -> None:
        """Let at most one of unit u and each of its far rivals be on devices of a group."""
        instance = self._instance
        for i in range(instance.first_rival[u], instance.first_rival[u + 1]):
            v = instance.rival[i]
            for group in np.unique(instance.group_of) if instance.far[i] and v > u else ():
                among = np.flatnonzero(instance.group_of == group)
                pair = [row[d] for row in (self._on[u], self._on[v]) for d in among]
                self._model.add_at_most_one(*pair)

    def _order_identical_devices(self) -> None:
        """Let a unit use an identical device only if a heavier unit uses the one before it."""
        heaviest = np.argsort(-self._instance.work, kind="stable").tolist()
        for d, identical in enumerate(self._decision.identical.tolist()):
            if identical >= 0:
                for rank, u in enumerate(heaviest):
                    before = [self._on[v][identical] for v in heaviest[:rank]]
                    self._model.add_bool_or([self._on[u][d].negated(), *before])

    def _cross_pairs(self, u: int, v: int, i: int) -> None:
        """Add end i's stream to the link between the devices of u and v, if they differ."""
        devices = len(self._instance.capacity)
        for a, x in enumerate(self._on[u]):
            for b, y in enumerate(self._on[v]):
                if a != b:
                    link = a * devices + b
                    self._add_loads([x, y], self._seconds(link, i) | self._overhead(link, i, a, b))

    def _cross_interfaces(self, u: int, v: int, i: int) -> None:
        """Add end i's stream to the interfaces of the devices of u and v, if they differ."""
        devices = len(self._instance.capacity)
        for d, (x, y) in enumerate(zip(self._on[u], self._on[v], strict=True)):
            leaves, enters = d, devices + d
            self._add_loads(
                [x, y.negated()], self._seconds(leaves, i) | self._overhead(leaves, i, d)
            )
            self._add_loads(
                [y, x.negated()], self._seconds(enters, i) | self._overhead(enters, i, d)
            )

    def _cross_uplinks(self, u: int, v: int, i: int) -> None:
        """Add end i's stream to the uplinks between the devices of u and v, if groups differ."""
        instance = self._instance
        for shared, own, other in (
            (instance.up, self._on[u], self._on[v]),
            (instance.down, self._on[v], self._on[u]),
        ):
            for link in np.unique(shared[shared >= 0]).tolist():
                inside = np.flatnonzero(shared == link).tolist()
                crosses = self._model.new_bool_var("")
                for d in inside:  # crosses if own is inside and other is not
                    self._model.add_bool_or(
                        [own[d].negated(), crosses, *(other[b] for b in inside)]
                    )
                self._add_loads([crosses], self._seconds(link, i))

    def _seconds(self, link: int, i: int) -> dict[int, float]:
        instance = self._instance
        seconds = link_seconds(instance, link, instance.tuples[i], instance.bits[i])
        devices = len(instance.capacity)
        return {devices + slot_of(instance, devices, link): seconds}

    def _overhead(self, link: int, i: int, *devices: int) -> dict[int, float]:
        instance = self._instance
        tuples, bits = instance.tuples[i], instance.bits[i]
        return {
            d: cpu_seconds(instance, link, d, tuples, bits) / instance.cores[d] for d in devices
        }

    def _add_loads(self, where: list[Any], costs: Mapping[int, float]) -> None:
        """Add costs to the loads of resources (devices, then links) if all literals hold."""
        amounts = {r: self._run.rounded(cost / self._limit) for r, cost in costs.items()}
        unless = [literal.negated() for literal in where]
        # The cost alone exceeds the limit, which forbids the literals and needs no term.
        if max(amounts.values()) > self._run.limit:
            self._model.add_bool_or(unless)
        elif max(amounts.values()) > 0:
            holds = where[0]
            if len(where) > 1:
                holds = self._model.new_bool_var("")
                self._model.add_bool_or([*unless, holds])
            for r, amount in amounts.items():
                self._terms[r].append((amount, holds))


class Proof:
    """The runs of CP-SAT on a decision problem; only all of them together prove it.

    Parameters
    ----------
    workers
        Number of threads.
    seed
        Random seed of CP-SAT.
    """

    def __init__(self, decision: DecisionProblem, workers: int, seed: int) -> None:
        self._decision, self._settings = decision, (workers, seed)
        self._run, self._model = 0, Model(decision, RUNS[0])

    def search(self, effort: float, budget: Budget) -> DecisionOutcome:
        """Go on with the run that has not been decided, with an effort for each; see `Model`."""
        outcome = self._model.search(effort, budget, *self._settings)
        while outcome.proven and self._run + 1 < len(RUNS):
            self._run += 1
            self._model = Model(self._decision, RUNS[self._run])
            outcome = self._model.search(effort, budget, *self._settings)
        return outcome


def _total(terms: list[tuple[int, Any]]) -> Any:
    amounts, literals = zip(*terms, strict=True)
    return cp_model.LinearExpr.weighted_sum(literals, amounts)


def _streams(instance: Instance) -> Iterator[tuple[int, int, int]]:
    """Yield each stream as its source unit, its target unit and the index of its end."""
    ends = np.repeat(np.arange(len(instance.work)), np.diff(instance.first_end))
    for i in np.flatnonzero(instance.outward).tolist():
        yield int(ends[i]), int(instance.other[i]), i
