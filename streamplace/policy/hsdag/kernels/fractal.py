"""Fractal dimensions of the vertices of a directed graph."""

import numpy as np

from sim.flow import Floats
from sim.jit import kernel
from streamplace.policy.hsdag.kernels.parsing import Successors


@kernel
def fractal_dimensions(successors: Successors) -> Floats:
    """Return the fractal dimension of each of n vertices, (n,).

    It is the slope of log N(v, r) over log r by least squares, over all distances r > 0 of a vertex
    from v along the edges, where N(v, r) is the number of vertices within r, without v. Vertices
    that cannot be reached do not count. The slope is 0 where there are fewer than two distances.
    """
    n = successors.first.shape[0] - 1
    result = np.zeros(n)
    reached = np.full(n, -1)
    queue = np.empty(n, np.int64)
    for v in range(n):
        reached[v] = v
        queue[0] = v
        begin, end, radius = 0, 1, 0
        points, x, y, xx, xy = 0, 0.0, 0.0, 0.0, 0.0
        while begin < end:
            layer_end = end
            for i in range(begin, layer_end):
                for e in range(successors.first[queue[i]], successors.first[queue[i] + 1]):
                    other = successors.target[e]
                    if reached[other] != v:
                        reached[other] = v
                        queue[end] = other
                        end += 1
            begin = layer_end
            radius += 1
            if end > layer_end:
                log_r, log_n = np.log(radius), np.log(end - 1)
                points += 1
                x, y = x + log_r, y + log_n
                xx, xy = xx + log_r * log_r, xy + log_r * log_n
        if points > 1:
            result[v] = (points * xy - x * y) / (points * xx - x * x)
    return result
