"""What the algorithms with a policy gradient share: losses, rows of a rollout and their names.

A step has P problems and S rows (placements) of each, over V operators on D devices.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from torch import Tensor

from streamplace.learning.policy.base import Constructive
from streamplace.learning.policy.encoded import Batch, Encoded
from streamplace.learning.training.algorithms.base import Algorithm, S
from streamplace.learning.training.problems import Rows, repair_rows
from streamplace.util.arrays import Bools, Floats, Ints

MIN_SPREAD = 1e-3  # added to standard deviations before dividing by them


def forced_rows(
    policy: Constructive[Any, Any],
    batch: Batch,
    samples: int,
    added: Sequence[Mapping[int, Ints]],
) -> tuple[Ints, Bools]:
    """Return the devices that a rollout is to use, (P, S, V), and which rows exist, (P, S).

    Given placements name equal devices as the policy's sample in that row would.

    Parameters
    ----------
    samples
        The number of rows that the policy samples, which come first; their devices are -1.
    added
        The given placements of each problem, (V,) devices each, by row.
    """
    rows = max([samples, *(1 + max(some) for some in added if some)])
    forced = np.zeros((len(batch), rows, int(batch.sizes[0])), dtype=np.int32)
    exists = np.zeros((len(batch), rows), dtype=bool)
    forced[:, :samples], exists[:, :samples] = -1, True
    for p, (one, some) in enumerate(zip(batch.encoded, added, strict=True)):
        for s, row in some.items():
            forced[p, s, : one.size], exists[p, s] = policy.canonical(one, row, s), True
    return forced, exists


class PolicyGradient(Algorithm[S]):
    """An algorithm whose memory names equal devices as the policy's first sample would.

    So the memory has each placement once.
    """

    @property
    def policy(self) -> Constructive[Any, Any]:
        """The policy, which builds placements."""
        return Constructive.of(self.learner.policy)

    def drawn(self, one: Encoded, count: int, rng: np.random.Generator) -> Ints:
        """Draw placements of a problem on random devices; return those that can be repaired."""
        devices = len(one.problem.cluster.devices)
        drawn = rng.integers(devices, size=(count, one.size), dtype=np.int32)
        return self.repaired(one, drawn, np.arange(count))[1]

    @staticmethod
    def repaired(one: Encoded, placements: Ints, rows: Rows) -> tuple[Rows, Ints]:
        """Return the rows of placements of a problem, (S, ·), that can be repaired.

        Returns
        -------
        tuple
            (R,) the rows, and (R, V) their repaired placements.
        """
        return repair_rows(one.problem, rows, placements[:, : one.size])

    def forced(
        self, batch: Batch, samples: int, added: Sequence[Mapping[int, Ints]]
    ) -> tuple[Ints, Bools]:
        """Return the devices that a rollout is to use, and which rows exist; see `forced_rows`."""
        return forced_rows(self.policy, batch, samples, added)

    @staticmethod
    def advantages(
        reward: Tensor, counted: Tensor, normalise: bool, baseline: Tensor | None = None
    ) -> Tensor:
        """Return each sample's reward minus its problem's baseline, (P, S).

        Parameters
        ----------
        reward
            (P, S) rewards of S samples of each of P problems.
        counted
            (P, S) bool: which samples exist; the others have advantage 0.
        normalise
            Whether to divide by the root mean square, which is the standard deviation if the
            baseline is the mean.
        baseline
            (P,) the baseline of each problem; None: the mean reward of its samples.
        """
        weight = counted.to(reward.dtype)
        count = weight.sum(dim=1, keepdim=True).clamp(min=1.0)
        mean = (reward * weight).sum(dim=1, keepdim=True) / count
        above = (reward - (mean if baseline is None else baseline.unsqueeze(1))) * weight
        if not normalise:
            return above
        spread = ((above**2).sum(dim=1, keepdim=True) / count).sqrt()
        return above / (spread + MIN_SPREAD)

    @staticmethod
    def policy_loss(log_probability: Tensor, advantage: Tensor, times: Tensor) -> Tensor:
        """Return the loss of each problem, (P,): -mean(advantage · log π).

        Its gradient is the REINFORCE estimator, with the sign for minimisation.

        Parameters
        ----------
        times
            (P, S) how often each sample counts in the mean; False and True are 0 and 1.
        """
        weight = times.to(log_probability.dtype)
        count = weight.sum(dim=1).clamp(min=1.0)
        return -(advantage * log_probability * weight).sum(dim=1) / count

    def store(self, number: int, one: Encoded, devices: Ints) -> tuple[Ints, Floats]:
        """Store placements of a problem, (S, V); return them as named, and their rewards."""
        if not len(devices):
            return devices, np.zeros(0)
        named = np.stack([self.policy.canonical(one, row, 0) for row in devices])
        rewards = self.rewards(number, named)
        self.memory.add(number, rewards, named)
        return named, rewards
