"""Features of a problem and of its partial placements for the device scorer, of any size.

All loads are divided by the problem's reference utilisation, a lower bound over all placements
(`streamplace.sim.closed_form.bottleneck.lowest_utilisation`), so that their range does not depend
on the source rate or the size of the cluster.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from streamplace.learning.policy.config import DeviceScorerSizes
from streamplace.learning.policy.encoded import EncodedGraph, JoinedGraphs, lookahead_problem
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow
from streamplace.scoring.orders import traversal_order
from streamplace.scoring.registry import throughput_evaluator
from streamplace.sim import orders
from streamplace.sim.closed_form.bottleneck import lowest_utilisation
from streamplace.sim.flow import Flow
from streamplace.sim.lookahead import (
    CANDIDATE_FEATURES,
    LookaheadBatch,
    LookaheadProblem,
    PartialPlacements,
    all_squashed,
    candidate_features,
    collate,
    nothing_placed,
    place_next,
    squashed,
)
from streamplace.util.arrays import Bools, Ints

Single = NDArray[np.float32]

OF_OPERATOR, OF_STREAM, OF_PROBLEM = 14, 4, 12  # numbers of features
NUMBERED_ORDERS = ("by-depth", "by-path")  # the orders 0 and 1 of configs
EVEN_SHARE = 0.2  # see `ScorerArrays.even_share`

A = TypeVar("A", bound=NDArray[Any])
CandidateFeatures = NDArray[np.float32]
"""(R', D, F) features of every device with the next operator on it, of `sim.lookahead`."""


@dataclass(frozen=True, eq=False)
class ScorerProblem(EncodedGraph):
    """A problem as the device scorer reads it.

    Attributes
    ----------
    lookahead
        The arrays from which `streamplace.sim.lookahead` computes features of devices during
        decoding.
    operators, streams, totals
        (V, OF_OPERATOR), (E, OF_STREAM) and (OF_PROBLEM,) float32 features of operators, streams
        and the problem.
    """

    lookahead: LookaheadProblem
    operators: Single
    streams: Single
    totals: Single


class ScorerArrays(JoinedGraphs[ScorerProblem]):
    """P problems, with V operators and E streams in all, as arrays for the device scorer.

    Attributes
    ----------
    lookahead
        The problems' arrays for `streamplace.sim.lookahead`, end to end.
    source, target
        (E,) int64 batch indices of the operators at the ends of each stream.
    problem_of
        (V,) int64 problem of each operator.
    operators, streams, totals
        (V, OF_OPERATOR), (E, OF_STREAM) and (P, OF_PROBLEM) float32 features, see
        `ScorerProblem`.
    even_share
        (V, 1) the constant part of the weight of an operator's embedding in that of its device.
        The other part is the operator's load. Over all operators, the constant parts add up to
        `EVEN_SHARE` per device on average.
    """

    def __init__(self, encoded: Sequence[ScorerProblem]) -> None:
        super().__init__(encoded)
        self.lookahead = collate([one.lookahead for one in encoded])
        self.source, self.target = self.ends("source"), self.ends("target")
        self.problem_of = self.owners()
        self.operators = np.concatenate([one.operators for one in encoded])
        self.streams = np.concatenate([one.streams for one in encoded])
        self.totals = np.stack([one.totals for one in encoded])
        share = (EVEN_SHARE * self.devices / self.sizes).astype(np.float32)
        self.even_share = share[self.problem_of, None]


def orders_of(sizes: DeviceScorerSizes) -> tuple[tuple[str, ...], list[int]]:
    """Return the names of different decoding orders, and the numbers that samples cycle through."""
    each = [NUMBERED_ORDERS[o] if isinstance(o, int) else o for o in sizes.orders]
    names = tuple(dict.fromkeys(each))
    return names, [names.index(name) for name in each]


def encode(problem: Problem, order_names: Sequence[str] = ("by-depth", "by-path")) -> ScorerProblem:
    """Return the features of a problem.

    Parameters
    ----------
    order_names
        The traversal orders in which the policy may place operators, see `scoring.orders`; `random`
        is that of seed 0.

    Raises
    ------
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    """
    arrays = flow(problem)
    overload_matters = throughput_evaluator(problem).overload_matters
    lookahead = lookahead_problem(problem)
    decoding_orders = np.stack([traversal_order(problem, name) for name in order_names])
    features = _features(arrays, overload_matters)
    return ScorerProblem(problem, arrays, lookahead.kind, decoding_orders, lookahead, *features)


def _features(flow: Flow, overload_matters: bool) -> tuple[Single, Single, Single]:
    count, devices = flow.operators, flow.devices
    reference = lowest_utilisation(flow)
    traffic = flow.traffic / reference
    total = float(flow.capacity.sum())
    load = flow.work * devices / total / reference
    sent, received = (
        np.bincount(ends, weights=traffic, minlength=count) for ends in (flow.source, flow.target)
    )
    heaviest_sent, heaviest_received = np.zeros(count), np.zeros(count)
    np.maximum.at(heaviest_sent, flow.source, traffic)
    np.maximum.at(heaviest_received, flow.target, traffic)
    outputs, inputs = (np.bincount(ends, minlength=count) for ends in (flow.source, flow.target))
    depth, height = orders.depths(flow), orders.heights(flow)
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
        np.minimum(load * count / devices, 10.0) / 5.0,  # relative to the mean operator
        1.0 / (1.0 + height),
        all_squashed(flow.operator_tuples / flow.source_rate),
    ]
    streams = [
        all_squashed(traffic),
        traffic / np.maximum(sent[flow.source], 1e-300),
        traffic / np.maximum(received[flow.target], 1e-300),
        all_squashed(load[flow.source] + load[flow.target]),
    ]
    totals = [
        np.log2(devices) / 4.0,
        np.log2(count) / 6.0,
        np.log2(count / devices) / 3.0,
        flow.capacity.max() * devices / total - 1.0,
        flow.capacity.min() * devices / total,
        float(flow.nic),
        float(flow.work.sum()) / (reference * total),
        squashed(traffic.sum() / devices),
        squashed(traffic.max(initial=0.0)),
        longest / count,
        float(overload_matters),
        np.clip(np.log2(reference), -3.0, 3.0) if overload_matters else 0.0,
    ]
    return (
        np.stack(operators, axis=1).astype(np.float32),
        np.stack(streams, axis=1).astype(np.float32),
        np.array(totals, dtype=np.float32),
    )


class PartialRows:
    """S partial placements of each of P problems: R = P·S rows, grouped by problem.

    Problems are sorted by size, largest first, so the rows that have an operator left at step t
    are the first R'.

    Parameters
    ----------
    lookahead
        The problems' arrays for `streamplace.sim.lookahead`, end to end.
    orders
        The rows of `EncodedGraph.orders` that samples cycle through.
    samples
        S, the number of placements per problem.
    """

    def __init__(
        self,
        graphs: JoinedGraphs[ScorerProblem],
        lookahead: LookaheadBatch,
        orders: Sequence[int],
        samples: int,
    ) -> None:
        self.samples, self._graphs, self._lookahead = samples, graphs, lookahead
        which = np.array([orders[s % len(orders)] for s in range(samples)])
        order = graphs.orders(which).reshape(len(graphs) * samples, -1)
        self._problem_of_row = np.repeat(np.arange(len(graphs), dtype=np.int32), samples)
        self._order = np.ascontiguousarray(order.T)  # (T, R), indices within the problem
        active = graphs.active(np.arange(len(self._order), dtype=np.int32))
        self._rows: list[int] = (active * samples).tolist()
        self._placed = nothing_placed(lookahead, self._problem_of_row)
        self._scratch = self._new(len(self._problem_of_row))

    @property
    def steps(self) -> int:
        """T, the number of operators of the largest problem."""
        return len(self._order)

    @property
    def placements(self) -> Ints:
        """(P, S, V) the device of each operator, see `Trajectories`."""
        return self._placed.on.reshape(len(self._graphs), self.samples, -1)

    def buffers(self, t: int) -> tuple[CandidateFeatures, Bools]:
        """Return uninitialised arrays for `fill` at a step; the next step reuses them."""
        rows = self._rows[t]
        return self._scratch[0][:rows], self._scratch[1][:rows]

    def all_buffers(self) -> tuple[CandidateFeatures, Bools]:
        """Return uninitialised arrays for `fill` of all N decisions, ordered by step."""
        return self._new(sum(self._rows))

    def by_step(self, decisions: A) -> list[A]:
        """Return the part of each step of an array of all decisions, (N, …)."""
        return np.split(decisions, np.cumsum(self._rows)[:-1])  # type: ignore[return-value]

    def fill(self, t: int, candidates: CandidateFeatures, offered: Bools) -> None:
        """Fill arrays with the features of devices at a step and with the devices it offers."""
        candidate_features(
            self._lookahead, self._placed, self.operators_within(t), candidates, offered
        )

    def place(self, t: int, devices: Ints) -> None:
        """Place the operators of a step on devices, (R',)."""
        place_next(self._lookahead, self._placed, self.operators_within(t), devices)

    def keep_rows(self, rows: NDArray[np.int64]) -> None:
        """Continue with these rows, (R,), some of which may repeat."""
        self._placed = PartialPlacements._make(column[rows] for column in self._placed)
        self._order = np.ascontiguousarray(self._order[:, rows])

    def operators_within(self, t: int) -> Ints:
        """Return the operators of a step, (R',), as indices within their problems."""
        return self._order[t, : self._rows[t]]

    def in_batch(self) -> NDArray[np.int64]:
        """Return the operators of all steps, (T, R), as indices into the batch."""
        return (self._order + self._graphs.first_operator[self._problem_of_row]).astype(np.int64)

    def _new(self, rows: int) -> tuple[CandidateFeatures, Bools]:
        shape = (rows, self._graphs.columns)
        return np.empty((*shape, len(CANDIDATE_FEATURES)), np.float32), np.empty(shape, np.bool_)
