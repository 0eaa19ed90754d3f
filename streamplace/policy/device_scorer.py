"""Our allocator: devices scored by one shared network from what placing an operator there does.

A message-passing encoder reads the graph; operators are then placed one after another. What each
device would look like with the operator on it (`sim.prospects`), the operator's embedding and the
sum of the embeddings of the operators already there go through one network, the same for every
device, so that one set of weights serves any number of devices, equal or not.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from sim.prospects import PROSPECTS, nothing_placed, place_next, prospects
from streamplace.arrays import Ints
from streamplace.policy.batch import Batch
from streamplace.policy.features import OF_JOB, OF_OPERATOR, OF_STREAM
from streamplace.policy.rollout import Choice, Rollout

ONE_OF = PROSPECTS.index("devices")  # 1 / their number, 0 for padding
UNAVAILABLE = -1e9  # logit of a device that is not offered


@dataclass(frozen=True)
class DeviceScorerConfig:
    """Sizes of the network.

    Parameters
    ----------
    hidden
        Length of embeddings.
    hops
        Rounds of message passing.
    orders
        Decoding orders that samples take in turn: 0 level by level, 1 path by path.
    """

    hidden: int = 128
    hops: int = 4
    orders: tuple[int, ...] = (0,)


class Hop(nn.Module):
    """One round of messages along the streams, downstream and upstream, with a residual."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(hidden)
        self.send = nn.Linear(hidden, 2 * hidden)
        self.stream = nn.Linear(OF_STREAM, 2 * hidden, bias=False)
        self.update = nn.Linear(4 * hidden, hidden)

    def forward(self, h: Tensor, whole: Tensor, batch: Batch) -> Tensor:
        """Return new embeddings, (V, H), from those before and the whole graph's, (V, H)."""
        seen = self.norm(h)
        along = self.stream(batch.streams)
        down, up = self.send(seen).chunk(2, dim=1)
        along_down, along_up = along.chunk(2, dim=1)
        from_above = _mean_at(batch.target, torch.relu(down[batch.source] + along_down), h)
        from_below = _mean_at(batch.source, torch.relu(up[batch.target] + along_up), h)
        joined = torch.cat([seen, from_above, from_below, whole], dim=1)
        return h + torch.relu(self.update(joined))


class DeviceScorer(nn.Module):
    """See the module."""

    breaks_symmetry = True  # of equal devices that run nothing, only the first is offered

    def __init__(self, config: DeviceScorerConfig) -> None:
        super().__init__()
        self.config = config
        hidden = config.hidden
        self.read = nn.Linear(OF_OPERATOR + OF_JOB, hidden)
        self.hops = nn.ModuleList([Hop(hidden) for _ in range(config.hops)])
        self.pool = nn.ModuleList([nn.Linear(hidden, hidden) for _ in range(config.hops + 1)])
        self.norm = nn.LayerNorm(hidden)
        self.operator = nn.Linear(2 * hidden, hidden)
        self.resident = nn.Linear(hidden, hidden, bias=False)
        self.prospect = nn.Linear(len(PROSPECTS), hidden, bias=False)
        self.among = nn.Linear(hidden, hidden)
        self.mix = nn.Linear(hidden, hidden)
        self.score = nn.Linear(hidden, 1)

    def encode(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return what scoring needs of every operator, (V, H), and what it leaves on its device."""
        h = torch.relu(self.read(torch.cat([batch.operators, batch.whole[batch.job_of]], dim=1)))
        for hop, pool in zip(self.hops, self.pool, strict=False):
            h = hop(h, _largest(pool(h), batch)[batch.job_of], batch)
        h = self.norm(h)
        whole = _largest(self.pool[-1](h), batch)
        operator = self.operator(torch.cat([h, whole[batch.job_of]], dim=1))
        weight = batch.operators[:, :1] + 0.05  # by CPU work: sums stay near 1 on any graph
        return operator, self.resident(h) * weight

    def logits(self, operator: Tensor, resident: Tensor, seen: Tensor, offered: Tensor) -> Tensor:
        """Score the devices, (R, D), for one operator a row.

        Parameters
        ----------
        operator
            (R, H) see `encode`.
        resident
            (R, D, H) summed over the operators on each device.
        seen
            (R, D, F) see `sim.prospects`.
        offered
            (R, D) bool.
        """
        z = torch.relu((self.prospect(seen) + resident).add_(operator.unsqueeze(1)))
        among = self.among(seen[:, :, ONE_OF].unsqueeze(1) @ z)  # the mean over the devices
        z = torch.relu(self.mix(z).add_(among))
        return self.score(z).squeeze(2).masked_fill(~offered, UNAVAILABLE)

    def rollout(
        self, batch: Batch, samples: int, choose: Choice, forced: Ints | None = None
    ) -> Rollout:
        """Place every problem `samples` times.

        Devices are chosen without gradients; where gradients are on, the choices are then scored
        again all at once.

        Parameters
        ----------
        forced
            (P, S, V) devices to take instead of choosing, -1 where the network chooses.
        """
        which = np.array([self.config.orders[s % len(self.config.orders)] for s in range(samples)])
        order = batch.orders(which).reshape(len(batch) * samples, -1)
        steps = Steps.of(batch, samples, order)
        with_gradients = torch.is_grad_enabled()
        operator, left = self.encode(batch)
        with torch.no_grad():
            placements, chosen, likelihood = self._decode(
                batch, steps, operator, left, choose, forced
            )
        if with_gradients:
            likelihood = self._likelihood(steps, operator, left, chosen)
        log_probability, entropy = likelihood
        shape = (len(batch), samples)
        row = torch.from_numpy(steps.row).to(batch.device)
        length = torch.from_numpy(np.repeat(batch.sizes, samples)).to(batch.device)
        total = torch.zeros(shape[0] * samples, device=batch.device)
        return Rollout(
            placements.reshape(*shape, -1),
            total.index_add(0, row, log_probability).reshape(shape),
            (total.index_add(0, row, entropy) / length).reshape(shape),
        )

    def _decode(
        self,
        batch: Batch,
        steps: "Steps",
        operator: Tensor,
        left: Tensor,
        choose: Choice,
        forced: Ints | None,
    ) -> tuple[Ints, Tensor, tuple[Tensor, Tensor]]:
        """Choose; return placements (R, V), the choices of all decisions (N,), their likelihood."""
        rows, columns = len(steps.order), batch.columns
        grown = nothing_placed(batch.jobs, steps.job)
        resident = torch.zeros(rows, columns, left.shape[1], device=batch.device)
        wanted = None if forced is None else forced.reshape(rows, -1)
        every = np.arange(rows)
        choices = np.empty(len(steps.row), dtype=np.int32)
        log_probability = torch.zeros(len(steps.row), device=batch.device)
        entropy = torch.zeros(len(steps.row), device=batch.device)
        for t in range(len(steps.start) - 1):
            now = slice(steps.start[t], steps.start[t + 1])
            active = now.stop - now.start
            local = np.ascontiguousarray(steps.order[:active, t])
            prospects(batch.jobs, grown, local, steps.seen[now], steps.offered[now])
            asked = None if wanted is None else wanted[every[:active], local]
            at = steps.operator[now]
            if asked is None or (asked < 0).any():
                logits = self.logits(
                    operator[at],
                    resident[:active],
                    torch.from_numpy(steps.seen[now]).to(batch.device),
                    torch.from_numpy(steps.offered[now]).to(batch.device),
                )
                taken = choose(logits).cpu().numpy().astype(np.int32)
                if asked is not None:
                    taken = np.where(asked >= 0, asked, taken)
            else:
                taken = asked
            choices[now] = taken
            place_next(batch.jobs, grown, local, taken)
            resident[every[:active], taken] += left[at]
        return (
            grown.on,
            torch.from_numpy(choices).to(batch.device, torch.int64),
            (log_probability, entropy),
        )

    def _likelihood(
        self, steps: "Steps", operator: Tensor, left: Tensor, chosen: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return log-probability and entropy of all decisions, (N,) each, with gradients."""
        device = operator.device
        at = torch.from_numpy(steps.operator).to(device)
        columns = steps.seen.shape[1]
        onto = nn.functional.one_hot(chosen, columns).to(left.dtype)
        added = onto.unsqueeze(2) * left[at].unsqueeze(1)
        counts = np.diff(steps.start).tolist()
        resident = [torch.zeros_like(added[: counts[0]])]
        for before, kept in zip(added.split(counts), counts[1:], strict=False):
            resident.append(resident[-1][:kept] + before[:kept])
        logits = self.logits(
            operator[at],
            torch.cat(resident),
            torch.from_numpy(steps.seen).to(device),
            torch.from_numpy(steps.offered).to(device),
        )
        logs = torch.log_softmax(logits, dim=1)
        entropy = -(logs.exp() * logs).sum(dim=1)
        return logs.gather(1, chosen.unsqueeze(1)).squeeze(1), entropy


@dataclass(frozen=True)
class Steps:
    """All N decisions of a batch: at step t, rows 0, 1, … that have an operator left.

    Attributes
    ----------
    order
        (R, T) operators by step, numbered within the problem.
    job
        (R,)
    start
        (T + 1,) where the decisions of each step begin.
    operator, row
        (N,) int64, operators numbered through the batch.
    seen, offered
        (N, D, F) and (N, D), filled while decoding; see `sim.prospects`.
    """

    order: Ints
    job: Ints
    start: list[int]
    operator: np.ndarray
    row: np.ndarray
    seen: np.ndarray
    offered: np.ndarray

    @classmethod
    def of(cls, batch: Batch, samples: int, order: Ints) -> "Steps":
        """Lay out the decisions of `samples` rows a problem."""
        active = [batch.active(t) * samples for t in range(order.shape[1])]
        job = np.repeat(np.arange(len(batch), dtype=np.int32), samples)
        row = np.concatenate([np.arange(count) for count in active])
        step = np.repeat(np.arange(len(active)), active)
        total = len(row)
        return cls(
            order=order,
            job=job,
            start=np.cumsum([0, *active]).tolist(),
            operator=order[row, step] + batch.first[job[row]].astype(np.int64),
            row=row,
            seen=np.empty((total, batch.columns, len(PROSPECTS)), dtype=np.float32),
            offered=np.empty((total, batch.columns), dtype=np.bool_),
        )


def _mean_at(ends: Tensor, messages: Tensor, like: Tensor) -> Tensor:
    """Return the mean message at every operator, (V, H); 0 where there is none."""
    total = torch.zeros_like(like).index_add(0, ends, messages)
    ones = torch.ones(len(ends), 1, dtype=like.dtype, device=like.device)
    count = torch.zeros_like(like[:, :1]).index_add(0, ends, ones)
    return total / count.clamp(min=1.0)


def _largest(h: Tensor, batch: Batch) -> Tensor:
    """Return the element-wise maximum over each problem's operators, (P, H)."""
    index = batch.job_of.unsqueeze(1).expand_as(h)
    empty = torch.zeros(len(batch), h.shape[1], dtype=h.dtype, device=h.device)
    return empty.scatter_reduce(0, index, h, "amax", include_self=False)
