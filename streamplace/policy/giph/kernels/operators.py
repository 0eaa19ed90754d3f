"""The graph of operators under a placement, as GiPH's ablation by operators reads it."""

import numpy as np

from sim.flow import Floats
from sim.jit import kernel
from streamplace.policy.giph.kernels.gp_net import EDGE_FEATURES, GpNet, Pairs, transfer
from streamplace.policy.giph.kernels.view import PAIR_FEATURES, Single, View, scale


def operator_view(pairs: Pairs, net: GpNet, potential: Floats) -> View:
    """Return the operators with the features of their current pairs.

    The potential of an operator is the lowest of its pairs, (N,).
    """
    operators, streams = len(pairs.order), len(pairs.source)
    x = np.empty((operators, PAIR_FEATURES), np.float32)
    f = np.empty((streams, EDGE_FEATURES), np.float32)
    _describe(pairs, net, potential, x, f)
    every = np.arange(operators + 1, dtype=np.int32)
    ends = (pairs.first_in, pairs.inward, pairs.first_out, pairs.outward)
    block = np.arange(streams + 1, dtype=np.int32)
    return View(
        net.pivot.copy(), x, pairs.source, pairs.target, f, pairs.order, every, *ends, block
    )


@kernel
def _describe(pairs: Pairs, net: GpNet, potential: Floats, x: Single, f: Single) -> None:
    raw = np.empty((net.pivot.shape[0], PAIR_FEATURES))
    for v in range(net.pivot.shape[0]):
        pivot = net.pivot[v]
        lowest = np.inf
        for pair in range(pairs.first[v], pairs.first[v + 1]):
            lowest = min(lowest, potential[pair])
        raw[v, 0], raw[v, 1] = pairs.size[v], pairs.speed[pairs.device[pivot]]
        raw[v, 2], raw[v, 3] = pairs.weight[pivot], lowest
    scale(raw, raw.shape[0], x)
    kept = np.empty((pairs.source.shape[0], EDGE_FEATURES))
    for e in range(kept.shape[0]):
        k = pairs.device[net.pivot[pairs.source[e]]]
        m = pairs.device[net.pivot[pairs.target[e]]]
        kept[e, 0], kept[e, 1], kept[e, 2] = pairs.data[e], pairs.bandwidth[k, m], pairs.delay[k, m]
        kept[e, 3] = transfer(pairs, e, k, m)
    scale(kept, kept.shape[0], f)
