"""The encoder-decoder of Ni et al. (AAAI 2020): an encoder, and an LSTM decoder with attention.

``B`` reads the operators as a sequence (adapted from Mirhoseini et al. 2017), ``B+F1`` reads them
as a graph, and ``B+F1&F2`` also gives the decoder the devices of the upstream operators. In orders
that do not place upstream operators first, it gives those of all neighbours placed so far.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch_geometric.nn import MessagePassing

from streamplace.policy.base import Constructive
from streamplace.policy.config import EncoderDecoderSizes
from streamplace.policy.decoding import UNAVAILABLE, OneOrderState, Sampler
from streamplace.policy.encoded import check_devices
from streamplace.policy.graph_batch import EncodedGraph, GraphBatch
from streamplace.policy.teachers import Teacher
from streamplace.policy.trajectories import Trajectories
from streamplace.problem.problem import Problem
from streamplace.problem.symmetry import interchangeable
from streamplace.scoring.flow import flow
from streamplace.scoring.orders import traversal_order
from streamplace.util.arrays import Ints

Single = NDArray[np.float32]

OF_OPERATOR = 2  # number of features
MAX_FEATURE = 1e30  # to stay within float32


@dataclass(frozen=True, eq=False)
class NiProblem(EncodedGraph):
    """A problem as the networks read it.

    Attributes
    ----------
    operators
        (V, OF_OPERATOR) float32: the operator's utilisation of an average device, and its output's
        utilisation of an average link.
    """

    operators: Single


class Ni2020Batch(GraphBatch[NiProblem]):
    """Problems as tensors for the networks.

    Attributes
    ----------
    operators
        (V, OF_OPERATOR) float32 features, see `NiProblem`.
    """

    def __init__(self, encoded: Sequence[NiProblem], device: torch.device | str = "cpu") -> None:
        super().__init__(encoded, device)
        self.operators = self.tensor(np.concatenate([one.operators for one in encoded]))


def encode(problem: Problem, order_name: str = "by-depth") -> NiProblem:
    """Return the features of a problem.

    Parameters
    ----------
    order_name
        The traversal order of the decoder, see `scoring.orders`; `random` is that of seed 0.

    Raises
    ------
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    """
    arrays = flow(problem)
    load = arrays.work * arrays.devices / float(arrays.capacity.sum())
    sent = np.bincount(arrays.source, weights=arrays.traffic, minlength=arrays.operators)
    features = np.minimum(np.stack([load, sent], axis=1), MAX_FEATURE).astype(np.float32)
    order = traversal_order(problem, order_name)[None]
    return NiProblem(problem, arrays, interchangeable(problem), order, features)


MASKED = -1e9  # attention score of padding, where a problem has fewer operators


class EncoderDecoder(Constructive[NiProblem, Ni2020Batch]):
    """The networks of the paper, selected by their sizes; see the module's docstring.

    The decoder is

    s_t = LSTM([h_v : mean of the devices of v's placed neighbours : device of step t-1], s_t-1)
    softmax(MLP([s_t : attention of s_t over all h])),

    where h_v is the embedding of operator v, which is placed at step t, devices stand for their
    embeddings, and [a : b] is concatenation. In topological orders, such as that of the paper, the
    placed neighbours are the upstream ones.
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

    def encode(self, problem: Problem) -> NiProblem:
        """Compute the features of a problem; see `Policy.encode`."""
        return encode(problem, self.config.order)

    def batch(self, encoded: Sequence[NiProblem]) -> Ni2020Batch:
        """Join encoded problems, largest first; see `Policy.batch`."""
        return Ni2020Batch(encoded, self.torch_device)

    def check(self, problem: Problem) -> None:
        """Raise an UnsuitableError if the number of devices differs from the network's outputs."""
        check_devices(problem, self.config.devices)

    def canonical(self, encoded: NiProblem, placement: Ints, sample: int) -> Ints:
        """Return an equivalent placement that uses equal devices in decoding order.

        Without `breaks_symmetry`, return the placement unchanged.
        """
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

        The recurrent state depends only on the problem and the devices chosen so far, so samples
        with the same prefix share it. A more certain policy therefore computes less.

        Raises
        ------
        UnsuitableError
            If the number of devices of a cluster differs from the network's.
        """
        config = self.config
        for encoded in batch.encoded:
            self.check(encoded.problem)
        decoding = Ni2020State(batch, samples, config.devices, forced)
        expert = None if teacher is None else teacher.follow(batch.encoded, samples)
        first = batch.first_operator[:-1, None].astype(np.int64)
        at = batch.tensor(np.maximum(decoding.order, 0) + first)
        valid = batch.tensor(decoding.order >= 0)
        embedded, state, cell = self.encoder(batch, at, valid)
        prefixes = SharedPrefixes(samples, decoding.rows[0], batch.device)
        padding = torch.where(valid, 0.0, MASKED).unsqueeze(1)
        from_operator = self.from_operator(embedded).unbind(dim=1)  # cheaper gradients than slices
        gate_weights = self._gate_weights()
        chosen: list[Tensor] = []
        log_prob: list[Tensor] = []
        entropy: list[Tensor] = []
        agreement: list[Tensor] = []
        for t, now in enumerate(decoding.problems):
            row = prefixes.row_of_prefix
            inputs = [state, decoding.last(t)[row]]
            if config.upstream:
                inputs.append(decoding.placed_neighbours(t)[row])
            of_operator = from_operator[t][row // samples]
            gates = torch.addmm(of_operator, torch.cat(inputs, dim=1), gate_weights)
            state, cell = _lstm(gates, cell)
            of_rows = state[prefixes.prefix_of_row].view(now, samples, -1)
            logits = self._logits(of_rows, embedded[:now], padding[:now])
            if config.breaks_symmetry:
                logits = logits.masked_fill(decoding.spare(t), UNAVAILABLE)
            logs = torch.log_softmax(logits, dim=1)
            taken = decoding.take(t, sampler(logs.detach(), samples))
            if t + 1 < len(decoding.rows):
                kept = prefixes.branch(taken[: decoding.rows[t + 1]], config.devices)
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

    def _gate_weights(self) -> Tensor:
        """Return the weights, (·, 4L), that turn the state and the devices into gates.

        The rows are for the state, the last device, and with F2 the devices of upstream operators.
        """
        tables = [self.from_state.weight.t(), self.from_last(self.device.weight)]
        if self.config.upstream:
            tables.append(self.from_upstream(self.device.weight))
        return torch.cat(tables)

    def _logits(self, state: Tensor, embedded: Tensor, padding: Tensor) -> Tensor:
        """Return logits, (R, D), from states, (P, S, L), which attend to operators, (P, T, L)."""
        attention = torch.baddbmm(padding, state, embedded.transpose(1, 2))
        context = torch.softmax(attention, dim=2) @ embedded
        joined = torch.cat([state, context], dim=2).flatten(0, 1)
        logits: Tensor = self.choose(torch.relu(self.mix(joined)))
        return logits


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


def _lstm(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """Return the new state and cell, (R, L), from input, forget, output and candidate gates."""
    length = cell.shape[1]
    input_, forget, output = torch.sigmoid(gates[:, : 3 * length]).chunk(3, dim=1)
    cell = forget * cell + input_ * torch.tanh(gates[:, 3 * length :])
    return output * torch.tanh(cell), cell


class Ni2020State(OneOrderState):
    """Partial placements, and what the network reads of them; see `OneOrderState`."""

    def __init__(self, batch: Ni2020Batch, samples: int, devices: int, forced: Ints | None) -> None:
        super().__init__(batch, samples, devices, forced)
        rows, where = len(batch) * samples, batch.device
        self._on = torch.zeros(len(batch), len(self.rows), samples * devices, device=where)
        self._used = torch.zeros(rows, devices, dtype=torch.bool, device=where)
        self._neighbours = _placed_neighbours(batch, self.order).to(where)
        kind = (
            torch.from_numpy(np.concatenate([one.kind for one in batch.encoded]))
            .to(where)
            .view(-1, devices)
        )
        same_kind = (kind.unsqueeze(2) == kind.unsqueeze(1)).tril(-1)
        self._same_kind_before = same_kind.repeat_interleave(samples, dim=0)

    def placed_neighbours(self, t: int) -> Tensor:
        """Return the share of the operator's placed neighbours on each device, (R', D)."""
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


def _placed_neighbours(batch: Ni2020Batch, order: Ints) -> Tensor:
    """Return weights, (P, T, T), whose row t averages over the neighbours placed before step t.

    In topological orders, these are the upstream operators, as in the paper. A backward order
    would leave the decoder nothing to read if only upstream operators counted.
    """
    weights = np.zeros((len(batch), order.shape[1], order.shape[1]), dtype=np.float32)
    for p, one in enumerate(batch.encoded):
        position = np.empty(one.size, dtype=np.int64)
        position[order[p, : one.size]] = np.arange(one.size)
        source, target = position[one.flow.source], position[one.flow.target]
        weights[p, np.maximum(source, target), np.minimum(source, target)] = 1.0
    return torch.from_numpy(weights / np.maximum(weights.sum(axis=2, keepdims=True), 1.0))


class View(MessagePassing):  # type: ignore[misc]  # torch-geometric is not typed
    """One message-passing hop in one direction.

    h' = tanh(W2 [h : mean over neighbours u of tanh(W1 h_u)])
    """

    def __init__(self, before: int, after: int) -> None:
        super().__init__(aggr="mean")
        self.message_of = nn.Linear(before, after)
        self.update_of = nn.Linear(before + after, after)

    def forward(self, h: Tensor, along: Tensor) -> Tensor:
        """Return new embeddings, (V, m), from old ones, (V, n), and edges, (2, E).

        Each edge is a neighbour and the operator that receives its message.
        """
        received = self.propagate(along, sent=torch.tanh(self.message_of(h)))
        return torch.tanh(self.update_of(torch.cat([h, received], dim=1)))

    def message(self, sent_j: Tensor) -> Tensor:
        """Return the message of a neighbour."""
        return sent_j


class GraphEncoder(nn.Module):
    """Message passing upstream and downstream with shared weights, concatenated."""

    def __init__(self, length: int, hops: int) -> None:
        super().__init__()
        sizes = [OF_OPERATOR, *[length // 2] * hops]
        self.views = nn.ModuleList(map(View, sizes, sizes[1:]))
        self.whole = nn.Linear(length, length)

    def forward(
        self, batch: Ni2020Batch, at: Tensor, valid: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return embeddings in decoding order, (P, T, L), and the decoder's first state and cell.

        Parameters
        ----------
        at
            (P, T) int64 batch indices of the operators in decoding order.
        valid
            (P, T) bool; False beyond a problem's number of operators.
        """
        down = torch.stack([batch.source, batch.target])
        above = below = batch.operators
        for view in self.views:
            above, below = view(above, down), view(below, down.flip(0))
        h = torch.cat([above, below], dim=1)
        padded = h[at] * valid.unsqueeze(2)
        padding = torch.where(valid, 0.0, -torch.inf).unsqueeze(2)
        state = (self.whole(padded) + padding).amax(dim=1)
        return padded, state, torch.zeros_like(state)


class SequenceEncoder(nn.Module):
    """An LSTM over the operators in decoding order."""

    def __init__(self, length: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(OF_OPERATOR, length, batch_first=True)

    def forward(
        self, batch: Ni2020Batch, at: Tensor, valid: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return embeddings and the decoder's first state and cell, as `GraphEncoder` does."""
        packed = nn.utils.rnn.pack_padded_sequence(
            batch.operators[at], torch.from_numpy(batch.sizes.astype(np.int64)), batch_first=True
        )
        read, (state, cell) = self.lstm(packed)
        padded, _ = nn.utils.rnn.pad_packed_sequence(read, batch_first=True)
        return padded, state[0], cell[0]
