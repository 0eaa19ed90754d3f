"""A policy that reads three features per device: its load, local traffic and crossing traffic."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from streamplace import Problem
from streamplace.learning.policy.base import Constructive
from streamplace.learning.policy.decoding import UNAVAILABLE, Sampler
from streamplace.learning.policy.graph_batch import EncodedGraph, GraphBatch
from streamplace.learning.policy.teachers import Teacher
from streamplace.learning.policy.trajectories import Trajectories
from streamplace.problem.symmetry import interchangeable
from streamplace.scoring.flow import flow
from streamplace.sim import orders
from toy_streams.kind import Sizes

FEATURES = 3  # number of features of a device


class Batch(GraphBatch[EncodedGraph]):
    """P problems as tensors, padded with zeros to V operators and D devices.

    Attributes
    ----------
    traffic
        (P, V, V) the share of all traffic that flows between two operators.
    load
        (P, V, D) the utilisation of each device by each operator ÷ the mean utilisation.
    has_device
        (P, D) bool, whether a problem has the device.
    """

    def __init__(self, encoded: Sequence[EncodedGraph], device: torch.device) -> None:
        super().__init__(encoded, device)
        rows, columns = int(self.sizes[0]), self.columns
        traffic = np.zeros((len(self), rows, rows), np.float32)
        load = np.zeros((len(self), rows, columns), np.float32)
        for p, one in enumerate(encoded):
            total = max(float(one.flow.traffic.sum()), 1e-9)
            np.add.at(traffic[p], (one.flow.source, one.flow.target), one.flow.traffic / total)
            even = one.flow.work.sum() / one.flow.capacity.sum()
            load[p, : one.size, : one.flow.devices] = one.flow.work[:, None] / (
                one.flow.capacity * even
            )
        self.traffic = self.tensor(traffic + traffic.transpose(0, 2, 1))
        self.load = self.tensor(load)
        self.has_device = self.tensor(np.arange(columns) < self.devices[:, None])


class LoadAware(Constructive[EncodedGraph, Batch]):
    """A small network that scores every device by its features."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.score = nn.Sequential(
            nn.Linear(FEATURES, sizes.hidden), nn.Tanh(), nn.Linear(sizes.hidden, 1, bias=False)
        )

    def encode(self, problem: Problem) -> EncodedGraph:
        """Return a problem as arrays, with its operators ordered level by level."""
        arrays = flow(problem)
        return EncodedGraph(
            problem, arrays, interchangeable(problem), orders.by_depth(arrays)[None]
        )

    def batch(self, encoded: Sequence[EncodedGraph]) -> Batch:
        """Join problems, which must be sorted with the largest first."""
        return Batch(encoded, self.torch_device)

    def rollout(
        self,
        batch: Batch,
        samples: int,
        sampler: Sampler,
        forced: np.ndarray | None = None,
        teacher: Teacher | None = None,
    ) -> Trajectories:
        """Place one operator after another; see `Constructive.rollout`."""
        order = batch.orders(np.zeros(samples, dtype=np.int32))  # (P, S, T)
        problems, _, steps = order.shape
        active = batch.active(np.arange(steps, dtype=np.int32)).tolist()
        on = torch.zeros(problems, samples, steps, batch.columns, device=batch.device)
        loads = torch.zeros(problems, samples, batch.columns, device=batch.device)
        placements = np.full(order.shape, -1, dtype=np.int32)
        expert = None if teacher is None else teacher.follow(batch.encoded, samples)
        chosen, log_prob, entropy, agreement = [], [], [], []
        for t, now in enumerate(active):
            operators = order[:now, :, t]  # (P', S), the same for every sample
            rows, at = np.arange(now), operators[:, 0]
            logits = self._logits(batch, on, loads, rows, at)
            logs = torch.log_softmax(logits, dim=1)
            taken = sampler(logs.detach(), samples)
            if forced is not None:
                of_step = forced[rows[:, None], np.arange(samples), operators].reshape(-1)
                required = batch.tensor(of_step.astype(np.int64))
                taken = torch.where(required >= 0, required, taken)
            devices = taken.cpu().numpy().astype(np.int32)
            if teacher is not None and expert is not None:
                best = batch.tensor(expert.judge(operators.reshape(-1), devices))
                agreement.append(teacher.agreement(logs, best))
            placed = nn.functional.one_hot(taken, batch.columns).view(now, samples, -1)
            on[rows, :, at] = placed.to(on.dtype)
            loads[:now] += placed * batch.load[rows, at].unsqueeze(1)
            placements[rows[:, None], np.arange(samples), operators] = devices.reshape(now, samples)
            chosen.append(taken)
            log_prob.append(logs.gather(1, taken.unsqueeze(1)).squeeze(1))
            entropy.append(-(logs.exp() * logs).sum(dim=1))
        return Trajectories.of_placements(
            placements,
            order.reshape(problems * samples, steps).T,
            [now * samples for now in active],
            torch.cat(chosen),
            torch.cat(log_prob),
            torch.cat(entropy),
            torch.cat(agreement) if agreement else None,
        )

    def _logits(
        self, batch: Batch, on: Tensor, loads: Tensor, rows: np.ndarray, at: np.ndarray
    ) -> Tensor:
        """Return logits, (P'·S, D), for one operator per problem."""
        load = loads[rows] + batch.load[rows, at].unsqueeze(1)
        local = torch.einsum("pv,psvd->psd", batch.traffic[rows, at], on[rows])
        crossing = local.sum(dim=2, keepdim=True) - local
        features = torch.stack([load, local, crossing], dim=3)
        logits: Tensor = self.score(features).squeeze(3)
        has_device = batch.has_device[rows].unsqueeze(1)
        return logits.masked_fill(~has_device, UNAVAILABLE).flatten(0, 1)
