"""The network that scores devices by what placing the next operator there would do.

A message-passing encoder reads the graph; operators are then placed one after another. What each
device would look like with the operator on it (`sim.lookahead`), the operator's embedding and the
sum of the embeddings of the operators already there go through one network, the same for every
device, so that one set of weights serves any number of devices, equal or not.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from sim.lookahead import CANDIDATE_FEATURES
from streamplace.policy.base import Constructive
from streamplace.policy.config import DeviceScorerSizes
from streamplace.policy.decoding import UNAVAILABLE, Sampler
from streamplace.policy.device_scorer import features
from streamplace.policy.device_scorer import numpy_inference as in_numpy
from streamplace.policy.device_scorer.features import (
    OF_OPERATOR,
    OF_PROBLEM,
    OF_STREAM,
    EncodedProblem,
    ScorerBatch,
)
from streamplace.policy.device_scorer.numpy_inference import ONE_OF
from streamplace.policy.device_scorer.state import DecodingState, Seen
from streamplace.policy.teachers import Teacher
from streamplace.policy.trajectories import Trajectories
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Bools, Ints

FEW = 256  # rows x devices: below, numpy is faster than torch


class Hop(nn.Module):
    """One round of messages along the streams, downstream and upstream, with a residual."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(hidden)
        self.send = nn.Linear(hidden, 2 * hidden)
        self.stream = nn.Linear(OF_STREAM, 2 * hidden, bias=False)
        self.update = nn.Linear(4 * hidden, hidden)

    def forward(self, h: Tensor, whole: Tensor, batch: ScorerBatch) -> Tensor:
        """Return new embeddings, (V, H), from those before and the whole graph's, (V, H)."""
        seen = self.norm(h)
        along = self.stream(batch.streams)
        down, up = self.send(seen).chunk(2, dim=1)
        along_down, along_up = along.chunk(2, dim=1)
        arriving = torch.relu(down[batch.source] + along_down)
        returning = torch.relu(up[batch.target] + along_up)
        from_above = torch.zeros_like(h).index_add(0, batch.target, arriving) / batch.inputs
        from_below = torch.zeros_like(h).index_add(0, batch.source, returning) / batch.outputs
        joined = torch.cat([seen, from_above, from_below, whole], dim=1)
        return h + torch.relu(self.update(joined))


class DeviceScorer(Constructive[EncodedProblem, ScorerBatch]):
    """The network of the module's docstring.

    Of equal devices that run nothing, only the first is offered.
    """

    def __init__(self, config: DeviceScorerSizes) -> None:
        super().__init__()
        self.config = config
        self.orders: Sequence[int] = config.orders
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
        return features.encode(problem)

    def batch(self, encoded: Sequence[EncodedProblem]) -> ScorerBatch:
        """Join encoded problems, largest first; see `Policy.batch`."""
        return ScorerBatch(encoded, self.torch_device)

    def canonical(self, encoded: EncodedProblem, placement: Ints, sample: int) -> Ints:
        """Return an equal placement that uses equal devices in the order in which it is decoded."""
        return encoded.relabelled(placement, self.orders[sample % len(self.orders)])

    def embed(self, batch: ScorerBatch) -> tuple[Tensor, Tensor]:
        """Return embeddings of every operator, (V, H): for scoring, and for its device's sum."""
        h = torch.relu(
            self.read(torch.cat([batch.operators, batch.totals[batch.problem_of]], dim=1))
        )
        for hop, pool in zip(self.hops, self.pool, strict=False):
            h = hop(h, _largest(pool(h), batch)[batch.problem_of], batch)
        h = self.norm(h)
        whole = _largest(self.pool[-1](h), batch)
        operator = self.operator(torch.cat([h, whole[batch.problem_of]], dim=1))
        weight = batch.operators[:, :1] + batch.even_share
        return operator, self.resident(h) * weight

    def logits(self, operator: Tensor, resident: Tensor, seen: Tensor, offered: Tensor) -> Tensor:
        """Score the devices, (R, D), for one operator a row.

        Parameters
        ----------
        operator
            (R, H) see `embed`.
        resident
            (R, D, H) summed over the operators on each device.
        seen
            (R, D, F) see `sim.lookahead`.
        offered
            (R, D) bool.
        """
        z = torch.relu((self.prospect(seen) + resident).add_(operator.unsqueeze(1)))
        among = self.among(seen[:, :, ONE_OF].unsqueeze(1) @ z)  # the mean over the devices
        z = torch.relu(self.mix(z).add_(among))
        scored: Tensor = self.score(z).squeeze(2)
        return scored.masked_fill(~offered, UNAVAILABLE)

    def sample(self, batch: ScorerBatch, samples: int, sampler: Sampler) -> Ints:
        """Place every problem `samples` times; see `Constructive.sample`."""
        with torch.inference_mode():
            grown = self._decoding(batch, samples)
            for t in range(grown.steps):
                grown.take(t, sampler(grown.ask(t, *grown.room(t)), samples))
        return grown.placements

    def _decoding(self, batch: ScorerBatch, samples: int) -> DecodingState:
        """Return placements to grow, in numpy where they are few."""
        if batch.device.type != "cpu" or len(batch) * samples * batch.columns > FEW:
            return DecodingState(self, batch, samples, self.embed(batch))
        layers = in_numpy.layers_of(self)
        encoded = in_numpy.embed(layers, len(self.hops), batch)
        return in_numpy.NumpyDecodingState(self, batch, samples, encoded, layers)

    def rollout(
        self,
        batch: ScorerBatch,
        samples: int,
        sampler: Sampler,
        forced: Ints | None = None,
        teacher: Teacher | None = None,
    ) -> Trajectories:
        """Place every problem `samples` times; see `Constructive.rollout`.

        Devices are chosen without gradients; the choices are then scored again all at once.
        """
        embedded = self.embed(batch)
        expert = None if teacher is None else teacher.follow(batch.encoded, samples)
        best: list[Bools] = []
        with torch.no_grad():
            grown = DecodingState(self, batch, samples, embedded)
            seen, offered = grown.room_for_all()
            chosen = []
            for t, (now, may) in enumerate(zip(seen, offered, strict=True)):
                forced_now = None if forced is None else grown.of_step(t, forced)
                if forced_now is None or (forced_now < 0).any():
                    taken = sampler(grown.ask(t, now, may), samples)
                    if forced_now is not None:
                        taken = torch.where(forced_now >= 0, forced_now, taken)
                else:
                    grown.look(t, now, may)
                    taken = forced_now
                if expert is not None:
                    devices = taken.cpu().numpy().astype(np.int32)
                    best.append(expert.judge(grown.operators_within(t), devices) & may)
                grown.take(t, taken)
                chosen.append(taken)
        logs = self._log_probabilities(grown, embedded, seen, offered, chosen)
        every = torch.cat(chosen)
        entropy = -(logs.exp() * logs).sum(dim=1)
        agreement = None
        if teacher is not None:
            agreement = teacher.agreement(logs, batch.tensor(np.concatenate(best)))
        taken_logs = logs.gather(1, every.unsqueeze(1)).squeeze(1)
        return grown.trajectories(every, taken_logs, entropy, agreement)

    def beam(self, batch: ScorerBatch, width: int) -> Ints:
        """Return the `width` likeliest placements that a beam search finds, (width, V).

        Of one problem: at every operator the likeliest continuations of all placements are kept.
        """
        with torch.inference_mode():
            grown = DecodingState(self, batch, width, self.embed(batch))
            likelihood = torch.full((width, 1), UNAVAILABLE, device=batch.device)
            likelihood[0] = 0.0  # the others are copies of it, until it has branched
            for t in range(grown.steps):
                logs = torch.log_softmax(grown.ask(t, *grown.room(t)), dim=1)
                total = (likelihood + logs).reshape(-1)
                best = total.topk(width)
                likelihood = best.values.unsqueeze(1)
                grown.keep(torch.div(best.indices, batch.columns, rounding_mode="floor"))
                grown.take(t, best.indices % batch.columns)
        placements: Ints = grown.placements[0]
        return placements

    def _log_probabilities(
        self,
        grown: DecodingState,
        embedded: tuple[Tensor, Tensor],
        seen: Sequence[Seen],
        offered: Sequence[Bools],
        chosen: Sequence[Tensor],
    ) -> Tensor:
        """Return log-probabilities of all devices in all decisions, (N, D), step after step."""
        operator, left = embedded
        at = torch.cat([grown.operators(t) for t in range(grown.steps)])
        taken = torch.cat(list(chosen))
        onto = nn.functional.one_hot(taken, grown.batch.columns).to(left.dtype)
        added = onto.unsqueeze(2) * left[at].unsqueeze(1)
        counts = [len(rows) for rows in chosen]
        resident = [torch.zeros_like(added[: counts[0]])]
        for before, kept in zip(torch.split(added, counts), counts[1:], strict=False):
            resident.append(resident[-1][:kept] + before[:kept])
        device = operator.device
        logits = self.logits(
            operator[at],
            torch.cat(resident),
            torch.from_numpy(np.concatenate(seen)).to(device),
            torch.from_numpy(np.concatenate(offered)).to(device),
        )
        return torch.log_softmax(logits, dim=1)


def _largest(h: Tensor, batch: ScorerBatch) -> Tensor:
    """Return the element-wise maximum over each problem's operators, (P, H)."""
    index = batch.problem_of.unsqueeze(1).expand_as(h)
    empty = torch.zeros(len(batch), h.shape[1], dtype=h.dtype, device=h.device)
    return empty.scatter_reduce(0, index, h, "amax", include_self=False)
