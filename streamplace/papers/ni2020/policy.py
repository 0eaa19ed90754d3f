"""The decoding loop of the encoder-decoders: an LSTM that places one operator per step.

A batch has P problems, largest first, with T operators at most, and S samples (rows) of each, R in
all. Step t places the t-th operator of each problem in the decoding order, in the R' rows that have
one left: from the operator's embedding, of length L, the last device and those of its placed
neighbours, the LSTM makes a state, from which attention to all operators makes the logits of the D
devices. `Decoder.rollout` is the loop; `EncoderDecoder` and `Released` are its networks.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from streamplace.learning.policy.base import Constructive
from streamplace.learning.policy.decoding import UNAVAILABLE, Sampler
from streamplace.learning.policy.teachers import Teacher
from streamplace.learning.policy.trajectories import Trajectories
from streamplace.papers.ni2020.features import Ni2020Batch, NiProblem
from streamplace.papers.ni2020.products import SharedWeight
from streamplace.papers.one_order import OneOrderState
from streamplace.util.arrays import Floats, Ints

MASKED = -1e9  # attention score of padding, where a problem has fewer operators


class SharedPrefixes:
    """The distinct prefixes among rows; a prefix is the sequence of devices chosen so far.

    At the start, all rows of a problem share the empty prefix.

    Parameters
    ----------
    samples
        The number of rows per problem.
    rows
        R, the number of rows.

    Attributes
    ----------
    prefix_of_row
        (R',) the prefix of each row.
    row_of_prefix
        (B,) one row of each of B prefixes.
    """

    def __init__(self, samples: int, rows: int, device: torch.device) -> None:
        self.prefix_of_row = torch.arange(rows, device=device) // samples
        self.row_of_prefix = torch.arange(0, rows, samples, device=device)

    def branch(self, chosen: Tensor, devices: int) -> Tensor:
        """Extend the prefixes of the remaining rows by their choices, (R',).

        Returns
        -------
        (B',) int64
            The old prefix that each new one extends.
        """
        extended, self.prefix_of_row = torch.unique(
            self.prefix_of_row[: len(chosen)] * devices + chosen, return_inverse=True
        )
        self.row_of_prefix = torch.empty_like(extended).scatter_(
            0, self.prefix_of_row, torch.arange(len(chosen), device=chosen.device)
        )
        parent: Tensor = extended // devices
        return parent


class Ni2020State(OneOrderState):
    """Partial placements, and what the network reads of them; see `OneOrderState`."""

    def __init__(
        self,
        batch: Ni2020Batch,
        samples: int,
        devices: int,
        forced: Ints | None,
        neighbours: Callable[[Ni2020Batch, Ints], Tensor],
    ) -> None:
        super().__init__(batch, samples, devices, forced)
        rows, where = len(batch) * samples, batch.device
        self._on = torch.zeros(len(batch), len(self.rows), samples * devices, device=where)
        self._used = torch.zeros(rows, devices, dtype=torch.bool, device=where)
        self._neighbours = neighbours(batch, self.order).to(where)
        kind = (
            torch.from_numpy(np.concatenate([one.kind for one in batch.encoded]))
            .to(where)
            .view(-1, devices)
        )
        same_kind = (kind.unsqueeze(2) == kind.unsqueeze(1)).tril(-1)
        self._same_kind_before = same_kind.repeat_interleave(samples, dim=0)

    def placed_neighbours(self, t: int) -> Tensor:
        """Return the sum of the weights of placed neighbours on each device, (R', D)."""
        now = self.problems[t]
        shares = self._neighbours[:now, t : t + 1] @ self._on[:now]
        return shares.reshape(self.rows[t], self._devices)

    def spare(self, t: int) -> Tensor:
        """Return which devices are redundant, (R', D): unused after an unused one of their kind."""
        rows = self.rows[t]
        unused = ~self._used[:rows]
        return unused & (self._same_kind_before[:rows] & unused.unsqueeze(1)).any(dim=2)

    def take(self, t: int, chosen: Tensor) -> Tensor:
        """Place a step's operators on chosen or forced devices, (R',), and return these devices."""
        taken = super().take(t, chosen)
        self._on[: self.problems[t], t] = self._last.view(self.problems[t], -1)
        self._used[: self.rows[t]] |= self._last > 0
        return taken


def placed_neighbours(
    batch: Ni2020Batch, order: Ints, of_streams: Sequence[Floats] | None = None
) -> Tensor:
    """Return a weight, (P, T, T), of each operator that is placed before step t and linked to it.

    Parameters
    ----------
    order
        (P, T) the operator of each step, as an index within its problem; -1 beyond the last one.
    of_streams
        The weights of each problem's streams, (E,), which are added where streams have the same
        ends; None: 1 for each neighbour.
    """
    weights = np.zeros((len(batch), order.shape[1], order.shape[1]), dtype=np.float32)
    for p, one in enumerate(batch.encoded):
        position = np.empty(one.size, dtype=np.int64)
        position[order[p, : one.size]] = np.arange(one.size)
        source, target = position[one.flow.source], position[one.flow.target]
        later, earlier = np.maximum(source, target), np.minimum(source, target)
        if of_streams is None:
            weights[p, later, earlier] = 1.0
        else:
            np.add.at(weights[p], (later, earlier), of_streams[p])
    return torch.from_numpy(weights)


class Decoder(Constructive[NiProblem, Ni2020Batch]):
    """An encoder, an LSTM that reads devices chosen before, and attention to all operators.

    Attributes
    ----------
    encoder
        Maps a batch, (P, T) batch indices of operators in decoding order, and which of them exist,
        (P, T), to embeddings, (P, T, L), and the first state and cell of the LSTM, (P, L).
    device_count
        D, the number of devices, which is fixed.
    reads_last, reads_neighbours
        Whether the LSTM reads the device of the previous step, and those of placed neighbours.
    breaks_symmetry
        Whether only the first of several equal devices that run nothing is offered.
    """

    encoder: nn.Module
    device_count: int
    reads_last = True
    reads_neighbours = True
    breaks_symmetry: bool

    @abstractmethod
    def neighbours(self, batch: Ni2020Batch, order: Ints) -> Tensor:
        """Return the weights, (P, T, T), with which step t reads the devices of earlier steps.

        Parameters
        ----------
        order
            (P, T) the operator of each step, as an index within its problem; -1 beyond the last.
        """

    @abstractmethod
    def gates_of(self, embedded: Tensor) -> Tensor:
        """Return the share of operators in the gates, (P, T, 4L), from embeddings, (P, T, L)."""

    @abstractmethod
    def gate_weights(self) -> Tensor:
        """Return the weights, (·, 4L), that turn the state and the devices into gates.

        The rows are for the state, (L), then for the last device and those of neighbours, (D) each,
        as far as the LSTM reads them.
        """

    @abstractmethod
    def logit_weight(self) -> Tensor:
        """Return the weight, (I, O), with which the logits of every step are computed."""

    @abstractmethod
    def logits(
        self, state: Tensor, embedded: Tensor, padding: Tensor, shared: SharedWeight
    ) -> Tensor:
        """Return logits, (R, D), from states, (P, S, L), which attend to operators, (P, T, L).

        Parameters
        ----------
        shared
            The `logit_weight`.
        """

    def batch(self, encoded: Sequence[NiProblem]) -> Ni2020Batch:
        """Join encoded problems, largest first; see `Policy.batch`."""
        return Ni2020Batch(encoded, self.torch_device)

    def canonical(self, encoded: NiProblem, placement: Ints, sample: int) -> Ints:
        """Return an equivalent placement that uses equal devices in decoding order.

        Without `breaks_symmetry`, return the placement unchanged.
        """
        return encoded.relabelled(placement, 0) if self.breaks_symmetry else placement

    def rollout(
        self,
        batch: Ni2020Batch,
        samples: int,
        sampler: Sampler,
        forced: Ints | None = None,
        teacher: Teacher | None = None,
    ) -> Trajectories:
        """Place every problem `samples` times; see `Constructive.rollout`.

        The recurrent state depends only on the problem and the devices chosen so far, so samples
        with the same prefix share it, and with a single problem the logits as well. A more certain
        policy therefore computes less.

        Raises
        ------
        UnsuitableError
            If the number of devices of a cluster differs from the network's.
        """
        for encoded in batch.encoded:
            self.check(encoded.problem)
        decoding = Ni2020State(batch, samples, self.device_count, forced, self.neighbours)
        expert = None if teacher is None else teacher.follow(batch.encoded, samples)
        first = batch.first_operator[:-1, None].astype(np.int64)
        at = batch.tensor(np.maximum(decoding.order, 0) + first)
        valid = batch.tensor(decoding.order >= 0)
        embedded, state, cell = self.encoder(batch, at, valid)
        prefixes = SharedPrefixes(samples, decoding.rows[0], batch.device)
        padding = torch.where(valid, 0.0, MASKED).unsqueeze(1)
        from_operator = self.gates_of(embedded).unbind(dim=1)  # cheaper gradients than slices
        gate_weights = SharedWeight(self.gate_weights())
        logit_weight = SharedWeight(self.logit_weight())
        chosen: list[Tensor] = []
        offered: list[Tensor] = []
        agreement: list[Tensor] = []
        for t, now in enumerate(decoding.problems):
            row = prefixes.row_of_prefix
            inputs = [state]
            if self.reads_last:
                inputs.append(decoding.last(t)[row])
            if self.reads_neighbours:
                inputs.append(decoding.placed_neighbours(t)[row])
            of_operator = from_operator[t][row // samples]
            gates = gate_weights.product(of_operator, torch.cat(inputs, dim=1))
            state, cell = _lstm(gates, cell)
            if len(batch) == 1:
                logits = self.logits(state.unsqueeze(0), embedded, padding, logit_weight)
                logits = logits[prefixes.prefix_of_row]
            else:  # problems have different numbers of prefixes
                of_rows = state[prefixes.prefix_of_row].view(now, samples, -1)
                logits = self.logits(of_rows, embedded[:now], padding[:now], logit_weight)
            if self.breaks_symmetry:
                logits = logits.masked_fill(decoding.spare(t), UNAVAILABLE)
            logs = torch.log_softmax(logits, dim=1)
            taken = decoding.take(t, sampler(logs.detach(), samples))
            if t + 1 < len(decoding.rows):
                kept = prefixes.branch(taken[: decoding.rows[t + 1]], self.device_count)
                state, cell = state[kept], cell[kept]
            if teacher is not None and expert is not None:
                best = batch.tensor(
                    expert.judge(decoding.operators(t), taken.cpu().numpy().astype(np.int32))
                )
                agreement.append(teacher.agreement(logs, best & (logits > UNAVAILABLE / 2)))
            chosen.append(taken)
            offered.append(logs)
        devices, logs = torch.cat(chosen), torch.cat(offered)
        return decoding.trajectories(
            devices,
            logs.gather(1, devices.unsqueeze(1)).squeeze(1),
            -(logs.exp() * logs).sum(dim=1),
            torch.cat(agreement) if agreement else None,
        )


def _lstm(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """Return the new state and cell, (R, L), from input, forget, output and candidate gates."""
    length = cell.shape[1]
    input_, forget, output = torch.sigmoid(gates[:, : 3 * length]).chunk(3, dim=1)
    cell = forget * cell + input_ * torch.tanh(gates[:, 3 * length :])
    return output * torch.tanh(cell), cell
