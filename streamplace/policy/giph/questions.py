"""What a policy decides in a step: graphs of pairs, or of operators whose device follows."""

from dataclasses import dataclass

import numpy as np

from streamplace.policy.giph.kernels.eft import earliest_pairs, finish_changes, least_pairs
from streamplace.policy.giph.kernels.operators import operator_view
from streamplace.policy.giph.kernels.view import NONE, View, view_of
from streamplace.policy.giph.state import WalkState
from streamplace.util.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Sight:
    """What a step reads besides the placement.

    Attributes
    ----------
    potential
        (N,) the fourth feature of each pair; see `potentials`.
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
