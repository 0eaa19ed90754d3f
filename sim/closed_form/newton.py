"""Newton's method for the link equations, for cases in which damped iteration fails.

Damped iteration can oscillate for any damping when three links feed back on each other, and it
needs a tiny damping factor when a link is crossed thousands of times, even if a solution exists.
With u = log s, the equations s = min(1, 1 / offered(s)) become u + max(0, log offered(exp u)) = 0.
The left side is convex in u, since offered is a sum of products of s, so Newton's method converges
well, but each step is costly. Where operators join their inputs, the flow is a minimum of such
sums, so that convergence is not certain.
"""

import numpy as np

from sim.closed_form.bottleneck import utilisations
from sim.crossed import nothing_crossed, number_links
from sim.flow import Columns, Floats, Flow, Ints
from sim.jit import kernel
from sim.joins import taken, taken_at_first
from sim.links import STAGES, Crossed, passed
from sim.threads import largest_own

STEPS = 100
HALVINGS = 40
MOST_SLOPES = 20_000_000  # operators x links; a larger matrix takes too much memory and time


def solve_by_newton(flow: Flow, placement: Ints, residual: float) -> Floats | None:
    """Return the tuples/s of each operator, (V,), or None if the method does not converge.

    Parameters
    ----------
    placement
        (V,) int32 device indices.
    residual
        Largest |s - min(1, 1 / offered utilisation)| of a solution.
    """
    columns = flow.columns
    crossed = nothing_crossed(columns)
    links = number_links(placement, columns, crossed)
    if flow.operators * links > MOST_SLOPES:
        return None
    busiest = max(utilisations(flow, placement)[0].max(), largest_own(placement, columns))
    start = 1.0 / max(1.0, busiest)

    def evaluate(log_scale: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        scale = np.exp(log_scale)
        rate, offered, slope = _linearise(columns, start, crossed, scale)
        left = log_scale + np.log(np.maximum(1.0, offered))
        passed = 1.0 / np.maximum(1.0, offered)
        slope *= scale * np.where(offered > 1.0, passed, 0.0)[:, None]
        return rate, left, scale - passed, slope

    log_scale = np.zeros(links)
    rate, left, error, slope = evaluate(log_scale)
    for _ in range(STEPS):
        if np.abs(error).max() <= residual:
            return rate
        try:
            step = np.linalg.solve(np.eye(links) + slope, -left)
        except np.linalg.LinAlgError:
            return None
        for halved in range(HALVINGS):
            tried = np.minimum(0.0, log_scale + step * 0.5**halved)
            found = evaluate(tried)
            if np.abs(found[1]).max() < np.abs(left).max():
                break
        else:
            return None
        log_scale, (rate, left, error, slope) = tried, found
    return None


@kernel
def _linearise(
    flow: Columns,
    start: float,
    crossed: Crossed,
    scale: Floats,
) -> tuple[Floats, Floats, Floats]:
    """Return tuples/s (V,), offered utilisations (N,) and their derivatives by the scales (N, N).

    Link 0 stands for streams within a device; nothing is offered to it.
    """
    links = scale.shape[0]
    rate, rate_slope = np.empty(flow.work.shape[0]), np.zeros((flow.work.shape[0], links))
    for v in range(rate.shape[0]):
        rate[v] = taken_at_first(flow, v, start)
    offered, slope = np.zeros(links), np.zeros((links, links))
    for e in range(flow.source.shape[0]):
        a, b = flow.source[e], flow.target[e]
        tuples = rate[a] * flow.selectivity[e]
        tuples_slope = rate_slope[a] * flow.selectivity[e]
        for stage in range(STAGES):
            link, seconds = passed(crossed, e, stage)
            if link > 0:
                offered[link] += tuples * seconds
                slope[link] += tuples_slope * seconds
                tuples_slope *= scale[link]
                tuples_slope[link] += tuples
                tuples *= scale[link]
        if not flow.joins:
            rate_slope[b] += tuples_slope
        elif tuples < rate[b]:
            rate_slope[b] = tuples_slope
        rate[b] = taken(flow, rate[b], tuples)
    return rate, offered, slope
