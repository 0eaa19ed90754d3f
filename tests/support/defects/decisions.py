"""Defects found by the check of actions."""

from dataclasses import replace

import numpy as np
import torch

from streamplace.learning.policy.device_scorer.network import ScorerBatch
from streamplace.learning.policy.trajectories import Trajectories
from tests.support.defects.altered import Altered, Defect


class ZeroActions(Altered):
    """A policy whose actions are all 0."""

    def result_of(self, made: Trajectories, batch: ScorerBatch) -> Trajectories:
        """Set every action to 0."""
        return replace(made, actions=torch.zeros_like(made.actions))


class OtherPlacements(Altered):
    """A policy whose actions and placements name different devices."""

    def result_of(self, made: Trajectories, batch: ScorerBatch) -> Trajectories:
        """Swap two devices in the placements."""
        return replace(made, placements=np.where(made.placements < 0, -1, 2 - made.placements))


class ShortMask(Altered):
    """A policy whose mask lacks the last step."""

    def result_of(self, made: Trajectories, batch: ScorerBatch) -> Trajectories:
        """Remove the last step from the mask."""
        mask = made.mask.clone()
        mask[:, :, -1] = False
        return replace(made, mask=mask)


DEFECTS: list[Defect] = [
    (ZeroActions, "actions", "do not name every operator exactly once"),
    (OtherPlacements, "actions", "differ from those of the placement"),
    (ShortMask, "actions", "steps for"),
]
