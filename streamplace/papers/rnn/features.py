"""The vectors of operators that the RNN placer reads, and their batches."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray

from streamplace.learning.policy.graph_batch import EncodedGraph, GraphBatch
from streamplace.papers.rnn.sizes import RnnSizes
from streamplace.problem.problem import Problem
from streamplace.problem.symmetry import interchangeable
from streamplace.scoring.flow import flow
from streamplace.scoring.orders import traversal_order
from streamplace.scoring.rules import rules_of
from streamplace.sim.rules import Rules
from streamplace.util.arrays import Floats

Single = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class RnnProblem(EncodedGraph):
    """A problem as the network reads it.

    Attributes
    ----------
    sizes
        The sizes of the network.
    rules
        The constraints.
    """

    sizes: RnnSizes
    rules: Rules

    @cached_property
    def sequence(self) -> Single:
        """(V, F) float32 vectors of the operators in decoding order.

        The parts of a vector are the required labels (1 for each that the operator requires), the
        operator's work, the sizes of its outputs (in the order in which their targets are decoded,
        then the largest first), and the positions of its targets in the order (1 for each). Work
        and sizes are divided by the largest of the problem.
        """
        sizes, order = self.sizes, self.orders[0]
        types, outputs = len(sizes.labels), sizes.out_streams
        rows = np.zeros((self.size, feature_count(sizes)), np.float32)
        position = np.empty(self.size, np.int64)
        position[order] = np.arange(self.size)
        for v, required in self.problem.graph.requires.items():
            rows[position[v], [sizes.labels.index(label) for label in required]] = 1.0
        rows[:, types] = _scale(self.flow.work)[order]
        source, target = position[self.flow.source], position[self.flow.target]
        output = _scale(self.flow.stream_bits)
        by = np.lexsort((-output, target, source))
        first = np.searchsorted(source[by], np.arange(self.size))
        number = np.arange(len(by)) - first[source[by]]
        rows[source[by], types + 1 + number] = output[by]
        rows[source, types + 1 + outputs + target] = 1.0
        return rows


class RnnBatch(GraphBatch[RnnProblem]):
    """Problems as tensors for the network.

    Attributes
    ----------
    sequence
        (P, T, F) float32 vectors, see `RnnProblem.sequence`; 0 beyond the last operator.
    valid
        (P, T) bool; False beyond the last operator.
    """

    def __init__(self, encoded: Sequence[RnnProblem], device: torch.device | str = "cpu") -> None:
        super().__init__(encoded, device)
        steps = int(self.sizes[0])
        padded = np.zeros((len(self), steps, encoded[0].sequence.shape[1]), np.float32)
        for p, one in enumerate(encoded):
            padded[p, : one.size] = one.sequence
        self.sequence = self.tensor(padded)
        self.valid = self.tensor(np.arange(steps) < self.sizes[:, None])


def encode(problem: Problem, sizes: RnnSizes) -> RnnProblem:
    """Return the features of a problem, which must fit the sizes.

    Raises
    ------
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    """
    order = traversal_order(problem, sizes.order)[None]
    rules = rules_of(problem.feasibility, problem.cluster)
    return RnnProblem(problem, flow(problem), interchangeable(problem), order, sizes, rules)


def feature_count(sizes: RnnSizes) -> int:
    """Return F, the length of an operator's vector."""
    return len(sizes.labels) + 1 + sizes.out_streams + sizes.operators


def labels_of(problem: Problem) -> list[str]:
    """Return the labels that operators require, in alphabetical order."""
    return sorted({label for labels in problem.graph.requires.values() for label in labels})


def most_outputs(problem: Problem) -> int:
    """Return the largest number of streams out of an operator."""
    return int(np.bincount(problem.graph.stream_source, minlength=1).max())


def _scale(values: Floats) -> Floats:
    """Return values divided by the largest, unless there is none or it is 0."""
    largest = values.max(initial=0.0)
    return values / largest if largest > 0.0 else values
