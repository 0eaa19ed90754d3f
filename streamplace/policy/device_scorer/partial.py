"""Partial placements of the device scorer and features of the next step, as arrays."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sim.lookahead import (
    CANDIDATE_FEATURES,
    LookaheadBatch,
    PartialPlacements,
    candidate_features,
    nothing_placed,
    place_next,
)
from streamplace.policy.device_scorer.features import EncodedProblem
from streamplace.policy.encoded import JoinedGraphs
from streamplace.util.arrays import Bools, Ints

CandidateFeatures = NDArray[np.float32]
"""(R', D, F) features of every device with the next operator on it, see `sim.lookahead`."""


class PartialRows:
    """S partial placements of each of P problems: R = P·S rows, grouped by problem.

    Problems are sorted by size, largest first, so the rows that have an operator left at step t
    are the first R'.

    Parameters
    ----------
    lookahead
        The problems' arrays for `sim.lookahead`, end to end.
    orders
        The rows of `EncodedGraph.orders` that samples cycle through.
    samples
        S, the number of placements per problem.
    """

    def __init__(
        self,
        graphs: JoinedGraphs[EncodedProblem],
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

    def all_buffers(self) -> tuple[list[CandidateFeatures], list[Bools]]:
        """Return separate uninitialised arrays for `fill` at every step."""
        new = [self._new(rows) for rows in self._rows]
        return [candidates for candidates, _ in new], [offered for _, offered in new]

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
