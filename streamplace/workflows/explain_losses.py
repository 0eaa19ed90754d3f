"""Explanation of what each loss of a device, or of a group of devices, does to a placement."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from streamplace.errors import InfeasibleError, PlacementError
from streamplace.placers.auto import evaluations_by_default
from streamplace.placers.search.current import current_devices
from streamplace.placers.search.migrate import Migrate
from streamplace.placers.search.moves import with_fewest_moves
from streamplace.placers.search.nearby import SAME
from streamplace.problem.losses import restricted
from streamplace.problem.objectives import only_throughput
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import throughput_evaluator
from streamplace.scoring.throughput import simulate
from streamplace.util.arrays import Bools, Floats, Ints
from streamplace.util.checks import check_seed
from streamplace.util.running_search import report
from streamplace.workflows.diff import moves_between
from streamplace.workflows.explain import in_closed_form
from streamplace.workflows.loss_explanation import LossEffect, LossExplanation
from streamplace.workflows.migrate import migrate
from streamplace.workflows.result import Result, placement_in

# Losses that are searched as long as a placement by default; of more, each has a share. A guess.
LONG_SEARCHES = 20


class Loss(NamedTuple):
    """A device that is lost, or a group of devices, and the indices of the devices."""

    name: str
    devices: Ints
    is_group: bool = False


def explain_losses(placement: Placement | Result, *, seed: int = 0) -> LossExplanation:
    """Explain what the loss of each device, and of each group of devices, does to a placement.

    Devices and groups without operators are left out. A placement made under ``engine`` is
    explained by ``bottleneck``. Limits count changes, so that the answer does not depend on the
    machine.

    - What is left without any move: operators on the lost devices stop. What is upstream of them
      stops as well, as queues fill, and what is downstream gets no tuples from there. The sources
      that send nothing to a stopped operator go on at their own rates.
    - The moves are the fewest that a feasible placement needs, to the devices where a short search
      finds them best. Where less is carried after them than now, a search as that of `migrate`
      makes further moves, and those that gain nothing are undone.
    - That no placement carries as much as now is proven by bounds on the throughput.

    Parameters
    ----------
    placement
        A placement, or a result of `place`, under `Throughput`.
    seed
        Seed of the searches.

    Raises
    ------
    UsageError
        If the objective is another one than `Throughput` itself.
    """
    placement = placement_in("explain_losses: placement", placement)
    check_seed(seed)
    only_throughput(placement.problem.objective, "losses are explained only for throughput")
    placement = in_closed_form(placement)
    score = simulate(placement)
    losses = [*_losses(placement)]
    stopped = np.stack([np.isin(placement.devices, loss.devices) for loss in losses])
    left = shares_left(placement, stopped)
    search = _Search(placement, score.relative_throughput, seed, len(losses))
    names, devices = placement.problem.graph.names, placement.problem.cluster.names
    effects: list[LossEffect] = []
    for loss, row, share in zip(losses, stopped, left, strict=True):
        report("{} losses", None, tried=len(effects))
        effects.append(
            LossEffect(
                loss.name,
                tuple(devices[d] for d in loss.devices),
                loss.is_group,
                tuple(names[v] for v in np.flatnonzero(row)),
                share,
                **search.after(loss.devices),
            )
        )
    return LossExplanation(placement, score, tuple(sorted(effects, key=lambda one: one.rank)))


def shares_left(placement: Placement, stopped: Bools) -> list[float]:
    """Return the shares of the source rate that are left without any move; see `explain_losses`.

    Parameters
    ----------
    stopped
        (K, V) the operators that are stopped in each of K cases.
    """
    return [_share_left(placement, row) for row in _operators_waiting(placement.problem, stopped)]


def _losses(placement: Placement) -> Iterator[Loss]:
    """Yield the devices with operators, then the groups of several devices with operators."""
    cluster, used = placement.problem.cluster, np.unique(placement.devices)
    for d in used.tolist():
        yield Loss(cluster.names[d], np.array([d]))
    groups: dict[str, list[int]] = {}
    for d, device in enumerate(cluster.devices):
        if device.group is not None:
            groups.setdefault(device.group, []).append(d)
    for name, members in groups.items():
        if len(members) > 1 and np.isin(members, used).any():
            yield Loss(name, np.array(members), is_group=True)


def _operators_waiting(problem: Problem, stopped: Bools) -> Bools:
    """Return the operators whose tuples get to a stopped operator, (K, V) for (K, V).

    A pass without one of its operators never ends, so that all operators of a graph of single
    passes are blocked.
    """
    graph, blocked = problem.graph, stopped & problem.graph.flowing
    if graph.firing == "all":
        return np.broadcast_to(stopped.any(axis=1, keepdims=True), stopped.shape)
    for e in range(len(graph.stream_source) - 1, -1, -1):  # in topological order
        if graph.selectivity[e] > 0:
            blocked[:, graph.stream_source[e]] |= blocked[:, graph.stream_target[e]]
    return blocked


def _share_left(placement: Placement, blocked: Bools) -> float:
    """Return the share of the source rate that is carried while the blocked sources stop."""
    problem, graph = placement.problem, placement.problem.graph
    running: Floats = np.where(blocked, 0.0, graph.source_share)
    share = float(running.sum())
    if share <= 0.0:
        return 0.0
    shares = {graph.names[v]: float(running[v] / share) for v in graph.sources}
    reduced, _ = graph.with_numbers(source_shares=shares)
    rates = [rate * share for rate in problem.source_rates]
    objective = problem.throughput_objective.with_changes(rates)
    rest = Problem(reduced, problem.cluster, objective=objective, constraints=problem.constraints)
    return share * simulate(Placement(rest, placement.devices)).relative_throughput


class _Search:
    """The search for the moves after losses of devices of one placement.

    Parameters
    ----------
    now
        The relative throughput of the placement with all devices.
    losses
        How many losses are searched.
    """

    def __init__(self, placement: Placement, now: float, seed: int, losses: int) -> None:
        self._placement, self._enough, self._seed = placement, now * (1.0 - SAME), seed
        changes = evaluations_by_default(len(placement.devices))
        self._changes = changes * min(LONG_SEARCHES, losses) // losses

    def after(self, lost: Ints) -> dict[str, Any]:
        """Return the fields of a `LossEffect` about what the moves after a loss restore."""
        problem = self._placement.problem
        kept = np.delete(np.arange(len(problem.cluster.devices)), lost)
        if not len(kept):
            return {"reason": "no device is left", "proven": True}
        feasibility = problem.feasibility
        can_run: Bools = np.any(feasibility.allowed[:, kept], axis=1)
        confined = ~can_run[feasibility.unit_of]
        if confined.any():
            names = tuple(problem.graph.names[v] for v in np.flatnonzero(confined))
            return {"confined": names, "proven": True}
        try:
            return self._after_moves(restricted(problem, kept.tolist()))
        except InfeasibleError as error:
            return {"reason": str(error), "proven": True}
        except PlacementError as error:
            return {"reason": str(error)}

    def _after_moves(self, remaining: Problem) -> dict[str, Any]:
        """Return the fields about the moves to a placement on the remaining devices.

        The searches follow each other until as much is carried as with all devices: the fewest
        moves, up to twice as many, and any number unless bounds show that none restores as much.
        """
        old, rng = self._placement, np.random.default_rng(self._seed)
        necessary = len(
            moves_between(old.assignment, with_fewest_moves(current_devices(remaining, old)))
        )
        few = Migrate(old, max_moves=necessary, evaluations=self._changes)
        found = few.necessary(remaining, rng)
        proven = False
        if not self._is_enough(found):
            found = few(remaining, rng, found)
        if not self._is_enough(found):
            bound = throughput_evaluator(remaining).bound
            proven = bound < self._enough * remaining.source_rate
        if not (proven or self._is_enough(found)):
            placer = f"auto:evaluations={self._changes}"
            other = migrate(remaining, old, placer=placer, seed=self._seed).result.placement
            found = other if self._is_enough(other) else found
        return {
            "moves": moves_between(old.assignment, found),
            "fewest_moves": necessary,
            "after": simulate(found).relative_throughput,
            "survived": self._is_enough(found),
            "proven": proven,
        }

    def _is_enough(self, found: Placement) -> bool:
        return simulate(found).relative_throughput >= self._enough
