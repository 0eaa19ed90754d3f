"""Rollouts: the placements of a decoded batch, and their probabilities."""

from dataclasses import dataclass

from torch import Tensor

from streamplace.util.arrays import Ints


@dataclass(frozen=True)
class Rollout:
    """S placements of each of P problems.

    Attributes
    ----------
    placements
        (P, S, V) device of each operator, by its number; -1 beyond the problem's size.
    log_probability
        (P, S) of the whole placement; differentiable where gradients are on.
    entropy
        (P, S) mean over the decisions, in nats.
    """

    placements: Ints
    log_probability: Tensor
    entropy: Tensor
