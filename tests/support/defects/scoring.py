"""Defects found by the check of evaluations."""

from typing import ClassVar

from streamplace.learning.policy.device_scorer.network import ScorerBatch
from streamplace.learning.policy.trajectories import Trajectories
from streamplace.scoring.registry import evaluator
from streamplace.scoring.throughput import throughput
from tests.support.defects.altered import Altered, Defect


class Scores(Altered):
    """A policy that scores all its placements without counting them."""

    def result_of(self, made: Trajectories, batch: ScorerBatch) -> Trajectories:
        """Score the placements."""
        for one, rows in zip(batch.encoded, made.placements, strict=True):
            throughput(one.problem, rows[:, : one.size])
        return made


class UsesTrace(Altered):
    """A policy that scores placements with a method of the evaluator."""

    method: ClassVar[str] = "trace"

    def result_of(self, made: Trajectories, batch: ScorerBatch) -> Trajectories:
        """Score the first sample of each problem."""
        for one, rows in zip(batch.encoded, made.placements, strict=True):
            getattr(evaluator(one.problem), self.method)(rows[0, : one.size])
        return made


class UsesLoss(UsesTrace):
    """A policy that uses the loss."""

    method = "loss"


class UsesScore(UsesTrace):
    """A policy that uses the score."""

    method = "score"


class UsesQuality(UsesTrace):
    """A policy that uses the quality."""

    method = "quality"


DEFECTS: list[Defect] = [
    (policy, "evaluations", "rollouts score placements that are not counted")
    for policy in (Scores, UsesTrace, UsesLoss, UsesScore, UsesQuality)
]
