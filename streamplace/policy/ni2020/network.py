"""The encoder-decoder of Ni et al. 2020: an encoder, and an LSTM decoder with attention.

``B`` reads the operators as a sequence (the model of Mirhoseini et al. 2017, adapted), ``B+F1`` as
a graph, and ``B+F1&F2`` also tells the decoder where the operator's upstream neighbours went.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from streamplace.errors import UnsuitableError
from streamplace.policy.base import Constructive
from streamplace.policy.config import EncoderDecoderSizes
from streamplace.policy.decoding import UNAVAILABLE, Sampler
from streamplace.policy.ni2020 import features
from streamplace.policy.ni2020.encoders import GraphEncoder, SequenceEncoder
from streamplace.policy.ni2020.features import EncodedProblem, Ni2020Batch
from streamplace.policy.ni2020.state import Ni2020State
from streamplace.policy.teachers import Teacher
from streamplace.policy.trajectories import Trajectories
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Ints

NOWHERE = -1e9  # attention to operators that a shorter graph lacks


class EncoderDecoder(Constructive[EncodedProblem, Ni2020Batch]):
    """The networks of the module's docstring, by their sizes. The decoder is

    s_t = LSTM([h_v : mean of the devices of v's upstream operators : device of the last], s_t-1)
    softmax(MLP([s_t : attention of s_t over all h]))
    """

    def __init__(self, config: EncoderDecoderSizes) -> None:
        super().__init__()
        self.config = config
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

    def encode(self, problem: Problem) -> EncodedProblem:
        """Compute the features of a problem; see `Policy.encode`."""
        return features.encode(problem)

    def batch(self, encoded: Sequence[EncodedProblem]) -> Ni2020Batch:
        """Join encoded problems, largest first; see `Policy.batch`."""
        return Ni2020Batch(encoded, self.torch_device)

    def check(self, problem: Problem) -> None:
        """Refuse another number of devices than the network has outputs."""
        devices, wanted = len(problem.cluster.devices), self.config.devices
        if devices != wanted:
            raise UnsuitableError(f"this policy places on {wanted} devices only (got {devices})")

    def canonical(self, encoded: EncodedProblem, placement: Ints, sample: int) -> Ints:
        """Return an equal placement that uses equal devices in decoding order, if told apart."""
        return encoded.relabelled(placement, 0) if self.config.breaks_symmetry else placement

    def rollout(
        self,
        batch: Ni2020Batch,
        samples: int,
        sampler: Sampler,
        forced: Ints | None = None,
        teacher: Teacher | None = None,
    ) -> Trajectories:
        """Place every problem `samples` times; see `Constructive.rollout`.

        The recurrent state depends on the problem and the devices chosen so far alone, so samples
        that begin alike share it: the surer a policy is, the less there is to compute.

        Raises
        ------
        UnsuitableError
            If a cluster has another number of devices than the network.
        """
        config = self.config
        for encoded in batch.encoded:
            self.check(encoded.problem)
        decoding = Ni2020State(batch, samples, config.devices, forced)
        expert = None if teacher is None else teacher.follow(batch.encoded, samples)
        first = batch.first_operator[:-1, None].astype(np.int64)
        at = batch.tensor(np.maximum(decoding.order, 0) + first)
        there = batch.tensor(decoding.order >= 0)
        embedded, state, cell = self.encoder(batch, at, there)
        beginnings = SharedPrefixes(samples, decoding.rows[0], batch.device)
        absent = torch.where(there, 0.0, NOWHERE).unsqueeze(1)
        from_operator = self.from_operator(embedded).unbind(dim=1)  # slices would cost zeros
        into_gates = self._into_gates()
        chosen: list[Tensor] = []
        log_prob: list[Tensor] = []
        entropy: list[Tensor] = []
        agreement: list[Tensor] = []
        for t, now in enumerate(decoding.problems):
            one = beginnings.row
            known = [state, decoding.last(t)[one]]
            if config.upstream:
                known.append(decoding.upstream(t)[one])
            read_so_far = from_operator[t][one // samples]
            state, cell = _lstm(torch.addmm(read_so_far, torch.cat(known, dim=1), into_gates), cell)
            of_rows = state[beginnings.of].view(now, samples, -1)
            logits = self._look(of_rows, embedded[:now], absent[:now])
            if config.breaks_symmetry:
                logits = logits.masked_fill(decoding.spare(t), UNAVAILABLE)
            logs = torch.log_softmax(logits, dim=1)
            taken = decoding.take(t, sampler(logs.detach(), samples))
            if t + 1 < len(decoding.rows):
                kept = beginnings.branch(taken[: decoding.rows[t + 1]], config.devices)
                state, cell = state[kept], cell[kept]
            if teacher is not None and expert is not None:
                devices = taken.cpu().numpy().astype(np.int32)
                best = batch.tensor(expert.judge(decoding.operators(t), devices))
                agreement.append(teacher.agreement(logs, best & (logits > UNAVAILABLE / 2)))
            chosen.append(taken)
            # entropy first: gradients are added in reverse order, which decides their last bits
            entropy.append(-(logs.exp() * logs).sum(dim=1))
            log_prob.append(logs.gather(1, taken.unsqueeze(1)).squeeze(1))
        return decoding.trajectories(
            torch.cat(chosen),
            torch.cat(log_prob),
            torch.cat(entropy),
            torch.cat(agreement) if agreement else None,
        )

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
