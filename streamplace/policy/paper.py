"""The published allocators: an encoder, and an LSTM decoder with attention (Ni et al., AAAI 2020).

``B`` reads the operators as a sequence (the model of Mirhoseini et al. 2017, adapted), ``B+F1`` as
a graph, and ``B+F1&F2`` also tells the decoder where the operator's upstream neighbours went.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.nn import MessagePassing

from streamplace.arrays import Ints
from streamplace.errors import PlacementError, UsageError
from streamplace.policy.batch import Batch
from streamplace.policy.features import OF_PUBLISHED
from streamplace.policy.rollout import Choice, Rollout

NOWHERE = -1e9  # attention to operators that a shorter graph lacks


@dataclass(frozen=True)
class PaperConfig:
    """Which of the published systems, and its sizes.

    Parameters
    ----------
    encoder
        ``sequence`` (B) or ``graph`` (F1).
    upstream
        F2: whether the decoder sees where upstream operators are.
    length
        Of an operator's embedding, and so of the decoder's state.
    hops
        K, rounds of message passing.
    device_length
        Of a device's embedding.
    devices
        The fixed number of devices.
    breaks_symmetry
        Whether of equal devices that run nothing only the first is offered: not in the paper, but
        a policy then has one name to learn for a placement instead of one for every permutation.
    """

    encoder: Literal["sequence", "graph"] = "graph"
    upstream: bool = True
    length: int = 512
    hops: int = 2
    device_length: int = 64
    devices: int = 5
    breaks_symmetry: bool = False


class View(MessagePassing):  # type: ignore[misc]  # torch-geometric is not typed
    """One hop of one view: h' = tanh(W2 [h : mean over neighbours u of tanh(W1 h_u)])."""

    def __init__(self, before: int, after: int) -> None:
        super().__init__(aggr="mean")
        self.message_of = nn.Linear(before, after)
        self.update_of = nn.Linear(before + after, after)

    def forward(self, h: Tensor, along: Tensor) -> Tensor:
        """Return new embeddings, (V, m), from those before and (2, E) neighbour -> operator."""
        heard = self.propagate(along, sent=torch.tanh(self.message_of(h)))
        return torch.tanh(self.update_of(torch.cat([h, heard], dim=1)))

    def message(self, sent_j: Tensor) -> Tensor:
        """Return what a neighbour sends."""
        return sent_j


class GraphEncoder(nn.Module):
    """Upstream and downstream views, which share their weights, side by side."""

    def __init__(self, length: int, hops: int) -> None:
        super().__init__()
        sizes = [OF_PUBLISHED, *[length // 2] * hops]
        self.views = nn.ModuleList(map(View, sizes, sizes[1:]))
        self.whole = nn.Linear(length, length)

    def forward(self, batch: Batch, at: Tensor, there: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return embeddings in decoding order, (P, T, L), and the decoder's first state."""
        down = torch.stack([batch.source, batch.target])
        above = below = batch.published
        for view in self.views:
            above, below = view(above, down), view(below, down.flip(0))
        h = torch.cat([above, below], dim=1)
        padded = h[at] * there.unsqueeze(2)
        lowest = torch.where(there, 0.0, -torch.inf).unsqueeze(2)
        state = (self.whole(padded) + lowest).amax(dim=1)
        return padded, state, torch.zeros_like(state)


class SequenceEncoder(nn.Module):
    """An LSTM over the operators in decoding order."""

    def __init__(self, length: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(OF_PUBLISHED, length, batch_first=True)

    def forward(self, batch: Batch, at: Tensor, there: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return embeddings in decoding order, (P, T, L), and the decoder's first state."""
        packed = nn.utils.rnn.pack_padded_sequence(
            batch.published[at], torch.from_numpy(batch.sizes.astype(np.int64)), batch_first=True
        )
        read, (state, cell) = self.lstm(packed)
        padded, _ = nn.utils.rnn.pad_packed_sequence(read, batch_first=True)
        return padded, state[0], cell[0]


class EncoderDecoder(nn.Module):
    """See the module. The decoder is

    s_t = LSTM([h_v : mean of the devices of v's upstream operators : device of the last], s_t-1)
    softmax(MLP([s_t : attention of s_t over all h]))
    """

    def __init__(self, config: PaperConfig) -> None:
        super().__init__()
        self.config, self.breaks_symmetry = config, config.breaks_symmetry
        length = config.length
        self.encoder: nn.Module = (
            GraphEncoder(length, config.hops)
            if config.encoder == "graph"
            else SequenceEncoder(length)
        )
        self.device = nn.Embedding(config.devices, config.device_length)
        self.from_operator = nn.Linear(length, 4 * length)
        self.from_upstream = nn.Linear(config.device_length, 4 * length, bias=False)
        self.from_last = nn.Linear(config.device_length, 4 * length, bias=False)
        self.from_state = nn.Linear(length, 4 * length, bias=False)
        self.mix = nn.Linear(2 * length, length // 2)
        self.choose = nn.Linear(length // 2, config.devices)

    def sample(self, batch: Batch, samples: int, choose: Choice) -> Ints:
        """Place every problem `samples` times; return (P, S, V), see `Rollout`."""
        with torch.inference_mode():
            return self.rollout(batch, samples, choose).placements

    def beam(self, batch: Batch, width: int) -> Ints:
        """Refuse: the published allocators were not decoded so."""
        raise UsageError("beam is for networks of the kind device-scorer")

    def rollout(
        self, batch: Batch, samples: int, choose: Choice, forced: Ints | None = None
    ) -> Rollout:
        """Place every problem `samples` times, in one pass that gradients can flow through.

        Parameters
        ----------
        forced
            (P, S, V) devices to take instead of choosing, -1 where the network chooses.

        Raises
        ------
        PlacementError
            If a cluster has another number of devices than the network.
        """
        wrong = np.flatnonzero(np.diff(batch.jobs.first_device) != self.config.devices)
        if len(wrong):
            raise PlacementError(f"this policy places on {self.config.devices} devices only")
        count, size, devices = len(batch), int(batch.sizes[0]), self.config.devices
        order = batch.orders(np.zeros(1, dtype=np.int32))[:, 0]
        at = torch.from_numpy(np.maximum(order, 0) + batch.first[:-1, None]).to(batch.device).long()
        there = torch.from_numpy(order >= 0).to(batch.device)
        embedded, state, cell = self.encoder(batch, at, there)
        state, cell = (
            x.unsqueeze(1).expand(-1, samples, -1).reshape(count * samples, -1)
            for x in (state, cell)
        )
        hidden = torch.where(there, 0.0, NOWHERE).unsqueeze(1)
        from_operator = self.from_operator(embedded).unbind(dim=1)  # slices would cost zeros
        tables = [self.from_state.weight.t(), self.from_last(self.device.weight)]
        if self.config.upstream:
            tables.append(self.from_upstream(self.device.weight))
        into_gates = torch.cat(tables)  # of the state, of the last device, of those upstream
        upstream = _upstream(batch, order).to(batch.device)
        on = torch.zeros(count, size, samples * devices, device=batch.device)
        last = torch.zeros(count, samples, devices, device=batch.device)
        wanted = None
        if forced is not None:
            wanted = np.take_along_axis(forced, np.maximum(order, 0)[:, None, :], axis=2)
        placements = np.full((count, samples, size), -1, dtype=np.int32)
        likelihood = torch.zeros(2, count, samples, device=batch.device)
        kind = torch.from_numpy(batch.jobs.kind).to(batch.device).view(count, devices)
        used = torch.zeros(count * samples, devices, dtype=torch.bool, device=batch.device)
        spare = _spare(used, kind.repeat_interleave(samples, dim=0))
        for t in range(size):
            now = batch.active(t)
            rows = now * samples
            known = [last[:now].reshape(rows, devices)]
            if self.config.upstream:
                mean = upstream[:now, t : t + 1] @ on[:now]
                known.append(mean.reshape(rows, devices))
            told = from_operator[t][:now].unsqueeze(1).expand(-1, samples, -1).reshape(rows, -1)
            gates = torch.addmm(told, torch.cat([state[:rows], *known], dim=1), into_gates)
            state, cell = _lstm(gates, cell[:rows])
            grouped = state.view(now, samples, -1)
            attention = torch.baddbmm(hidden[:now], grouped, embedded[:now].transpose(1, 2))
            context = torch.softmax(attention, dim=2) @ embedded[:now]
            joined = torch.cat([state, context.view(rows, -1)], dim=1)
            logits = self.choose(torch.relu(self.mix(joined)))
            if self.breaks_symmetry:
                logits = logits.masked_fill(spare[:rows], NOWHERE)
            logs = torch.log_softmax(logits, dim=1)
            taken = choose(logs.detach(), samples)
            if wanted is not None:
                told = torch.from_numpy(wanted[:now, :, t].reshape(rows)).to(taken)
                taken = torch.where(told >= 0, told, taken)
            entropy = -(logs.exp() * logs).sum(dim=1)
            found = torch.stack([logs.gather(1, taken.unsqueeze(1)).squeeze(1), entropy])
            likelihood = likelihood + nn.functional.pad(
                found.view(2, now, samples), (0, 0, 0, count - now)
            )
            last = nn.functional.one_hot(taken, devices).to(last.dtype).view(now, samples, devices)
            on[:now, t] = last.view(now, -1)
            used = used[:rows] | (last.view(rows, devices) > 0)
            spare = _spare(used, kind[:now].repeat_interleave(samples, dim=0))
            placements[np.arange(now)[:, None], np.arange(samples), order[:now, t : t + 1]] = (
                taken.view(now, samples).cpu().numpy()
            )
        length = torch.from_numpy(batch.sizes).to(batch.device).unsqueeze(1)
        return Rollout(placements, likelihood[0], likelihood[1] / length)


def _lstm(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """Return the new state and cell, (R, L), from input, forget, output and candidate gates."""
    length = cell.shape[1]
    doors = torch.sigmoid(gates[:, : 3 * length])
    let_in, kept, let_out = doors.chunk(3, dim=1)
    cell = kept * cell + let_in * torch.tanh(gates[:, 3 * length :])
    return let_out * torch.tanh(cell), cell


def _spare(used: Tensor, kind: Tensor) -> Tensor:
    """Return which unused devices, (R, D), have an unused one of their kind before them."""
    alike = (kind.unsqueeze(2) == kind.unsqueeze(1)).tril(-1)
    unused = ~used
    return unused & (alike & unused.unsqueeze(1)).any(dim=2)


def _upstream(batch: Batch, order: Ints) -> Tensor:
    """Return (P, T, T): row t averages over the upstream operators of the one decoded at t."""
    weights = np.zeros((len(batch), order.shape[1], order.shape[1]), dtype=np.float32)
    for p, one in enumerate(batch.prepared):
        position = np.empty(one.size, dtype=np.int64)
        position[order[p, : one.size]] = np.arange(one.size)
        arrays = one.job.flow
        weights[p, position[arrays.target], position[arrays.source]] = 1.0
    return torch.from_numpy(weights / np.maximum(weights.sum(axis=2, keepdims=True), 1.0))
