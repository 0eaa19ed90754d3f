"""The fourth feature of each pair: an estimate of what a move there gains, without a simulation."""

from dataclasses import replace

import numpy as np

from sim.closed_form.bottleneck import worst_utilisation
from streamplace.policy.giph.kernels.eft import move_to_path, prior_criticality
from streamplace.policy.giph.kernels.view import start_potentials
from streamplace.policy.giph.questions import Sight, WalkState
from streamplace.scoring.evaluator import Evaluator, ScheduleTrace
from streamplace.scoring.flow import flow
from streamplace.util.arrays import Floats


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
    if not state.one.is_pass:
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
