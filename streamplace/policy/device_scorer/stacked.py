"""A stack of device scorers, in which each problem of a batch is placed by its own member."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from streamplace.policy.decoding import Sampler
from streamplace.policy.device_scorer.network import DeviceScorer, Hop
from streamplace.policy.device_scorer.partial import CandidateFeatures
from streamplace.policy.device_scorer.state import DecodingState, ScorerBatch
from streamplace.policy.stacking import MemberRows, Members, StackedLinear, stack_layers
from streamplace.policy.teachers import Teacher
from streamplace.policy.trajectories import Trajectories
from streamplace.util.arrays import Bools, Ints


class StackedScorer(DeviceScorer):
    """K device scorers of the same sizes; see `policy.stacking`.

    `EncodedGraph.member` selects the member that places a problem.
    """

    def __init__(self, scorers: Sequence[DeviceScorer]) -> None:
        with torch.random.fork_rng(devices=[]):  # the random weights are replaced below
            super().__init__(scorers[0].config)
        self.members = len(scorers)
        self._applied = Members(self.members)
        self._to_streams = Members(self.members)
        self._member_of_row: Tensor | None = None
        stack_layers(self, scorers, self._applied)
        for layer in self.modules():
            if isinstance(layer, Hop) and isinstance(layer.stream, StackedLinear):
                layer.stream.applied = self._to_streams

    def unstacked(self) -> list[DeviceScorer]:
        """Return the members as separate policies."""
        state = self.state_dict()
        with torch.random.fork_rng(devices=[]):
            policies = [DeviceScorer(self.config) for _ in range(self.members)]
        for k, policy in enumerate(policies):
            policy.load_state_dict({name: tensor[k] for name, tensor in state.items()})
            policy.to(self.torch_device)
        return policies

    def embed(self, batch: ScorerBatch) -> tuple[Tensor, Tensor]:
        """Return each problem's embeddings by its member; see `DeviceScorer.embed`."""
        of_problem = batch.tensor(batch.members.astype(np.int64))
        of_operator = of_problem[batch.problem_of]
        self._applied.rows = MemberRows(of_operator, self.members)
        self._to_streams.rows = MemberRows(of_operator[batch.source], self.members)
        return super().embed(batch)

    def logits(
        self, operator: Tensor, resident: Tensor, candidates: Tensor, offered: Tensor
    ) -> Tensor:
        """Return each row's logits by its member; see `DeviceScorer.logits`."""
        assert self._member_of_row is not None, "sample and rollout set the members of rows"
        rows = MemberRows(self._member_of_row[: len(operator)], self.members)
        self._applied.rows = None
        inputs = (rows.spread(part) for part in (operator, resident, candidates, offered))
        return rows.collect(super().logits(*inputs))

    def sample(self, batch: ScorerBatch, samples: int, sampler: Sampler) -> Ints:
        """Place every problem `samples` times, in torch; see `Constructive.sample`."""
        self._member_of_row = _members_of_rows(batch, samples)
        with torch.inference_mode():
            return self._sampled(batch, samples, sampler)

    def rollout(
        self,
        batch: ScorerBatch,
        samples: int,
        sampler: Sampler,
        forced: Ints | None = None,
        teacher: Teacher | None = None,
    ) -> Trajectories:
        """Place every problem `samples` times; see `Constructive.rollout`."""
        self._member_of_row = _members_of_rows(batch, samples)
        return super().rollout(batch, samples, sampler, forced, teacher)

    def _log_probabilities(
        self,
        state: DecodingState,
        embedded: tuple[Tensor, Tensor],
        candidates: Sequence[CandidateFeatures],
        offered: Sequence[Bools],
        chosen: Sequence[Tensor],
    ) -> Tensor:
        """Return the log-probabilities of all devices in all decisions; see `DeviceScorer`."""
        of_row = self._member_of_row
        assert of_row is not None, "rollout sets the members of rows"
        self._member_of_row = torch.cat([of_row[: len(taken)] for taken in chosen])
        return super()._log_probabilities(state, embedded, candidates, offered, chosen)


def _members_of_rows(batch: ScorerBatch, samples: int) -> Tensor:
    """Return the member of each row, (P·S,)."""
    return batch.tensor(batch.members.astype(np.int64)).repeat_interleave(samples)
