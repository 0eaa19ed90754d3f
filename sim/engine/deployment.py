"""The deployment of a placement: devices, links, costs and shares."""

import numpy as np

from streamplace.sim.crossed import Crossed, nothing_crossed, number_streams
from streamplace.sim.engine.links import DOWNLINK, RECEIVER, SENDER, UPLINK
from streamplace.sim.engine.records import Records
from streamplace.sim.flow import ALL, NONE, Columns, Floats, Ints
from streamplace.sim.jit import inner, kernel
from streamplace.sim.links import cpu_s, ends_of, link_s, uplinks_of
from streamplace.sim.messages import Copies, list_messages, marks, no_messages
from streamplace.sim.work import instructions_on

FOREVER = 1e9  # ticks of travel, ten times `MOST_TICKS`: longer ones would not fit into 32 bits


@kernel
def lay_out(
    flow: Columns,
    operators: Records,
    streams: Records,
    links: Records,
    placement: Ints,
    latency_s: Floats,
    nominal: Floats,
    emitted: Floats,
    weighted: bool,
    tick_s: float,
) -> tuple[int, Ints]:
    """Fill in the records of a placement.

    Returns the number of links crossed plus 1, and the number of each link, (L,), 0 if no stream
    crosses it.

    Parameters
    ----------
    links
        Records for all links that can be crossed, from index 1.
    latency_s
        (L,) LogP's L of each link.
    nominal
        (E,) expected tuples/s on each stream, which determine the operators' shares of devices.
    emitted
        (V,) expected tuples/s sent by each operator; used for windowed ones.
    weighted
        Whether shares are proportional to work instead of equal.
    """
    crossed = nothing_crossed(flow)
    count = number_streams(placement, flow, crossed)
    _set_own_costs(flow, operators, placement)
    for e in range(streams.shape[0]):
        v, w = flow.source[e], flow.target[e]
        a, b = placement[v], placement[w]
        streams[e].cost = operators[w].part * operators[w].own_cost
        streams[e].service_s = operators[w].service_s
        streams[e].sends, streams[e].receives = crossed.sends[e], crossed.receives[e]
        streams[e].ups = streams[e].downs = streams[e].delay = 0
        streams[e].travel_s = 0.0
        if a == b:
            continue
        sends, receives = ends_of(flow.nic, flow.capacity.shape[0], a, b)
        latency = max(latency_s[sends], latency_s[receives])
        # So that rounding does not make a latency of whole ticks one tick shorter.
        streams[e].delay = int(min(latency / tick_s + 1e-9, FOREVER))
        streams[e].most += nominal[e] * latency  # so that L does not limit throughput
        sending = cpu_s(flow, sends, a, 1.0, flow.bits[e])
        receiving = cpu_s(flow, receives, b, 1.0, flow.bits[e])
        streams[e].travel_s = _pass_links(flow, streams, links, crossed, e, sending, latency)
        streams[e].service_s += receiving
        if flow.multicast == NONE:
            operators[v].send_cost += flow.selectivity[e] * sending / flow.cores[a]
            streams[e].cost += receiving / flow.cores[b]
    if flow.multicast != NONE:
        _share_messages(flow, operators, streams, placement, latency_s)
    _set_shares(flow, operators, streams, placement, nominal, emitted, weighted)
    return count, crossed.number


@inner
def _pass_links(
    flow: Columns,
    streams: Records,
    links: Records,
    crossed: Crossed,
    e: int,
    sending: float,
    latency: float,
) -> float:
    """Set the links of a stream between devices, and their stages; return its travel in seconds."""
    streams[e].send_s = streams[e].receive_s = crossed.send_s[e]
    links[streams[e].sends].stage = SENDER
    travel: float = sending + streams[e].send_s + latency
    if flow.nic:
        streams[e].receive_s = crossed.receive_s[e]
        links[streams[e].receives].stage = RECEIVER
        travel += streams[e].receive_s
    else:
        streams[e].receives = streams[e].sends
    if flow.up.shape[0] > 0:
        if crossed.ups[e] > 0:
            streams[e].ups, streams[e].up_s = crossed.ups[e], crossed.up_s[e]
            links[crossed.ups[e]].stage = UPLINK
            travel += streams[e].up_s
        if crossed.downs[e] > 0:
            streams[e].downs, streams[e].down_s = crossed.downs[e], crossed.down_s[e]
            links[crossed.downs[e]].stage = DOWNLINK
            travel += streams[e].down_s
    return travel


@inner
def _set_own_costs(flow: Columns, operators: Records, placement: Ints) -> None:
    """Set what the work of operators costs on their devices."""
    for v in range(operators.shape[0]):
        d = placement[v]
        operators[v].device = d
        operators[v].send_cost = 0.0
        operators[v].own_cost = instructions_on(flow, v, d) / flow.capacity[d]
        operators[v].part = 1.0 / max(1, operators[v].inputs) if flow.joins else 1.0
        operators[v].source_cost = operators[v].own_cost
        usable = flow.operator_cores[v]
        operators[v].own_share = usable / flow.cores[d] if usable < flow.cores[d] else np.inf
        operators[v].service_s = operators[v].own_cost * max(1.0, flow.cores[d] / usable)


@inner
def _share_messages(
    flow: Columns, operators: Records, streams: Records, placement: Ints, latency_s: Floats
) -> None:
    """Replace the costs of streams between devices by those of the messages that they share.

    The first stream to a device pays for the message to it, and the first of all for what a message
    for all receivers costs its sender; the others travel as long, and cost nothing.
    """
    devices = flow.capacity.shape[0]
    copies = Copies(
        flow.first_out, flow.out_stream, flow.target, flow.selectivity, flow.selectivity * flow.bits
    )
    room = no_messages(devices, flow.gap_s.shape[0])
    for v in range(placement.shape[0]):
        a, together = placement[v], flow.multicast == ALL
        count = list_messages(copies, flow.multicast, v, a, placement, room)
        sending, sent = 0.0, 0.0
        for i in range(count):
            b, e, tuples, bits = room.to[i], room.first[i], room.tuples[i], room.bits[i]
            sends, receives = ends_of(flow.nic, devices, a, b)
            each = cpu_s(flow, sends, a, tuples, bits)
            sending = max(sending, each) if together else sending + each
            sent = max(sent, link_s(flow, sends, tuples, bits))
            each = cpu_s(flow, receives, b, tuples, bits)
            streams[e].cost += each / flow.selectivity[e] / flow.cores[b]
        operators[v].send_cost += sending / flow.cores[a]
        for k in range(copies.first[v], copies.first[v + 1]):
            e = copies.stream[k]
            b = placement[flow.target[e]]
            if b == a:
                continue
            i = room.place[b]
            tuples, bits = room.tuples[i], room.bits[i]
            sends, receives = ends_of(flow.nic, devices, a, b)
            pays, factor = room.first[i] == e, 1.0 / flow.selectivity[e]
            busy, size = link_s(flow, sends, tuples, bits), bits / tuples
            travel = cpu_s(flow, sends, a, 1.0, size)
            travel += busy / tuples + max(latency_s[sends], latency_s[receives])
            if together and (flow.nic or flow.egress):
                busy = sent if i == 0 else 0.0
            streams[e].send_s = factor * busy if pays else 0.0
            if flow.nic:
                busy = link_s(flow, receives, tuples, bits)
                travel += busy / tuples
                streams[e].receive_s = factor * busy if pays else 0.0
            if flow.up.shape[0] > 0:
                up, down = uplinks_of(flow, a, b)
                if up >= 0:
                    busy = link_s(flow, up, tuples, bits)
                    travel += busy / tuples
                    carries = pays and marks(room, devices, up, together)
                    streams[e].up_s = factor * busy if carries else 0.0
                if down >= 0:
                    busy = link_s(flow, down, tuples, bits)
                    travel += busy / tuples
                    carries = pays and marks(room, devices, down, together)
                    streams[e].down_s = factor * busy if carries else 0.0
            streams[e].travel_s = travel
            receiving = cpu_s(flow, receives, b, 1.0, size)
            streams[e].service_s = operators[flow.target[e]].service_s + receiving


@inner
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
                streams[e].cost += operators[v].part * operators[v].send_cost
            seconds += nominal[e] * streams[e].cost
        if operators[v].window >= 0:
            seconds += emitted[v] * operators[v].send_cost
        operators[v].share = seconds if weighted else 1.0
        total[placement[v]] += operators[v].share
    for v in range(operators.shape[0]):
        if total[placement[v]] > 0.0:
            operators[v].share /= total[placement[v]]
