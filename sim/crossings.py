"""Which links each stream of a placement crosses, numbered as met."""

from sim.flow import Columns, Floats, Ints
from sim.jit import kernel


@kernel
def number_links(
    placement: Ints,
    flow: Columns,
    number: Ints,
    sends: Ints,
    receives: Ints,
    send_s: Floats,
    receive_s: Floats,
) -> int:
    """Number the crossed links from 1 on; per stream, note which it crosses and seconds/tuple."""
    devices, count = flow.capacity.shape[0], 1
    number[:] = 0
    for e in range(flow.source.shape[0]):
        a, b = placement[flow.source[e]], placement[flow.target[e]]
        sends[e] = receives[e] = 0
        if a == b:
            continue
        first = a if flow.nic else a * devices + b
        if number[first] == 0:
            number[first] = count
            count += 1
        sends[e] = number[first]
        send_s[e] = flow.gap_s[first] + flow.bits[e] * flow.seconds_per_bit[first]
        if flow.nic:
            second = devices + b
            if number[second] == 0:
                number[second] = count
                count += 1
            receives[e] = number[second]
            receive_s[e] = flow.gap_s[second] + flow.bits[e] * flow.seconds_per_bit[second]
    return count
