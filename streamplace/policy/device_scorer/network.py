"""The network of the device scorer.

A message-passing encoder reads the graph; operators are then placed one after another. Every device
is scored by the same network, so one set of weights works for any number of devices, equal or not.
The inputs of a device's score are the features it would have with the operator on it
(`sim.lookahead`), the operator's embedding, and the sum of the embeddings of its operators so far.
"""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from sim.lookahead import CANDIDATE_FEATURES
from streamplace.policy.base import Constructive
from streamplace.policy.config import DeviceScorerSizes
from streamplace.policy.decoding import UNAVAILABLE, Sampler
from streamplace.policy.device_scorer import features
from streamplace.policy.device_scorer.features import (
    OF_OPERATOR,
    OF_PROBLEM,
    OF_STREAM,
    EncodedProblem,
)
from streamplace.policy.device_scorer.numpy_inference import DEVICE_SHARE, NumpyScorer
from streamplace.policy.device_scorer.partial import CandidateFeatures
from streamplace.policy.device_scorer.state import DecodingState, ScorerBatch
from streamplace.policy.teachers import Teacher
from streamplace.policy.trajectories import Trajectories
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Bools, Ints


class Hop(nn.Module):
    """One message-passing round, both downstream and upstream, with a residual connection.

    Embeddings have H = `hidden` numbers.
    """

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(hidden)
        self.send = nn.Linear(hidden, 2 * hidden)
        self.stream = nn.Linear(OF_STREAM, 2 * hidden, bias=False)
        self.update = nn.Linear(4 * hidden, hidden)

    def forward(self, h: Tensor, pooled: Tensor, batch: ScorerBatch) -> Tensor:
        """Return new operator embeddings, (V, H), from old ones and those of their graphs."""
        normed = self.norm(h)
        along = self.stream(batch.streams)
        down, up = self.send(normed).chunk(2, dim=1)
        along_down, along_up = along.chunk(2, dim=1)
        arriving = torch.relu(down[batch.source] + along_down)
        returning = torch.relu(up[batch.target] + along_up)
        from_above = torch.zeros_like(h).index_add(0, batch.target, arriving) / batch.inputs
        from_below = torch.zeros_like(h).index_add(0, batch.source, returning) / batch.outputs
        joined = torch.cat([normed, from_above, from_below, pooled], dim=1)
        return h + torch.relu(self.update(joined))


class DeviceScorer(Constructive[EncodedProblem, ScorerBatch]):
    """The device scorer; see the module's docstring.

    Only the first of several equal devices that run nothing is offered.
    """

    def __init__(self, config: DeviceScorerSizes) -> None:
        super().__init__()
        self.config = config
        self.order_names, orders = features.orders_of(config)
        self.orders: Sequence[int] = orders
        hidden = config.hidden
        self.read = nn.Linear(OF_OPERATOR + OF_PROBLEM, hidden)
        self.hops = nn.ModuleList([Hop(hidden) for _ in range(config.hops)])
        self.pool = nn.ModuleList([nn.Linear(hidden, hidden) for _ in range(config.hops + 1)])
        self.norm = nn.LayerNorm(hidden)
        self.operator = nn.Linear(2 * hidden, hidden)
        self.resident = nn.Linear(hidden, hidden, bias=False)
        self.prospect = nn.Linear(len(CANDIDATE_FEATURES), hidden, bias=False)
        self.among = nn.Linear(hidden, hidden)
        self.mix = nn.Linear(hidden, hidden)
        self.score = nn.Linear(hidden, 1)

    def encode(self, problem: Problem) -> EncodedProblem:
        """Compute the features of a problem; see `Policy.encode`."""
        return features.encode(problem, self.order_names)

    def batch(self, encoded: Sequence[EncodedProblem]) -> ScorerBatch:
        """Join encoded problems, largest first; see `Policy.batch`."""
        return ScorerBatch(encoded, self.torch_device)

    def canonical(self, encoded: EncodedProblem, placement: Ints, sample: int) -> Ints:
        """Return an equivalent placement that uses equal devices in decoding order."""
        return encoded.relabelled(placement, self.orders[sample % len(self.orders)])

    def embed(self, batch: ScorerBatch) -> tuple[Tensor, Tensor]:
        """Return two embeddings per operator, (V, H): for scoring it, and to add to its device."""
        h = torch.relu(
            self.read(torch.cat([batch.operators, batch.totals[batch.problem_of]], dim=1))
        )
        for hop, pool in zip(self.hops, self.pool, strict=False):
            h = hop(h, _largest(pool(h), batch)[batch.problem_of], batch)
        h = self.norm(h)
        pooled = _largest(self.pool[-1](h), batch)
        operator = self.operator(torch.cat([h, pooled[batch.problem_of]], dim=1))
        weight = batch.operators[:, :1] + batch.even_share
        return operator, self.resident(h) * weight

    def logits(
        self, operator: Tensor, resident: Tensor, candidates: Tensor, offered: Tensor
    ) -> Tensor:
        """Return the logits of devices, (R, D), for one operator per row.

        Parameters
        ----------
        operator
            (R, H) embeddings for scoring, see `embed`.
        resident
            (R, D, H) embeddings for devices, see `embed`, summed over the operators on each.
        candidates
            (R, D, F) features of each device with the operator on it, see `sim.lookahead`.
        offered
            (R, D) bool, the devices that may be chosen.
        """
        z = torch.relu((self.prospect(candidates) + resident).add_(operator.unsqueeze(1)))
        among = self.among(candidates[:, :, DEVICE_SHARE].unsqueeze(1) @ z)  # device mean
        z = torch.relu(self.mix(z).add_(among))
        scored: Tensor = self.score(z).squeeze(2)
        return scored.masked_fill(~offered, UNAVAILABLE)

    def sample(self, batch: ScorerBatch, samples: int, sampler: Sampler) -> Ints:
        """Place every problem `samples` times; see `Constructive.sample`.

        On the CPU it runs in numpy, which is faster than torch's calls.
        """

        def choose(logits: NDArray[np.float32], samples: int) -> NDArray[np.int64]:
            return sampler(torch.from_numpy(logits), samples).numpy()

        with torch.inference_mode():
            if batch.device.type == "cpu":
                return self._in_numpy().sample(batch.arrays, samples, choose)
            return self._sampled(batch, samples, sampler)

    def _sampled(self, batch: ScorerBatch, samples: int, sampler: Sampler) -> Ints:
        state = DecodingState(self, batch, samples, self.embed(batch))
        for t in range(state.steps):
            state.take(t, sampler(state.score(t, *state.buffers(t)), samples))
        return state.placements

    def _in_numpy(self) -> NumpyScorer:
        weights = {name: part.detach().cpu().numpy() for name, part in self.named_parameters()}
        return NumpyScorer(self.config, weights)

    def rollout(
        self,
        batch: ScorerBatch,
        samples: int,
        sampler: Sampler,
        forced: Ints | None = None,
        teacher: Teacher | None = None,
    ) -> Trajectories:
        """Place every problem `samples` times; see `Constructive.rollout`.

        Devices are chosen without gradients; all choices are then scored again in one pass.
        """
        embedded = self.embed(batch)
        expert = None if teacher is None else teacher.follow(batch.encoded, samples)
        best: list[Bools] = []
        with torch.no_grad():
            state = DecodingState(self, batch, samples, embedded)
            candidates, offered = state.all_buffers()
            chosen = []
            for t, (features_now, offered_now) in enumerate(zip(candidates, offered, strict=True)):
                forced_now = None if forced is None else state.of_step(t, forced)
                if forced_now is None or (forced_now < 0).any():
                    taken = sampler(state.score(t, features_now, offered_now), samples)
                    if forced_now is not None:
                        taken = torch.where(forced_now >= 0, forced_now, taken)
                else:
                    state.fill(t, features_now, offered_now)
                    taken = forced_now
                if expert is not None:
                    taken_now = taken.cpu().numpy().astype(np.int32)
                    best.append(expert.judge(state.operators_within(t), taken_now) & offered_now)
                state.take(t, taken)
                chosen.append(taken)
        logs = self._log_probabilities(state, embedded, candidates, offered, chosen)
        devices = torch.cat(chosen)
        entropy = -(logs.exp() * logs).sum(dim=1)
        agreement = None
        if teacher is not None:
            agreement = teacher.agreement(logs, batch.tensor(np.concatenate(best)))
        taken_logs = logs.gather(1, devices.unsqueeze(1)).squeeze(1)
        return state.trajectories(devices, taken_logs, entropy, agreement)

    def beam(self, batch: ScorerBatch, width: int) -> Ints:
        """Return the `width` most likely placements of one problem, (width, V), in numpy."""
        return self._in_numpy().beam(batch.arrays, width)

    def _log_probabilities(
        self,
        state: DecodingState,
        embedded: tuple[Tensor, Tensor],
        candidates: Sequence[CandidateFeatures],
        offered: Sequence[Bools],
        chosen: Sequence[Tensor],
    ) -> Tensor:
        """Return the log-probabilities of all devices in all decisions, (N, D), ordered by step."""
        operator, contribution = embedded
        operators = torch.cat([state.operators(t) for t in range(state.steps)])
        taken = torch.cat(list(chosen))
        onto = nn.functional.one_hot(taken, state.batch.columns).to(contribution.dtype)
        added = onto.unsqueeze(2) * contribution[operators].unsqueeze(1)
        counts = [len(rows) for rows in chosen]
        resident = [torch.zeros_like(added[: counts[0]])]
        for before, kept in zip(torch.split(added, counts), counts[1:], strict=False):
            resident.append(resident[-1][:kept] + before[:kept])
        device = operator.device
        logits = self.logits(
            operator[operators],
            torch.cat(resident),
            torch.from_numpy(np.concatenate(candidates)).to(device),
            torch.from_numpy(np.concatenate(offered)).to(device),
        )
        return torch.log_softmax(logits, dim=1)


def _largest(h: Tensor, batch: ScorerBatch) -> Tensor:
    """Return the element-wise maximum over each problem's operators, (P, H)."""
    index = batch.problem_of.unsqueeze(1).expand_as(h)
    empty = torch.zeros(len(batch), h.shape[1], dtype=h.dtype, device=h.device)
    return empty.scatter_reduce(0, index, h, "amax", include_self=False)
