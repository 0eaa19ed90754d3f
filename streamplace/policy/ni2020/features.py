"""Features of a problem for the networks of Ni et al. (AAAI 2020), section 3."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from streamplace.policy.graph_batch import EncodedGraph, GraphBatch
from streamplace.problem.problem import Problem
from streamplace.problem.symmetry import interchangeable
from streamplace.scoring.flow import flow
from streamplace.scoring.orders import traversal_order

Single = NDArray[np.float32]

OF_OPERATOR = 2  # number of features
MAX_FEATURE = 1e30  # to stay within float32


@dataclass(frozen=True, eq=False)
class EncodedProblem(EncodedGraph):
    """A problem as the networks read it.

    Attributes
    ----------
    operators
        (V, OF_OPERATOR) float32: the operator's utilisation of an average device, and its output's
        utilisation of an average link.
    """

    operators: Single


class Ni2020Batch(GraphBatch[EncodedProblem]):
    """Problems as tensors for the networks.

    Attributes
    ----------
    operators
        (V, OF_OPERATOR) float32 features, see `EncodedProblem`.
    """

    def __init__(
        self, encoded: Sequence[EncodedProblem], device: torch.device | str = "cpu"
    ) -> None:
        super().__init__(encoded, device)
        self.operators = self.tensor(np.concatenate([one.operators for one in encoded]))


def encode(problem: Problem, order_name: str = "by-depth") -> EncodedProblem:
    """Return the features of a problem.

    Parameters
    ----------
    order_name
        The traversal order of the decoder, see `scoring.orders`; `random` is that of seed 0.

    Raises
    ------
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    """
    arrays = flow(problem)
    load = arrays.work * arrays.devices / float(arrays.capacity.sum())
    sent = np.bincount(arrays.source, weights=arrays.traffic, minlength=arrays.operators)
    features = np.minimum(np.stack([load, sent], axis=1), MAX_FEATURE).astype(np.float32)
    order = traversal_order(problem, order_name)[None]
    return EncodedProblem(problem, arrays, interchangeable(problem), order, features)
