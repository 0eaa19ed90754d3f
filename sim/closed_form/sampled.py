"""The largest utilisation of placements under many draws of a flow's costs.

Each draw has its own instructions, payloads and selectivities; everything else is the flow's. The
utilisations are those of `bottleneck`, so a placement carries the source rate under a draw if the
largest one is at most 1, and sustains the source rate divided by it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.closed_form.bottleneck import add_utilisations
from streamplace.sim.flow import Columns, Floats, Flow, Ints, checked
from streamplace.sim.jit import kernel
from streamplace.sim.work import largest_own


class Draws(NamedTuple):
    """Loads of a flow at the offered rate in S draws of its costs.

    Parameters
    ----------
    work
        (S, V) instructions/s of each operator.
    tuples
        (S, E) tuples/s on each stream.
    bits
        (S, E) bits per tuple on each stream.
    operator_tuples
        (S, V) tuples/s of each operator.
    timed_instructions
        (S, T, C) instructions per tuple by class of devices, as in `Flow`.
    """

    work: Floats
    tuples: Floats
    bits: Floats
    operator_tuples: Floats
    timed_instructions: Floats


def draws_of(flow: Flow, instructions: Floats, payload_bytes: Floats, selectivity: Floats) -> Draws:
    """Return the loads of a flow whose costs are multiplied by factors.

    Parameters
    ----------
    instructions, payload_bytes
        (S, V) factors on the instructions of operators and on the bits of the streams that they
        send.
    selectivity
        (S, E) factors on selectivities, which have none where operators join their inputs.
    """
    if flow.joins:
        chosen = np.ones_like(selectivity)
        rates = np.full(instructions.shape, flow.source_rate)
    else:
        chosen = flow.selectivity * selectivity
        rates = _run_down(flow.source_tuples, flow.source, flow.target, chosen)
    return Draws(
        rates * flow.instructions * instructions,
        rates[:, flow.source] * chosen,
        np.ascontiguousarray(flow.bits * payload_bytes[:, flow.source]),
        rates,
        _timed(flow, instructions),
    )


def _timed(flow: Flow, instructions: Floats) -> Floats:
    """Return the table of timed instructions in each draw, (S, T, C); stated times are exact."""
    factor = np.ones((len(instructions), *flow.timed_instructions.shape))
    timed = np.flatnonzero(flow.timed >= 0)
    factor[:, flow.timed[timed]] = instructions[:, timed, None]
    return flow.timed_instructions * np.where(flow.stated, 1.0, factor)


def sampled_utilisation(flow: Flow, draws: Draws, placements: NDArray[np.integer]) -> Floats:
    """Return the largest utilisation of K placements in S draws, (K, S).

    Parameters
    ----------
    placements
        (K, V) device indices; (V,) counts as K = 1.

    Raises
    ------
    ValueError
        If `placements` does not fit the flow or names an unknown device.
    """
    rows = checked(flow, placements)
    worst = np.empty((len(rows), len(draws.work)))
    _worst(rows, flow.columns, draws, worst)
    return worst


@kernel
def _run_down(source_tuples: Floats, source: Ints, target: Ints, selectivity: Floats) -> Floats:
    """Return the tuples/s of every operator, (S, V), for selectivities, (S, E)."""
    rates = np.empty((selectivity.shape[0], source_tuples.shape[0]))
    for s in range(selectivity.shape[0]):
        rates[s] = source_tuples
        for e in range(source.shape[0]):
            rates[s, target[e]] += rates[s, source[e]] * selectivity[s, e]
    return rates


@kernel
def _worst(placements: Ints, flow: Columns, draws: Draws, worst: Floats) -> None:
    load = np.empty(flow.capacity.shape[0] + flow.gap_s.shape[0])
    for s in range(draws.work.shape[0]):
        drawn = Columns(
            flow.source_tuples,
            flow.instructions,
            draws.work[s],
            flow.source,
            flow.target,
            flow.selectivity,
            draws.bits[s],
            draws.tuples[s],
            flow.capacity,
            flow.cores,
            flow.nic,
            flow.gap_s,
            flow.seconds_per_bit,
            flow.overhead_s,
            flow.operator_cores,
            flow.limits_operators,
            flow.up,
            flow.down,
            draws.operator_tuples[s],
            draws.tuples[s] * draws.bits[s],
            flow.overhead_s_per_bit,
            flow.timed,
            draws.timed_instructions[s],
            flow.class_of,
            flow.egress,
            flow.multicast,
            flow.joins,
            flow.first_out,
            flow.out_stream,
            flow.taxing,
        )
        for k in range(placements.shape[0]):
            load[:] = 0.0
            add_utilisations(placements[k], drawn, load)
            worst[k, s] = max(load.max(), largest_own(placements[k], drawn))
