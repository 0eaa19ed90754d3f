"""DOPPLER in plain numpy, one problem and one step at a time, in double precision.

It reads the parameters of `streamplace.papers.doppler` by name, and nothing else of that package
nor of `streamplace.learning.policy.partial`. Devices have one core each.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.reference.doppler_state import Plain, PlainState
from streamplace.util.arrays import Floats

SLOPE, TINY = 0.1, 1e-3


@dataclass(frozen=True)
class Networks:
    """The networks of a policy.

    Parameters
    ----------
    of
        Arrays by name, as `Doppler.named_parameters` yields them.
    rounds
        Rounds of message passing.
    per_step
        Whether messages are passed at every step.
    """

    of: Mapping[str, Floats]
    rounds: int
    per_step: bool = False

    def log_probabilities(
        self, plain: Plain, actions: Sequence[tuple[int, int]]
    ) -> list[tuple[float, float]]:
        """Return the log-probability of the operator and of the device of each step.

        It is 0 for a part without a network.
        """
        state = PlainState(plain)
        found = []
        for v, d in actions:
            found.append((self._of_operator(state, v), self._of_device(state, v, d)))
            state.place(v, d)
        return found

    def _of_operator(self, state: PlainState, v: int) -> float:
        if "select.head.score.bias" not in self.of:
            return 0.0
        h, candidates = self._embed("select", state), state.candidates()
        sums = []
        for following in (state.plain.after, state.plain.before):
            rows = [sum(h[u] for u in _path(following, w)) for w in range(len(h))]
            sums.append(_among(_among(np.array(rows))[candidates]))
        static = _among(state.plain.features[candidates])
        logits = [
            self._head("select", h[w], sums[0][i], sums[1][i], self._latent("select", static[i]))
            for i, w in enumerate(candidates)
        ]
        return _log_softmax(logits)[candidates.index(v)]

    def _of_device(self, state: PlainState, v: int, d: int) -> float:
        if "place.head.score.bias" not in self.of:
            return 0.0
        h, devices = self._embed("place", state), state.plain.devices
        zero = np.zeros(h.shape[1])
        on = _among(np.array([sum((h[u] for u in state.on(e)), zero) for e in range(devices)]))
        features = _scores(np.array(state.device_features(v)), state.plain.unit)
        latent = self._latent("place", state.plain.features[v])
        logits = [
            self._head(
                "place", h[v], on[e], _leaky(self._layer("place.device", features[e])), latent
            )
            for e in range(devices)
        ]
        offered = state.plain.allowed[v]
        return _log_softmax([x if offered[e] else -np.inf for e, x in enumerate(logits)])[d]

    def _embed(self, network: str, state: PlainState) -> Floats:
        """Return the embeddings of all operators, (V, L)."""
        plain, name = state.plain, f"{network}.passing"
        x = plain.features
        if self.per_step:
            x = np.concatenate([x, state.times()], axis=1)
        h = np.array([np.maximum(self._layer(f"{name}.read", row), 0.0) for row in x])
        length = h.shape[1]
        for _ in range(self.rounds):
            received = np.tile(self._of(f"{name}.bias"), (len(h), 1))
            for (v, w), value in zip(plain.streams, plain.edges, strict=True):
                hidden = np.maximum(self._layer(f"{name}.edge", np.array([value])), 0.0)
                matrix = self._layer(f"{name}.matrix", hidden).reshape(length, length)
                received[w] = received[w] + h[v] @ matrix
                received[v] = received[v] + h[w] @ matrix
            h = np.array(
                [
                    self._gru(name, np.maximum(m, 0.0), own)
                    for m, own in zip(received, h, strict=True)
                ]
            )
        return _leaky(h)

    def _gru(self, name: str, x: Floats, h: Floats) -> Floats:
        """Return the next state of a gated recurrent unit (Cho et al. 2014)."""
        own = self._of(f"{name}.update.weight_hh") @ h + self._of(f"{name}.update.bias_hh")
        new = self._of(f"{name}.update.weight_ih") @ x + self._of(f"{name}.update.bias_ih")
        (r, z, n), (r_own, z_own, n_own) = np.split(new, 3), np.split(own, 3)
        reset, update = _sigmoid(r + r_own), _sigmoid(z + z_own)
        changed: Floats = (1.0 - update) * np.tanh(n + reset * n_own) + update * h
        return changed

    def _head(self, network: str, *vectors: Floats) -> float:
        hidden = _leaky(self._layer(f"{network}.head.mix", np.concatenate(vectors)))
        return float(self._layer(f"{network}.head.score", hidden)[0])

    def _latent(self, network: str, features: Floats) -> Floats:
        return _leaky(self._layer(f"{network}.latent", features))

    def _layer(self, name: str, x: Floats) -> Floats:
        made: Floats = self._of(f"{name}.weight") @ x + self._of(f"{name}.bias")
        return made

    def _of(self, name: str) -> Floats:
        return np.asarray(self.of[name], np.float64)


def _path(following: Sequence[int], v: int) -> list[int]:
    """Return the operators on a path."""
    path = [v]
    while following[path[-1]] >= 0:
        path.append(following[path[-1]])
    return path


def _among(rows: Floats) -> Floats:
    """Return rows relative to their mean and their standard deviation, with ε in it."""
    above = rows - rows.mean(axis=0)
    made: Floats = above / np.sqrt((above**2).mean(axis=0) + TINY**2)
    return made


def _scores(rows: Floats, unit: float) -> Floats:
    """Return z-scores of rows."""
    made: Floats = (rows - rows.mean(axis=0)) / (rows.std(axis=0) + 1e-6 * unit)
    return made


def _log_softmax(logits: Sequence[float]) -> list[float]:
    highest = max(logits)
    total = float(np.log(sum(np.exp(x - highest) for x in logits)))
    return [x - highest - total for x in logits]


def _leaky(x: Floats) -> Floats:
    made: Floats = np.where(x > 0.0, x, SLOPE * x)
    return made


def _sigmoid(x: Floats) -> Floats:
    made: Floats = 1.0 / (1.0 + np.exp(-x))
    return made
