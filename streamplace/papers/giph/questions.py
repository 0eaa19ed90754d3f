"""What a policy decides in a step: graphs of pairs, or of operators whose device follows."""

from dataclasses import dataclass, replace

import numpy as np

from streamplace.papers.giph.features import GiphProblem
from streamplace.papers.giph.gp_net import (
    GpNet,
    earliest_pairs,
    finish_changes,
    gp_net,
    least_pairs,
    movable,
    move_to_path,
    move_unit,
    offered,
    prior_criticality,
    relocate,
)
from streamplace.papers.giph.view import (
    NONE,
    View,
    operator_view,
    start_potentials,
    view_of,
)
from streamplace.scoring.evaluator import Evaluator, ScheduleTrace
from streamplace.scoring.flow import flow
from streamplace.sim.closed_form.bottleneck import worst_utilisation
from streamplace.sim.rules import NOWHERE, Placed, nothing_placed, put_all
from streamplace.util.arrays import Bools, Floats, Ints


class WalkState:
    """A placement that changes by one relocation at a time.

    Operators on devices that they may not use start on the first device that they may.

    Attributes
    ----------
    one
        The problem.
    devices
        (V,) the current placement.
    net
        Its graph of pairs.
    last
        The unit that moved last, or -1.
    """

    def __init__(self, one: GiphProblem, devices: Ints) -> None:
        self.one = one
        self.devices = one.on_pairs(devices)
        self.net: GpNet = gp_net(one.pairs, self.devices)
        self.last = NOWHERE
        self._placed: Placed = nothing_placed(one.rules)
        put_all(one.rules, self._placed, self.devices)

    def movable(self) -> Bools:
        """Return the pairs that the next step may choose, (N,).

        These are not the pivots, nor pairs of the unit that moved last, nor pairs that a constraint
        rules out.
        """
        return movable(self.one.pairs, self.one.rules, self._placed, self.net.pivot, self.last)

    def offered(self) -> Bools:
        """Return the pairs that are part of the graph, (N,)."""
        if not self.one.sizes.merges_idle:
            return np.ones(len(self.one.pairs.operator), np.bool_)
        return offered(self.one.pairs, self.one.kind, self.devices)

    def move(self, v: int, device: int) -> None:
        """Move the unit of an operator to a device."""
        unit = int(self.one.rules.unit_of[v])
        move_unit(self.one.rules, self._placed, unit, device)
        for u in self.one.members(unit):
            self.devices[u] = device
            relocate(self.one.pairs, self.net, u, device)
        self.last = unit

    def stay(self) -> None:
        """Take a step without a move, after which every unit may move again."""
        self.last = NOWHERE


@dataclass(frozen=True, eq=False)
class Sight:
    """What a step reads besides the placement.

    Attributes
    ----------
    potential
        (N,) the fourth feature of each pair; see `sight_of`.
    start, finish
        (V,) simulated times in seconds; None under throughput.
    critical_operators, critical_streams
        (V,) and (E,) criticalities; None if they are not read.
    """

    potential: Floats
    start: Floats | None = None
    finish: Floats | None = None
    critical_operators: Floats | None = None
    critical_streams: Floats | None = None


@dataclass(frozen=True, eq=False)
class Question:
    """What a policy decides in one step.

    Attributes
    ----------
    view
        The graph that the network reads.
    may
        (n,) which nodes may be chosen.
    answer
        (n,) the pair that the choice of each node means; -1: none.
    """

    view: View
    may: Bools
    answer: Ints

    def node(self, pair: int) -> int:
        """Return the node whose choice means a pair; -1 if there is none."""
        nodes = np.flatnonzero(self.answer == pair)
        return int(nodes[0]) if len(nodes) else -1


def about_pairs(state: WalkState, sight: Sight) -> Question:
    """Return the choice of a pair: the operator that moves, and its device."""
    sizes, pairs = state.one.sizes, state.one.pairs
    further = _of_pairs(state, sight), _of_streams(sight), sizes.reciprocals
    view = view_of(pairs, state.net, sight.potential, state.offered(), *further)
    return Question(view, state.movable()[view.pair], view.pair)


def _of_pairs(state: WalkState, sight: Sight) -> Floats:
    """Return the further features of pairs, (N, ·)."""
    pairs, columns = state.one.pairs, []
    if sight.critical_operators is not None:
        columns.append(sight.critical_operators[pairs.operator])
    if state.one.sizes.finish:
        if sight.start is None or sight.finish is None:
            columns.append(np.zeros(len(pairs.operator)))
        else:
            columns.append(finish_changes(pairs, state.net, sight.start, sight.finish))
    return np.stack(columns, axis=1) if columns else NONE


def _of_streams(sight: Sight) -> Floats:
    """Return the further features of streams, (E, ·)."""
    return NONE if sight.critical_streams is None else sight.critical_streams[:, None]


def about_operators(state: WalkState, sight: Sight, waits: bool) -> Question:
    """Return the choice of an operator, which then goes where it ends first (`destinations`)."""
    view = operator_view(state.one.pairs, state.net, sight.potential)
    return Question(view, *destinations(state, sight, waits))


def destinations(state: WalkState, sight: Sight, waits: bool) -> tuple[Bools, Ints]:
    """Return which operators may move, (V,), and the pair with which each ends first, (V,).

    Under throughput, it is the pair with which the largest utilisation is lowest. The current
    device counts, too.

    Parameters
    ----------
    waits
        Whether operators wait until a device is idle.
    """
    pairs, net = state.one.pairs, state.net
    candidates = state.movable() & state.offered()
    may = np.add.reduceat(candidates, pairs.first[:-1]) > 0
    candidates[net.pivot] = True
    if sight.start is None or sight.finish is None:
        return may, least_pairs(pairs, sight.potential, candidates)
    return may, earliest_pairs(pairs, net, sight.start, sight.finish, candidates, waits)


def sight_of(state: WalkState, evaluator: Evaluator, before: Sight | None = None) -> Sight:
    """Return what a step reads.

    Parameters
    ----------
    before
        What the step before read, whose criticalities move toward the critical path.

    Returns
    -------
    Sight

        The potential of a pair is that of the start time (`start_potentials`) under the makespan
        objective, and the change of the largest utilisation (`headrooms`) under throughput.
    """
    if state.one.problem.objective.has_rates:
        return _with_criticality(Sight(headrooms(state)), state, before)
    trace = evaluator.trace(state.devices)
    assert isinstance(trace, ScheduleTrace), "evaluators of makespans return times"
    start, finish = trace.start_s[0], trace.finish_s[0]
    sight = Sight(start_potentials(state.one.pairs, state.net, start, finish), start, finish)
    return _with_criticality(sight, state, before)


def _with_criticality(sight: Sight, state: WalkState, before: Sight | None) -> Sight:
    """Return what a step reads with the criticalities of operators and streams, if it does."""
    pairs, share = state.one.pairs, state.one.sizes.criticality
    if share == 0.0:
        return sight
    operators = before.critical_operators if before is not None else None
    streams = before.critical_streams if before is not None else None
    if operators is None or streams is None:
        operators, streams = prior_criticality(pairs)
    if sight.finish is not None:
        operators, streams = move_to_path(pairs, state.net, sight.finish, share, operators, streams)
    return replace(sight, critical_operators=operators, critical_streams=streams)


def headrooms(state: WalkState) -> Floats:
    """Return the change of the largest utilisation by each move, (N,); 0 for pairs not offered.

    Utilisations are those of the closed form, which weighs the moves of all pairs at once.
    """
    one, arrays = state.one, flow(state.one.problem)
    chosen = np.flatnonzero(state.offered())
    rows = np.repeat(state.devices[None], len(chosen) + 1, axis=0)
    for row, pair in enumerate(chosen.tolist()):
        unit = int(one.rules.unit_of[one.pairs.operator[pair]])
        rows[row, one.members(unit)] = one.pairs.device[pair]
    worst = worst_utilisation(arrays, rows)
    change = np.zeros(len(one.pairs.operator))
    change[chosen] = worst[:-1] - worst[-1]
    return change
