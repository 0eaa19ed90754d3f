"""`DeviceScorer` in numpy, for batches of so few rows that torch's calls cost more than the work.

Without gradients, on the CPU. What stands here twice is held together by a test.
"""

from weakref import WeakKeyDictionary

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from sim.lookahead import CANDIDATE_FEATURES, candidate_features, place_next
from streamplace.policy.decoding import UNAVAILABLE
from streamplace.policy.device_scorer.features import ScorerBatch
from streamplace.policy.device_scorer.state import DecodingState, Scores, Seen
from streamplace.util.arrays import Bools

Single = NDArray[np.float32]
ONE_OF = CANDIDATE_FEATURES.index("devices")  # 1 / their number, 0 for padding
EPSILON = np.float32(1e-5)  # of torch's layer norms


class Layers:
    """The layers of a network by name."""

    def __init__(self, network: nn.Module) -> None:
        self.where = _where(network)
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
    """Return the layers of a network, found once as long as its weights stay where they are."""
    known = _LAYERS.get(network)
    if known is None or known.where != _where(network):
        known = _LAYERS[network] = Layers(network)
    return known


def _where(network: nn.Module) -> int:
    return next(network.parameters()).data_ptr()


class MeanBy:
    """Means over the streams that end at each operator."""

    def __init__(self, operator: NDArray[np.int64], operators: int) -> None:
        count = np.bincount(operator, minlength=operators)
        self._order = np.argsort(operator, kind="stable")
        self._some = np.flatnonzero(count)
        self._first = (np.cumsum(count) - count)[self._some]
        self._count = count[self._some, None].astype(np.float32)
        self._operators = operators

    def __call__(self, messages: Single) -> Single:
        """Return the mean at each operator, (V, H), of messages, (E, H); 0 where there is none."""
        mean = np.zeros((self._operators, messages.shape[1]), np.float32)
        if len(self._some):
            total = np.add.reduceat(messages[self._order], self._first)
            mean[self._some] = total / self._count
        return mean


unwarned = np.errstate(over="ignore", invalid="ignore")  # like torch: whoever asks checks


@unwarned
def embed(layers: Layers, hops: int, batch: ScorerBatch) -> tuple[Single, Single]:
    """Return what `DeviceScorer.embed` does."""
    problem_of, first = batch.problem_of.numpy(), batch.first_operator[:-1]
    source, target = batch.source.numpy(), batch.target.numpy()
    operators, streams = batch.operators.numpy(), batch.streams.numpy()
    from_above, from_below = MeanBy(target, len(operators)), MeanBy(source, len(operators))
    h = layers.linear("read", np.concatenate([operators, batch.totals.numpy()[problem_of]], axis=1))
    np.maximum(h, 0.0, out=h)
    for i in range(hops):
        whole = np.maximum.reduceat(layers.linear(f"pool.{i}", h), first)[problem_of]
        seen = layers.normal(f"hops.{i}.norm", h)
        sent = layers.linear(f"hops.{i}.send", seen)
        along = layers.linear(f"hops.{i}.stream", streams)
        half = h.shape[1]
        above = from_above(np.maximum(sent[source, :half] + along[:, :half], 0.0))
        below = from_below(np.maximum(sent[target, half:] + along[:, half:], 0.0))
        joined = np.concatenate([seen, above, below, whole], axis=1)
        h = h + np.maximum(layers.linear(f"hops.{i}.update", joined), 0.0)
    h = layers.normal("norm", h)
    whole = np.maximum.reduceat(layers.linear(f"pool.{hops}", h), first)[problem_of]
    operator = layers.linear("operator", np.concatenate([h, whole], axis=1))
    weight: Single = operators[:, :1] + batch.even_share.numpy()
    return operator, layers.linear("resident", h) * weight


class NumpyDecodingState(DecodingState):
    """The same as `DecodingState`, with the network's scores worked out here."""

    def __init__(
        self,
        network: Scores,
        batch: ScorerBatch,
        samples: int,
        encoded: tuple[Single, Single],
        layers: Layers,
    ) -> None:
        self._embedded, self._leaves = encoded
        tensors = torch.from_numpy(self._embedded), torch.from_numpy(self._leaves)
        super().__init__(network, batch, samples, tensors)
        self._layers = layers
        self._numbers = self._at.numpy()
        self._there = self._resident.numpy()
        self._flat = self._there.reshape(-1, self._there.shape[2])
        self._begin = np.arange(len(self._there)) * batch.columns

    @unwarned
    def ask(self, t: int, seen: Seen, offered: Bools) -> Tensor:
        """Look, and return the network's logits, (R', D); see `DeviceScorer.logits`."""
        candidate_features(
            self.batch.lookahead, self._grown, self.operators_within(t), seen, offered
        )
        rows, columns, _ = seen.shape
        linear = self._layers.linear
        z = linear("prospect", seen.reshape(rows * columns, -1))
        by_row = z.reshape(rows, columns, -1)
        by_row += self._there[:rows]
        by_row += self._embedded[self._numbers[t, :rows], None]
        np.maximum(z, 0.0, out=z)
        among = linear("among", (seen[:, None, :, ONE_OF] @ by_row)[:, 0])
        mixed = linear("mix", z)
        by_row = mixed.reshape(rows, columns, -1)
        by_row += among[:, None]
        np.maximum(mixed, 0.0, out=mixed)
        scored = linear("score", mixed).reshape(rows, columns)
        scored[~offered] = UNAVAILABLE
        return torch.from_numpy(scored)

    @unwarned
    def take(self, t: int, chosen: Tensor) -> None:
        """Place the operators of a step on devices, (R',)."""
        devices = chosen.numpy()
        rows = len(devices)
        place_next(
            self.batch.lookahead, self._grown, self.operators_within(t), devices.astype(np.int32)
        )
        self._flat[self._begin[:rows] + devices] += self._leaves[self._numbers[t, :rows]]
