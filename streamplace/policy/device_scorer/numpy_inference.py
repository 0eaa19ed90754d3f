"""`DeviceScorer` in numpy, for small batches, where the overhead of torch's calls dominates.

It runs on the CPU, without gradients. A test checks that both implementations agree.
"""

from weakref import WeakKeyDictionary

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from sim.lookahead import CANDIDATE_FEATURES, place_next
from streamplace.policy.decoding import UNAVAILABLE
from streamplace.policy.device_scorer.features import ScorerBatch
from streamplace.policy.device_scorer.state import CandidateFeatures, DecodingState, Scores
from streamplace.util.arrays import Bools

Single = NDArray[np.float32]
DEVICE_SHARE = CANDIDATE_FEATURES.index("devices")  # 1 / number of devices, 0 for padding
EPSILON = np.float32(1e-5)  # of torch's layer norms


class Layers:
    """The layers of a network by name."""

    def __init__(self, network: nn.Module) -> None:
        self.address = _address(network)
        self._weights = {name: part.detach().numpy() for name, part in network.named_parameters()}

    def linear(self, name: str, x: Single) -> Single:
        """Apply a linear layer to rows."""
        result: Single = x @ self._weights[f"{name}.weight"].T
        bias = self._weights.get(f"{name}.bias")
        if bias is not None:
            result += bias
        return result

    def normal(self, name: str, x: Single) -> Single:
        """Apply a layer norm to rows."""
        centred: Single = x - x.mean(axis=1, keepdims=True)
        centred /= np.sqrt(np.einsum("ij,ij->i", centred, centred) / x.shape[1] + EPSILON)[:, None]
        centred *= self._weights[f"{name}.weight"]
        centred += self._weights[f"{name}.bias"]
        return centred


_LAYERS: WeakKeyDictionary[nn.Module, Layers] = WeakKeyDictionary()


def layers_of(network: nn.Module) -> Layers:
    """Return the layers of a network, cached until its weights move in memory."""
    cached = _LAYERS.get(network)
    if cached is None or cached.address != _address(network):
        cached = _LAYERS[network] = Layers(network)
    return cached


def _address(network: nn.Module) -> int:
    return next(network.parameters()).data_ptr()


class MeanBy:
    """Means of messages by operator.

    Parameters
    ----------
    operator
        (E,) the operator that each message belongs to.
    operators
        V, the number of operators.
    """

    def __init__(self, operator: NDArray[np.int64], operators: int) -> None:
        count = np.bincount(operator, minlength=operators)
        self._order = np.argsort(operator, kind="stable")
        self._some = np.flatnonzero(count)
        self._first = (np.cumsum(count) - count)[self._some]
        self._count = count[self._some, None].astype(np.float32)
        self._operators = operators

    def __call__(self, messages: Single) -> Single:
        """Return the mean message of each operator, (V, H), from messages, (E, H); 0 if none."""
        mean = np.zeros((self._operators, messages.shape[1]), np.float32)
        if len(self._some):
            total = np.add.reduceat(messages[self._order], self._first)
            mean[self._some] = total / self._count
        return mean


without_warnings = np.errstate(over="ignore", invalid="ignore")  # as torch does


@without_warnings
def embed(layers: Layers, hops: int, batch: ScorerBatch) -> tuple[Single, Single]:
    """Return the same embeddings as `DeviceScorer.embed`."""
    problem_of, first = batch.problem_of.numpy(), batch.first_operator[:-1]
    source, target = batch.source.numpy(), batch.target.numpy()
    operators, streams = batch.operators.numpy(), batch.streams.numpy()
    from_above, from_below = MeanBy(target, len(operators)), MeanBy(source, len(operators))
    h = layers.linear("read", np.concatenate([operators, batch.totals.numpy()[problem_of]], axis=1))
    np.maximum(h, 0.0, out=h)
    for i in range(hops):
        pooled = np.maximum.reduceat(layers.linear(f"pool.{i}", h), first)[problem_of]
        normed = layers.normal(f"hops.{i}.norm", h)
        sent = layers.linear(f"hops.{i}.send", normed)
        along = layers.linear(f"hops.{i}.stream", streams)
        half = h.shape[1]
        above = from_above(np.maximum(sent[source, :half] + along[:, :half], 0.0))
        below = from_below(np.maximum(sent[target, half:] + along[:, half:], 0.0))
        joined = np.concatenate([normed, above, below, pooled], axis=1)
        h = h + np.maximum(layers.linear(f"hops.{i}.update", joined), 0.0)
    h = layers.normal("norm", h)
    pooled = np.maximum.reduceat(layers.linear(f"pool.{hops}", h), first)[problem_of]
    operator = layers.linear("operator", np.concatenate([h, pooled], axis=1))
    weight: Single = operators[:, :1] + batch.even_share.numpy()
    return operator, layers.linear("resident", h) * weight


class NumpyDecodingState(DecodingState):
    """A `DecodingState` that computes the network's scores in numpy."""

    def __init__(
        self,
        network: Scores,
        batch: ScorerBatch,
        samples: int,
        encoded: tuple[Single, Single],
        layers: Layers,
    ) -> None:
        self._embedded, self._added = encoded
        tensors = torch.from_numpy(self._embedded), torch.from_numpy(self._added)
        super().__init__(network, batch, samples, tensors)
        self._layers = layers
        self._numbers = self._at.numpy()
        self._sums = self._resident.numpy()
        self._flat = self._sums.reshape(-1, self._sums.shape[2])
        self._first_device = np.arange(len(self._sums)) * batch.columns

    @without_warnings
    def score(self, t: int, candidates: CandidateFeatures, offered: Bools) -> Tensor:
        """Fill arrays and return the network's logits, (R', D); see `DeviceScorer.logits`."""
        self.fill(t, candidates, offered)
        rows, columns, _ = candidates.shape
        linear = self._layers.linear
        z = linear("prospect", candidates.reshape(rows * columns, -1))
        by_row = z.reshape(rows, columns, -1)
        by_row += self._sums[:rows]
        by_row += self._embedded[self._numbers[t, :rows], None]
        np.maximum(z, 0.0, out=z)
        among = linear("among", (candidates[:, None, :, DEVICE_SHARE] @ by_row)[:, 0])
        mixed = linear("mix", z)
        by_row = mixed.reshape(rows, columns, -1)
        by_row += among[:, None]
        np.maximum(mixed, 0.0, out=mixed)
        scored = linear("score", mixed).reshape(rows, columns)
        scored[~offered] = UNAVAILABLE
        return torch.from_numpy(scored)

    @without_warnings
    def take(self, t: int, chosen: Tensor) -> None:
        """Place the operators of a step on devices, (R',)."""
        devices = chosen.numpy()
        rows = len(devices)
        place_next(
            self.batch.lookahead, self._placed, self.operators_within(t), devices.astype(np.int32)
        )
        self._flat[self._first_device[:rows] + devices] += self._added[self._numbers[t, :rows]]
