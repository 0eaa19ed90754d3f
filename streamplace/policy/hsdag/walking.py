"""Walks: sequences of placements, each made from groups of the features that the last one left."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

from streamplace.errors import PlacementError
from streamplace.placers.repair import feasible
from streamplace.policy.hsdag.encode import EncodedProblem
from streamplace.policy.hsdag.kernels.loads import Single
from streamplace.policy.hsdag.network import composed
from streamplace.policy.hsdag.offers import Offer
from streamplace.scoring.evaluator import Evaluator
from streamplace.util.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Step:
    """A step of a walk, and what it takes to compute its probabilities again.

    Attributes
    ----------
    features
        (n, d) the features of the vertices before it.
    levels
        The groups of each level, see `network.Parsed`.
    offer
        The groups and the devices that were offered.
    chosen
        (G,) the device of each group.
    loads
        (G, D, L) what the head read of the devices.
    """

    features: Single
    levels: list[Ints]
    offer: Offer
    chosen: Ints
    loads: Single


@dataclass(eq=False)
class Walk:
    """The T steps of one sample.

    Attributes
    ----------
    features
        (n, d) the features of the vertices after the steps so far.
    devices
        (T + 1, V) the placement before each step, and at the end.
    losses
        (T + 1,) their losses.
    """

    one: EncodedProblem
    features: Single
    devices: Ints
    losses: Floats
    steps: list[Step] = field(default_factory=list)

    def act(self, step: Step, vectors: Single | None) -> None:
        """Take a step, after which the loss of the placement is still to be set.

        A placement that violates constraints is repaired; where that fails, the placement stays.

        Parameters
        ----------
        vectors
            (G, d) the vectors of the groups, which are added to the features of their vertices;
            None: the features stay.
        """
        self.steps.append(step)
        t = len(self.steps)
        self.devices[t] = self.devices[t - 1]
        with suppress(PlacementError):
            draft = step.offer.expanded(step.chosen)
            self.devices[t] = feasible(self.one.problem, draft).devices
        if vectors is not None:
            self.features = self.features + vectors[composed(step.levels)]


def walk_from(one: EncodedProblem, start: Ints, steps: int) -> Walk:
    """Return a walk of T steps that begins with a placement, (V,), repaired where it must be."""
    devices = np.zeros((steps + 1, one.size), np.int32)
    devices[0] = feasible(one.problem, start.astype(np.int32)).devices
    return Walk(one, one.features, devices, np.zeros(steps + 1))


def score(walks: Sequence[Walk], t: int, samples: int, evaluators: Sequence[Evaluator]) -> None:
    """Set the loss of the placements after t steps.

    Parameters
    ----------
    walks
        The walks of S samples of each problem.
    evaluators
        The evaluator of each problem.
    """
    for p, evaluator in enumerate(evaluators):
        of_problem = walks[p * samples : (p + 1) * samples]
        losses = evaluator.loss(np.stack([walk.devices[t] for walk in of_problem]))
        for walk, loss in zip(of_problem, losses.tolist(), strict=True):
            walk.losses[t] = loss
