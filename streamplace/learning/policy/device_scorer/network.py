"""The network of the device scorer.

A message-passing encoder reads the graph; operators are then placed one after another. Every device
is scored by the same network, so one set of weights works for any number of devices, equal or not.
The inputs of a device's score are the features it would have with the operator on it
(`streamplace.sim.lookahead`), the operator's embedding, and the sum of the embeddings of its
operators so far.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from streamplace.learning.policy.base import Constructive
from streamplace.learning.policy.config import DeviceScorerSizes
from streamplace.learning.policy.decoding import UNAVAILABLE, Sampler
from streamplace.learning.policy.device_scorer import features
from streamplace.learning.policy.device_scorer.features import (
    OF_OPERATOR,
    OF_PROBLEM,
    OF_STREAM,
    CandidateFeatures,
    PartialRows,
    ScorerArrays,
    ScorerProblem,
)
from streamplace.learning.policy.device_scorer.numpy_inference import DEVICE_SHARE, NumpyScorer
from streamplace.learning.policy.graph_batch import GraphBatch
from streamplace.learning.policy.teachers import Teacher
from streamplace.learning.policy.trajectories import Trajectories
from streamplace.problem.problem import Problem
from streamplace.sim.lookahead import CANDIDATE_FEATURES
from streamplace.util.arrays import Bools, Ints


class ScorerBatch(GraphBatch[ScorerProblem]):
    """P problems, with V operators and E streams in all, as tensors for the device scorer.

    Attributes
    ----------
    arrays
        The same problems as arrays.
    operators, streams, totals, even_share
        See `ScorerArrays`.
    """

    def __init__(
        self, encoded: Sequence[ScorerProblem], device: torch.device | str = "cpu"
    ) -> None:
        super().__init__(encoded, device)
        self.arrays = ScorerArrays(encoded)
        self.operators = self.tensor(self.arrays.operators)
        self.streams = self.tensor(self.arrays.streams)
        self.totals = self.tensor(self.arrays.totals)
        self.even_share = self.tensor(self.arrays.even_share)

    @cached_property
    def inputs(self) -> Tensor:
        """(V, 1) the number of streams into each operator, at least 1."""
        return self._ends(self.target)

    @cached_property
    def outputs(self) -> Tensor:
        """(V, 1) the number of streams out of each operator, at least 1."""
        return self._ends(self.source)

    def _ends(self, operators: Tensor) -> Tensor:
        count = torch.bincount(operators, minlength=len(self.operators))
        return count.clamp(min=1).unsqueeze(1).to(self.operators.dtype)


class Scores(Protocol):
    """The part of the network that decoding needs."""

    orders: Sequence[int]

    def logits(
        self, operator: Tensor, resident: Tensor, candidates: Tensor, offered: Tensor
    ) -> Tensor:
        """Return the logits of devices, (R, D), for one operator per row."""
        ...


class DecodingState(PartialRows):
    """Partial placements whose next devices a network scores in torch.

    Parameters
    ----------
    network
        The network that scores devices.
    samples
        S, the number of placements per problem.
    encoded
        Two embeddings of every operator, (V, H) each: the one for scoring it, and the one that is
        added to its device. See `DeviceScorer.embed`.
    """

    def __init__(
        self, network: Scores, batch: ScorerBatch, samples: int, encoded: tuple[Tensor, Tensor]
    ) -> None:
        super().__init__(batch, batch.arrays.lookahead, network.orders, samples)
        self.batch, self._network = batch, network
        self._operator, self._contribution = encoded
        self._at = batch.tensor(self.in_batch())
        rows = self._at.shape[1]
        self._every = torch.arange(rows, device=batch.device)
        shape = (rows, batch.columns, self._contribution.shape[1])
        self._resident = torch.zeros(shape, device=batch.device)

    def score(self, t: int, candidates: CandidateFeatures, offered: Bools) -> Tensor:
        """Fill arrays as `fill` does, and return the network's logits, (R', D)."""
        self.fill(t, candidates, offered)
        return self._network.logits(
            self._operator[self.operators(t)],
            self._resident[: len(candidates)],
            torch.from_numpy(candidates).to(self.batch.device),
            torch.from_numpy(offered).to(self.batch.device),
        )

    def take(self, t: int, chosen: Tensor) -> None:
        """Place the operators of a step on devices, (R',)."""
        self.place(t, chosen.cpu().numpy().astype(np.int32))
        rows = self._every[: len(chosen)]
        self._resident.index_put_(
            (rows, chosen), self._contribution[self.operators(t)], accumulate=True
        )

    def operators(self, t: int) -> Tensor:
        """Return the operators of a step, (R',), as indices into the batch."""
        return self._at[t, : self._rows[t]]

    def of_step(self, t: int, forced: Ints) -> Tensor:
        """Return the entries of (P, S, V) that belong to a step's operators, (R',) int64."""
        local = self.operators_within(t)
        forced_now = forced.reshape(len(self._every), -1)[np.arange(len(local)), local]
        return torch.from_numpy(forced_now.astype(np.int64)).to(self.batch.device)

    def trajectories(
        self, devices: Tensor, log_prob: Tensor, entropy: Tensor, agreement: Tensor | None
    ) -> Trajectories:
        """Return the trajectories of all decisions, (N,), which are ordered by step."""
        return Trajectories.of_placements(
            self.placements, self._order, self._rows, devices, log_prob, entropy, agreement
        )


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


class DeviceScorer(Constructive[ScorerProblem, ScorerBatch]):
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

    def encode(self, problem: Problem) -> ScorerProblem:
        """Compute the features of a problem; see `Policy.encode`."""
        return features.encode(problem, self.order_names)

    def batch(self, encoded: Sequence[ScorerProblem]) -> ScorerBatch:
        """Join encoded problems, largest first; see `Policy.batch`."""
        return ScorerBatch(encoded, self.torch_device)

    def canonical(self, encoded: ScorerProblem, placement: Ints, sample: int) -> Ints:
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
            (R, D, F) features of each device with the operator on it, see
            `streamplace.sim.lookahead`.
        offered
            (R, D) bool, the devices that may be chosen.
        """
        z = (self.prospect(candidates) + resident).add_(operator.unsqueeze(1)).relu_()
        among = self.among(candidates[:, :, DEVICE_SHARE].unsqueeze(1) @ z)  # device mean
        z = self.mix(z).add_(among).relu_()
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
            parts = zip(state.by_step(candidates), state.by_step(offered), strict=True)
            for t, (features_now, offered_now) in enumerate(parts):
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
        candidates: CandidateFeatures,
        offered: Bools,
        chosen: Sequence[Tensor],
    ) -> Tensor:
        """Return the log-probabilities of all devices in all decisions, (N, D), ordered by step."""
        operator, contribution = embedded
        operators = torch.cat([state.operators(t) for t in range(state.steps)])
        device = operator.device
        added, columns = contribution[operators], state.batch.columns
        resident: Tensor = _Residents.apply(added, chosen, columns)  # type: ignore[no-untyped-call]
        logits = self.logits(
            operator[operators],
            resident,
            torch.from_numpy(candidates).to(device),
            torch.from_numpy(offered).to(device),
        )
        return torch.log_softmax(logits, dim=1)


class _Residents(torch.autograd.Function):
    """The sums of the embeddings of the operators on each device before each decision, (N, D, H).

    Autograd would keep and add an array of this size for each operation.
    """

    @staticmethod
    def forward(ctx: Any, rows: Tensor, chosen: Sequence[Tensor], devices: int) -> Tensor:
        """Return the sums from the embeddings, (N, H), and the device taken in each decision.

        Parameters
        ----------
        chosen
            The device of each row at each step, (R',).
        """
        ctx.chosen = chosen
        sums = rows.new_zeros(len(rows), devices, rows.shape[1])
        counts = [len(taken) for taken in chosen]
        of_step = torch.split(sums, counts)
        for t, (added, kept) in enumerate(zip(torch.split(rows, counts), counts[1:], strict=False)):
            after = of_step[t + 1].copy_(of_step[t][:kept])
            after[torch.arange(kept, device=rows.device), chosen[t][:kept]] += added[:kept]
        return sums

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *changes: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradient of the embeddings: that of all later sums of their device."""
        (change,) = changes
        counts = [len(taken) for taken in ctx.chosen]
        of_step = torch.split(change, counts)
        gradient = change.new_zeros(len(change), change.shape[2])
        of_rows = torch.split(gradient, counts)
        later = change.new_zeros(counts[0], *change.shape[1:])
        for t in range(len(counts) - 1, 0, -1):
            kept = counts[t]
            later[:kept] += of_step[t]
            rows = torch.arange(kept, device=change.device)
            of_rows[t - 1][:kept] = later[rows, ctx.chosen[t - 1][:kept]]
        return gradient, None, None


def _largest(h: Tensor, batch: ScorerBatch) -> Tensor:
    """Return the element-wise maximum over each problem's operators, (P, H)."""
    index = batch.problem_of.unsqueeze(1).expand_as(h)
    empty = torch.zeros(len(batch), h.shape[1], dtype=h.dtype, device=h.device)
    return empty.scatter_reduce(0, index, h, "amax", include_self=False)
