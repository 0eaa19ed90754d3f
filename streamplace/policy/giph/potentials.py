"""The last feature of each pair: an estimate of what a move there gains, without a simulation."""

import numpy as np

from sim.closed_form.bottleneck import worst_utilisation
from streamplace.policy.giph.encode import EncodedProblem
from streamplace.policy.giph.kernels.view import start_potentials
from streamplace.policy.giph.state import WalkState
from streamplace.scoring.evaluator import Evaluator, ScheduleTrace
from streamplace.scoring.flow import flow
from streamplace.util.arrays import Bools, Floats


class Times:
    """The simulated times of a placement, (V,) each, in seconds."""

    def __init__(self, evaluator: Evaluator, state: WalkState) -> None:
        trace = evaluator.trace(state.devices)
        if not isinstance(trace, ScheduleTrace):
            raise TypeError("the objective has no times")
        self.start: Floats = trace.start_s[0]
        self.finish: Floats = trace.finish_s[0]


def headrooms(one: EncodedProblem, state: WalkState, is_offered: Bools) -> Floats:
    """Return the change of the largest utilisation by each move, (N,); 0 for pairs not offered.

    Utilisations are those of the closed form, which weighs the moves of all pairs at once.
    """
    pairs, arrays = one.pairs, flow(one.problem)
    chosen = np.flatnonzero(is_offered)
    rows = np.repeat(state.devices[None], len(chosen) + 1, axis=0)
    for row, pair in enumerate(chosen.tolist()):
        unit = int(one.rules.unit_of[pairs.operator[pair]])
        rows[row, one.members(unit)] = pairs.device[pair]
    worst = worst_utilisation(arrays, rows)
    change = np.zeros(len(is_offered))
    change[chosen] = worst[:-1] - worst[-1]
    return change


def potentials(
    one: EncodedProblem, state: WalkState, times: Times | None, is_offered: Bools
) -> Floats:
    """Return the potential of each pair, (N,).

    Under the makespan objective, it is the potential of the start time (`start_potentials`); under
    throughput, the change of the largest utilisation (`headrooms`).
    """
    if times is None:
        return headrooms(one, state, is_offered)
    return start_potentials(one.pairs, state.net, times.start, times.finish)
