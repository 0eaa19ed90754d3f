"""How critical operators and streams are: a prior from the graph, and paths of schedules."""

import numpy as np

from sim.flow import Floats
from sim.jit import kernel
from streamplace.policy.giph.kernels.gp_net import GpNet, Pairs, last_input

SHARPNESS = 10.0  # of the split of an operator's criticality among its streams, as in the code


@kernel
def prior_criticality(pairs: Pairs) -> tuple[Floats, Floats]:
    """Return the criticality of operators, (V,), and of streams, (E,), without a schedule.

    Operators without inputs have 1. An operator passes its criticality on to its streams, in
    proportion to exp(10 B / the largest B), and has the sum of what its inputs pass on.
    """
    operators, streams = np.zeros(pairs.order.shape[0]), np.zeros(pairs.source.shape[0])
    most = 0.0
    for e in range(streams.shape[0]):
        most = max(most, pairs.data[e])
    for i in range(operators.shape[0]):
        v = pairs.order[i]
        if pairs.first_in[v] == pairs.first_in[v + 1]:
            operators[v] = 1.0
        total = 0.0
        for k in range(pairs.first_out[v], pairs.first_out[v + 1]):
            e = pairs.outward[k]
            streams[e] = np.exp(SHARPNESS * pairs.data[e] / most) if most > 0.0 else 1.0
            total += streams[e]
        for k in range(pairs.first_out[v], pairs.first_out[v + 1]):
            e = pairs.outward[k]
            streams[e] *= operators[v] / total
            operators[pairs.target[e]] += streams[e]
    return operators, streams


@kernel
def move_to_path(
    pairs: Pairs, net: GpNet, finish: Floats, share: float, operators: Floats, streams: Floats
) -> tuple[Floats, Floats]:
    """Return criticalities after a share of them has moved to the critical path of a schedule.

    The path ends with the operator that ends last, and goes back to the input that arrived last. A
    criticality c becomes c + share (1 - c) on the path, and (1 - share) c elsewhere.

    Parameters
    ----------
    finish
        (V,) simulated ends of the operators in seconds.
    operators, streams
        (V,) and (E,) criticalities before.
    """
    of_operators, of_streams = (1.0 - share) * operators, (1.0 - share) * streams
    v = int(np.argmax(finish))
    while v >= 0:
        of_operators[v] += share
        last, _ = last_input(pairs, net, finish, v, pairs.device[net.pivot[v]])
        v = -1
        if last >= 0:
            of_streams[last] += share
            v = pairs.source[last]
    return of_operators, of_streams
