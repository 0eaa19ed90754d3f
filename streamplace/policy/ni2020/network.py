"""The encoder-decoder of Ni et al. 2020: an encoder, and an LSTM decoder with attention.

``B`` reads the operators as a sequence (the model of Mirhoseini et al. 2017, adapted), ``B+F1`` as
a graph, and ``B+F1&F2`` also tells the decoder where the operator's upstream neighbours went.
"""

import numpy as np
import torch
from torch import Tensor, nn

from streamplace.errors import UsageError
from streamplace.policy.batch import Batch
from streamplace.policy.config import EncoderDecoderSizes
from streamplace.policy.decoding import Sampler
from streamplace.policy.ni2020.encoders import GraphEncoder, SequenceEncoder
from streamplace.policy.ni2020.state import Ni2020State
from streamplace.policy.rollout import Rollout
from streamplace.util.arrays import Ints

NOWHERE = -1e9  # attention to operators that a shorter graph lacks


class EncoderDecoder(nn.Module):
    """See the module. The decoder is

    s_t = LSTM([h_v : mean of the devices of v's upstream operators : device of the last], s_t-1)
    softmax(MLP([s_t : attention of s_t over all h]))
    """

    def __init__(self, config: EncoderDecoderSizes) -> None:
        super().__init__()
        self.config, self.breaks_symmetry = config, config.breaks_symmetry
        self.orders = (0,)
        length = config.length
        self.encoder: nn.Module = (
            GraphEncoder(length, config.hops)
            if config.encoder == "graph"
            else SequenceEncoder(length)
        )
        self.device = nn.Embedding(config.devices, config.device_length)
        self.from_operator = nn.Linear(length, 4 * length)
        if config.upstream:
            self.from_upstream = nn.Linear(config.device_length, 4 * length, bias=False)
        self.from_last = nn.Linear(config.device_length, 4 * length, bias=False)
        self.from_state = nn.Linear(length, 4 * length, bias=False)
        self.mix = nn.Linear(2 * length, length // 2)
        self.choose = nn.Linear(length // 2, config.devices)

    def sample(self, batch: Batch, samples: int, choose: Sampler) -> Ints:
        """Place every problem `samples` times; return (P, S, V), see `Rollout`."""
        with torch.inference_mode():
            return self.rollout(batch, samples, choose).placements

    def beam(self, batch: Batch, width: int) -> Ints:
        """Refuse: the published allocators were not decoded so."""
        raise UsageError("beam is for networks of the kind device-scorer")

    def rollout(
        self, batch: Batch, samples: int, choose: Sampler, forced: Ints | None = None
    ) -> Rollout:
        """Place every problem `samples` times, in one pass that gradients can flow through.

        The recurrent state depends on the problem and the devices chosen so far alone, so samples
        that begin alike share it: the surer a policy is, the less there is to compute.

        Parameters
        ----------
        forced
            (P, S, V) devices to take instead of choosing, -1 where the network chooses.

        Raises
        ------
        UsageError
            If a cluster has another number of devices than the network.
        """
        config = self.config
        if np.any(np.diff(batch.lookahead.first_device) != config.devices):
            raise UsageError(f"this policy places on {config.devices} devices only")
        state_of_rows = Ni2020State(batch, samples, config.devices, forced)
        first = batch.lookahead.first_operator[:-1, None].astype(np.int64)
        at = torch.from_numpy(np.maximum(state_of_rows.order, 0) + first)
        there = torch.from_numpy(state_of_rows.order >= 0).to(batch.device)
        embedded, state, cell = self.encoder(batch, at.to(batch.device), there)
        beginnings = SharedPrefixes(samples, state_of_rows.rows[0], batch.device)
        absent = torch.where(there, 0.0, NOWHERE).unsqueeze(1)
        from_operator = self.from_operator(embedded).unbind(dim=1)  # slices would cost zeros
        into_gates = self._into_gates()
        likelihood = torch.zeros(2, len(batch), samples, device=batch.device)
        for t, now in enumerate(state_of_rows.problems):
            one = beginnings.row
            known = [state, state_of_rows.last(t)[one]]
            if config.upstream:
                known.append(state_of_rows.upstream(t)[one])
            read_so_far = from_operator[t][one // samples]
            state, cell = _lstm(torch.addmm(read_so_far, torch.cat(known, dim=1), into_gates), cell)
            of_rows = state[beginnings.of].view(now, samples, -1)
            logits = self._look(of_rows, embedded[:now], absent[:now])
            if self.breaks_symmetry:
                logits = logits.masked_fill(state_of_rows.spare(t), NOWHERE)
            logs = torch.log_softmax(logits, dim=1)
            taken = state_of_rows.take(t, choose(logs.detach(), samples))
            if t + 1 < len(state_of_rows.rows):
                kept = beginnings.branch(taken[: state_of_rows.rows[t + 1]], config.devices)
                state, cell = state[kept], cell[kept]
            entropy = -(logs.exp() * logs).sum(dim=1)
            found = torch.stack([logs.gather(1, taken.unsqueeze(1)).squeeze(1), entropy])
            rest = (0, 0, 0, len(batch) - now)
            likelihood = likelihood + nn.functional.pad(found.view(2, now, samples), rest)
        length = torch.from_numpy(batch.sizes).to(batch.device).unsqueeze(1)
        return Rollout(state_of_rows.placements, likelihood[0], likelihood[1] / length)

    def _into_gates(self) -> Tensor:
        """Return what turns the state, the last device and those upstream into gates, (·, 4L)."""
        tables = [self.from_state.weight.t(), self.from_last(self.device.weight)]
        if self.config.upstream:
            tables.append(self.from_upstream(self.device.weight))
        return torch.cat(tables)

    def _look(self, state: Tensor, embedded: Tensor, absent: Tensor) -> Tensor:
        """Return logits, (R, D), from states, (P, S, L), which attend to the operators."""
        attention = torch.baddbmm(absent, state, embedded.transpose(1, 2))
        context = torch.softmax(attention, dim=2) @ embedded
        joined = torch.cat([state, context], dim=2).flatten(0, 1)
        logits: Tensor = self.choose(torch.relu(self.mix(joined)))
        return logits


class SharedPrefixes:
    """The different beginnings among rows, `samples` a problem: all alike at the start.

    Attributes
    ----------
    of
        (R',) the beginning of each row.
    row
        (B,) a row of each beginning.
    """

    def __init__(self, samples: int, rows: int, device: torch.device) -> None:
        self.of = torch.arange(rows, device=device) // samples
        self.row = torch.arange(0, rows, samples, device=device)

    def branch(self, chosen: Tensor, devices: int) -> Tensor:
        """Tell beginnings apart by what the rows that go on chose, (R',); return whence each is."""
        found, self.of = torch.unique(
            self.of[: len(chosen)] * devices + chosen, return_inverse=True
        )
        self.row = torch.empty_like(found).scatter_(
            0, self.of, torch.arange(len(chosen), device=chosen.device)
        )
        whence: Tensor = found // devices
        return whence


def _lstm(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """Return the new state and cell, (R, L), from input, forget, output and candidate gates."""
    length = cell.shape[1]
    doors = torch.sigmoid(gates[:, : 3 * length])
    let_in, kept, let_out = doors.chunk(3, dim=1)
    cell = kept * cell + let_in * torch.tanh(gates[:, 3 * length :])
    return let_out * torch.tanh(cell), cell
