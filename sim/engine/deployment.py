"""The deployment of a placement: devices, links, costs and shares."""

import numpy as np

from sim.engine.links import DOWNLINK, RECEIVER, SENDER, UPLINK
from sim.engine.records import Records
from sim.flow import Columns, Floats, Ints
from sim.jit import kernel
from sim.links import ends_of, seconds_on, uplinks_of

FOREVER = 1e9  # ticks


@kernel
def lay_out(
    flow: Columns,
    operators: Records,
    streams: Records,
    links: Records,
    number: Ints,
    placement: Ints,
    latency_s: Floats,
    nominal: Floats,
    emitted: Floats,
    weighted: bool,
    tick_s: float,
) -> int:
    """Fill in the records of a placement; return the number of links crossed plus 1.

    Parameters
    ----------
    links
        Records for all links that can be crossed, from index 1.
    number
        (L,) scratch array.
    latency_s
        (L,) LogP's L of each link.
    nominal
        (E,) expected tuples/s on each stream, which determine the operators' shares of devices.
    emitted
        (V,) expected tuples/s sent by each operator; used for windowed ones.
    weighted
        Whether shares are proportional to work instead of equal.
    """
    devices = flow.capacity.shape[0]
    count = 1
    number[:] = 0
    for v in range(operators.shape[0]):
        d = placement[v]
        operators[v].device = d
        operators[v].send_cost = 0.0
        operators[v].own_cost = flow.instructions[v] / flow.capacity[d]
        operators[v].source_cost = operators[v].own_cost
        usable = flow.operator_cores[v]
        operators[v].own_share = usable / flow.cores[d] if usable < flow.cores[d] else np.inf
        operators[v].service_s = operators[v].own_cost * max(1.0, flow.cores[d] / usable)
    for e in range(streams.shape[0]):
        v, w = flow.source[e], flow.target[e]
        a, b = placement[v], placement[w]
        streams[e].sends = streams[e].receives = streams[e].delay = 0
        streams[e].ups = streams[e].downs = 0
        streams[e].cost = flow.instructions[w] / flow.capacity[b]
        streams[e].service_s = operators[w].service_s
        streams[e].travel_s = 0.0
        if a == b:
            continue
        sends, receives = ends_of(flow.nic, devices, a, b)
        for link in (sends, receives):
            if number[link] == 0:
                number[link] = count
                links[count].stage = RECEIVER if flow.nic and link == receives else SENDER
                count += 1
        streams[e].sends, streams[e].receives = number[sends], number[receives]
        streams[e].send_s = seconds_on(flow, sends, e)
        streams[e].receive_s = seconds_on(flow, receives, e)
        latency = max(latency_s[sends], latency_s[receives])
        streams[e].delay = int(min(latency / tick_s + 1e-9, FOREVER))
        streams[e].most += nominal[e] * latency  # so that L does not limit throughput
        streams[e].travel_s = flow.overhead_s[sends] + streams[e].send_s + latency
        if flow.nic:
            streams[e].travel_s += streams[e].receive_s
        if flow.up.shape[0] > 0:
            up, down = uplinks_of(flow, a, b)
            if up >= 0:
                count = _number(number, links, up, UPLINK, count)
                streams[e].ups, streams[e].up_s = number[up], seconds_on(flow, up, e)
                streams[e].travel_s += streams[e].up_s
            if down >= 0:
                count = _number(number, links, down, DOWNLINK, count)
                streams[e].downs, streams[e].down_s = number[down], seconds_on(flow, down, e)
                streams[e].travel_s += streams[e].down_s
        streams[e].service_s += flow.overhead_s[receives]
        overhead = flow.selectivity[e] * flow.overhead_s[sends] / flow.cores[a]
        operators[v].send_cost += overhead
        streams[e].cost += flow.overhead_s[receives] / flow.cores[b]
    _set_shares(flow, operators, streams, placement, nominal, emitted, weighted)
    return count


@kernel
def _number(number: Ints, links: Records, link: int, stage: int, count: int) -> int:
    """Number a link and set its stage, unless that is done; return the number of the next one."""
    if number[link] > 0:
        return count
    number[link] = count
    links[count].stage = stage
    return count + 1


@kernel
def _set_shares(
    flow: Columns,
    operators: Records,
    streams: Records,
    placement: Ints,
    nominal: Floats,
    emitted: Floats,
    weighted: bool,
) -> None:
    """Complete the costs of operators, and set their shares of their devices."""
    total = np.zeros(flow.capacity.shape[0])
    for v in range(operators.shape[0]):
        seconds = 0.0
        if operators[v].source >= 0:
            operators[v].source_cost += operators[v].send_cost
            seconds = flow.source_tuples[v] * operators[v].source_cost
        first = operators[v].first_in
        for e in range(first, first + operators[v].inputs):
            if operators[v].window < 0:
                streams[e].cost += operators[v].send_cost
            seconds += nominal[e] * streams[e].cost
        if operators[v].window >= 0:
            seconds += emitted[v] * operators[v].send_cost
        operators[v].share = seconds if weighted else 1.0
        total[placement[v]] += operators[v].share
    for v in range(operators.shape[0]):
        if total[placement[v]] > 0.0:
            operators[v].share /= total[placement[v]]
