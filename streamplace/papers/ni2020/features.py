"""The features of operators that the encoder-decoders read."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from streamplace.learning.policy.graph_batch import EncodedGraph, GraphBatch
from streamplace.problem.problem import Problem
from streamplace.problem.symmetry import interchangeable
from streamplace.scoring.flow import flow, rate_of_flow
from streamplace.scoring.orders import traversal_order
from streamplace.util.arrays import Floats

Single = NDArray[np.float32]

OF_OPERATOR = 2  # number of features
MAX_FEATURE = 1e30  # to stay within float32
LEAST = 1e-8  # added before logarithms, as in the released code
BITS_PER_MBIT = 1e6


@dataclass(frozen=True, eq=False)
class NiProblem(EncodedGraph):
    """A problem as the networks read it.

    Attributes
    ----------
    operators
        (V, OF_OPERATOR) float32; see `utilisations` and `logarithms`.
    """

    operators: Single


class Ni2020Batch(GraphBatch[NiProblem]):
    """Problems as tensors for the networks.

    Attributes
    ----------
    operators
        (V, OF_OPERATOR) float32 features, see `NiProblem`.
    """

    def __init__(self, encoded: Sequence[NiProblem], device: torch.device | str = "cpu") -> None:
        super().__init__(encoded, device)
        self.operators = self.tensor(np.concatenate([one.operators for one in encoded]))


def encoded(problem: Problem, features: Floats, order_name: str) -> NiProblem:
    """Return a problem with features of its operators, (V, OF_OPERATOR).

    Parameters
    ----------
    order_name
        The traversal order of the decoder, see `scoring.orders`; `random` is that of seed 0.
    """
    return NiProblem(
        problem,
        flow(problem),
        interchangeable(problem),
        traversal_order(problem, order_name)[None],
        features.clip(-MAX_FEATURE, MAX_FEATURE).astype(np.float32),
    )


def utilisations(problem: Problem) -> Floats:
    """Return the features of the paper, (V, OF_OPERATOR).

    They are the operator's utilisation of an average device, and its output's utilisation of an
    average link.

    Raises
    ------
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    """
    arrays = flow(problem)
    load = arrays.work * arrays.devices / float(arrays.capacity.sum())
    sent = np.bincount(arrays.source, weights=arrays.traffic, minlength=arrays.operators)
    return np.stack([load, sent], axis=1)


def logarithms(problem: Problem) -> Floats:
    """Return the features of the released code before they are standardised, (V, OF_OPERATOR).

    They are the logarithms of the operator's instructions per source tuple, and of the Mbit of a
    tuple that it emits, 0 for a sink.

    Raises
    ------
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    """
    arrays = flow(problem)
    payload = np.zeros(arrays.operators)
    np.maximum.at(payload, arrays.source, arrays.bits / BITS_PER_MBIT)
    return np.log(np.stack([arrays.work / rate_of_flow(problem), payload], axis=1) + LEAST)
