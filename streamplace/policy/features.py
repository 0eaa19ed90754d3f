"""Features of a problem, for graphs and clusters of any size.

All loads are divided by the problem's reference, the least utilisation that any placement could
have (`sim.closed_form.bottleneck.lowest_utilisation`), so that neither the source rate nor the size
of the cluster changes their range.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sim import orders
from sim.closed_form.bottleneck import lowest_utilisation
from sim.flow import Flow
from sim.lookahead import LookaheadProblem, all_squashed, squashed
from streamplace.problem.problem import Problem
from streamplace.problem.symmetry import interchangeable
from streamplace.scoring.flow import flow
from streamplace.scoring.registry import throughput_evaluator
from streamplace.util.arrays import Ints

Single = NDArray[np.float32]

OF_OPERATOR, OF_STREAM, OF_PROBLEM = 14, 4, 12  # numbers of each
OF_PUBLISHED = 2
MOST = 1e30  # of a feature: float32 holds little more


@dataclass(frozen=True, eq=False)
class EncodedProblem:
    """One problem as a policy reads it.

    Attributes
    ----------
    lookahead
        What `sim.lookahead` needs.
    operators, streams, whole
        (V, OF_OPERATOR), (E, OF_STREAM) and (OF_JOB,) float32 features.
    published
        (V, OF_PUBLISHED) float32, the features of Ni et al. 2020: the operator's utilisation of a
        mean device, and what it emits as utilisation of a mean link.
    orders
        (2, V): the operators level by level and path by path.
    """

    problem: Problem
    lookahead: LookaheadProblem
    operators: Single
    streams: Single
    whole: Single
    published: Single
    orders: Ints

    @property
    def size(self) -> int:
        """Return the number of operators."""
        return int(self.orders.shape[1])


def encode(problem: Problem) -> EncodedProblem:
    """Read a problem.

    Raises
    ------
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    """
    arrays = flow(problem)
    rules = problem.feasibility
    allowed, row_of = rules.masks
    overload_counts = throughput_evaluator(problem).overload_matters
    unit = 1.0 if overload_counts else lowest_utilisation(arrays)
    lookahead = LookaheadProblem(
        flow=arrays,
        unit=unit,
        kind=interchangeable(problem),
        leader=rules.first_of[rules.unit_of],
        row_of=row_of,
        allowed=np.ascontiguousarray(allowed),
        memory=problem.graph.memory_bytes,
        room=problem.cluster.memory_bytes,
    )
    both = np.stack([orders.breadth_first(arrays), orders.depth_first(arrays)])
    return EncodedProblem(problem, lookahead, *_features(arrays, overload_counts), both)


def _features(arrays: Flow, overload_counts: bool) -> tuple[Single, Single, Single, Single]:
    count, devices = arrays.operators, arrays.devices
    reference = lowest_utilisation(arrays)
    traffic = arrays.traffic / reference
    total = float(arrays.capacity.sum())
    load = arrays.work * devices / total / reference
    sent, received = (
        np.bincount(ends, weights=traffic, minlength=count)
        for ends in (arrays.source, arrays.target)
    )
    heaviest_sent, heaviest_received = np.zeros(count), np.zeros(count)
    np.maximum.at(heaviest_sent, arrays.source, traffic)
    np.maximum.at(heaviest_received, arrays.target, traffic)
    outputs, inputs = (
        np.bincount(ends, minlength=count) for ends in (arrays.source, arrays.target)
    )
    depth, height = orders.depths(arrays), orders.heights(arrays)
    longest = max(1, int(depth.max()))
    operators = [
        all_squashed(load),
        all_squashed(sent.astype(np.float64)),
        all_squashed(received.astype(np.float64)),
        all_squashed(heaviest_sent),
        all_squashed(heaviest_received),
        np.log1p(outputs),
        np.log1p(inputs),
        depth / longest,
        height / longest,
        outputs == 0,
        inputs == 0,
        np.minimum(load * count / devices, 10.0) / 5.0,  # over the mean operator's
        1.0 / (1.0 + height),
        all_squashed(arrays.operator_tuples / arrays.source_rate),
    ]
    streams = [
        all_squashed(traffic),
        traffic / np.maximum(sent[arrays.source], 1e-300),
        traffic / np.maximum(received[arrays.target], 1e-300),
        all_squashed(load[arrays.source] + load[arrays.target]),
    ]
    whole = [
        np.log2(devices) / 4.0,
        np.log2(count) / 6.0,
        np.log2(count / devices) / 3.0,
        arrays.capacity.max() * devices / total - 1.0,
        arrays.capacity.min() * devices / total,
        float(arrays.nic),
        float(arrays.work.sum()) / (reference * total),
        squashed(traffic.sum() / devices),
        squashed(traffic.max(initial=0.0)),
        longest / count,
        float(overload_counts),
        np.clip(np.log2(reference), -3.0, 3.0) if overload_counts else 0.0,
    ]
    return (
        np.stack(operators, axis=1).astype(np.float32),
        np.stack(streams, axis=1).astype(np.float32),
        np.array(whole, dtype=np.float32),
        np.minimum(np.stack([load, sent], axis=1) * reference, MOST).astype(np.float32),
    )
