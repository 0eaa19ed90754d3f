"""The device scorer in numpy, which is faster than torch's calls and does without torch.

It runs on the CPU, without gradients. A test checks that both implementations agree.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from streamplace.errors import CheckpointError
from streamplace.learning.policy.config import DeviceScorerSizes
from streamplace.learning.policy.device_scorer import features
from streamplace.learning.policy.device_scorer.features import (
    OF_OPERATOR,
    OF_PROBLEM,
    OF_STREAM,
    CandidateFeatures,
    PartialRows,
    ScorerArrays,
    ScorerProblem,
)
from streamplace.learning.policy.noise import UNAVAILABLE
from streamplace.learning.policy.tensor_files import WeightsFile
from streamplace.problem.problem import Problem
from streamplace.sim.lookahead import CANDIDATE_FEATURES
from streamplace.util.arrays import Bools, Ints

Single = NDArray[np.float32]
Indices = NDArray[np.int64]
Choose: TypeAlias = Callable[[Single, int], Indices]
"""The rule that chooses a device per row, (R,), from logits, (R, D), and a number of samples."""
DEVICE_SHARE = CANDIDATE_FEATURES.index("devices")  # 1 / number of devices, 0 for padding
EPSILON = np.float32(1e-5)  # of torch's layer norms

without_warnings = np.errstate(over="ignore", invalid="ignore")  # as torch does


def shapes_of(sizes: DeviceScorerSizes) -> dict[str, tuple[int, ...]]:
    """Return the shape of every parameter of the device scorer."""
    hidden = sizes.hidden
    layers: dict[str, tuple[int, int]] = {
        "read": (hidden, OF_OPERATOR + OF_PROBLEM),
        "operator": (hidden, 2 * hidden),
        "among": (hidden, hidden),
        "mix": (hidden, hidden),
        "score": (1, hidden),
    }
    layers |= {f"pool.{i}": (hidden, hidden) for i in range(sizes.hops + 1)}
    layers |= {f"hops.{i}.send": (2 * hidden, hidden) for i in range(sizes.hops)}
    layers |= {f"hops.{i}.update": (hidden, 4 * hidden) for i in range(sizes.hops)}
    shapes: dict[str, tuple[int, ...]] = {
        "resident.weight": (hidden, hidden),
        "prospect.weight": (hidden, len(CANDIDATE_FEATURES)),
    }
    for name, shape in layers.items():
        shapes |= {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
    for norm in ("norm", *(f"hops.{i}.norm" for i in range(sizes.hops))):
        shapes |= {f"{norm}.weight": (hidden,), f"{norm}.bias": (hidden,)}
    return shapes | {f"hops.{i}.stream.weight": (2 * hidden, OF_STREAM) for i in range(sizes.hops)}


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


class NumpyScorer:
    """The device scorer, with its weights as arrays.

    Parameters
    ----------
    weights
        The parameters by name, with the shapes of `shapes_of`.
    """

    any_objective = False

    def __init__(self, sizes: DeviceScorerSizes, weights: Mapping[str, Single]) -> None:
        self._hops, self._weights = sizes.hops, weights
        self.order_names, self.orders = features.orders_of(sizes)

    def encode(self, problem: Problem) -> ScorerProblem:
        """Compute the features of a problem."""
        return features.encode(problem, self.order_names)

    def batch(self, encoded: Sequence[ScorerProblem]) -> ScorerArrays:
        """Join encoded problems, largest first."""
        return ScorerArrays(encoded)

    def check(self, problem: Problem) -> None:
        """Accept every problem: the scorer places any graph on any number of devices."""

    def sample(self, batch: ScorerArrays, samples: int, choose: Choose) -> Ints:
        """Return the devices of S placements of each of P problems, (P, S, V)."""
        rows = ScoredRows(self, batch, samples)
        for t in range(rows.steps):
            rows.take(t, choose(rows.score(t, *rows.buffers(t)), samples))
        return rows.placements

    def beam(self, batch: ScorerArrays, width: int) -> Ints:
        """Return the `width` most likely placements of one problem by beam search, (width, V).

        At every operator, the search keeps the most likely continuations of all placements.
        """
        rows = ScoredRows(self, batch, width)
        likelihood = np.full((width, 1), UNAVAILABLE, np.float32)
        likelihood[0] = 0.0  # the other rows are copies of row 0 until it branches
        for t in range(rows.steps):
            logits = rows.score(t, *rows.buffers(t))
            logits -= logits.max(axis=1, keepdims=True)
            logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
            total = (likelihood + logits).reshape(-1)
            best = np.argsort(-total, kind="stable")[:width]
            likelihood = total[best, None]
            rows.keep(best // batch.columns)
            rows.take(t, best % batch.columns)
        placements: Ints = rows.placements[0]
        return placements

    def linear(self, name: str, x: Single) -> Single:
        """Apply a linear layer to rows."""
        result: Single = x @ self._weights[f"{name}.weight"].T
        bias = self._weights.get(f"{name}.bias")
        if bias is not None:
            result += bias
        return result

    def _normal(self, name: str, x: Single) -> Single:
        """Apply a layer norm to rows."""
        centred: Single = x - x.mean(axis=1, keepdims=True)
        centred /= np.sqrt(np.einsum("ij,ij->i", centred, centred) / x.shape[1] + EPSILON)[:, None]
        centred *= self._weights[f"{name}.weight"]
        centred += self._weights[f"{name}.bias"]
        return centred

    @without_warnings
    def embed(self, batch: ScorerArrays) -> tuple[Single, Single]:
        """Return two embeddings per operator, (V, H): for scoring it, and to add to its device."""
        problem_of, first = batch.problem_of, batch.first_operator[:-1]
        source, target = batch.source, batch.target
        from_above = MeanBy(target, len(problem_of))
        from_below = MeanBy(source, len(problem_of))
        h = self.linear("read", np.concatenate([batch.operators, batch.totals[problem_of]], axis=1))
        np.maximum(h, 0.0, out=h)
        for i in range(self._hops):
            pooled = np.maximum.reduceat(self.linear(f"pool.{i}", h), first)[problem_of]
            normed = self._normal(f"hops.{i}.norm", h)
            sent = self.linear(f"hops.{i}.send", normed)
            along = self.linear(f"hops.{i}.stream", batch.streams)
            half = h.shape[1]
            above = from_above(np.maximum(sent[source, :half] + along[:, :half], 0.0))
            below = from_below(np.maximum(sent[target, half:] + along[:, half:], 0.0))
            joined = np.concatenate([normed, above, below, pooled], axis=1)
            h = h + np.maximum(self.linear(f"hops.{i}.update", joined), 0.0)
        h = self._normal("norm", h)
        pooled = np.maximum.reduceat(self.linear(f"pool.{self._hops}", h), first)[problem_of]
        operator = self.linear("operator", np.concatenate([h, pooled], axis=1))
        weight: Single = batch.operators[:, :1] + batch.even_share
        return operator, self.linear("resident", h) * weight


def numpy_scorer(file: WeightsFile, path: str) -> NumpyScorer:
    """Return the device scorer in a weights file.

    Raises
    ------
    CheckpointError
        If the parameters are not those of a device scorer of these sizes.
    """
    sizes = file.section.sizes
    assert isinstance(sizes, DeviceScorerSizes), "the sizes of this kind"
    shapes, stored = shapes_of(sizes), file.tensors
    faults = [f"Missing key: {name}" for name in shapes if name not in stored]
    faults += [f"Unexpected key: {name}" for name in stored if name not in shapes]
    faults += [
        f"size mismatch: {name} has the shape {stored[name].shape}, not {shape}"
        for name, shape in shapes.items()
        if name in stored and stored[name].shape != shape
    ]
    if faults:
        raise CheckpointError(f"{path}: {faults[0]}")
    try:
        return NumpyScorer(sizes, {name: one.single() for name, one in stored.items()})
    except ValueError as error:
        raise CheckpointError(f"{path}: {error}") from None


class ScoredRows(PartialRows):
    """Partial placements whose next devices a `NumpyScorer` scores."""

    def __init__(self, scorer: NumpyScorer, batch: ScorerArrays, samples: int) -> None:
        super().__init__(batch, batch.lookahead, scorer.orders, samples)
        self._linear = scorer.linear
        self._embedded, self._added = scorer.embed(batch)
        self._numbers = self.in_batch()
        rows, length = self._numbers.shape[1], self._added.shape[1]
        self._sums = np.zeros((rows, batch.columns, length), np.float32)
        self._first_device = np.arange(rows) * batch.columns

    @without_warnings
    def score(self, t: int, candidates: CandidateFeatures, offered: Bools) -> Single:
        """Fill arrays as `fill` does, and return logits, (R', D); see `DeviceScorer.logits`."""
        self.fill(t, candidates, offered)
        rows, columns, _ = candidates.shape
        z = self._linear("prospect", candidates.reshape(rows * columns, -1))
        by_row = z.reshape(rows, columns, -1)
        by_row += self._sums[:rows]
        by_row += self._embedded[self._numbers[t, :rows], None]
        np.maximum(z, 0.0, out=z)
        among = self._linear("among", (candidates[:, None, :, DEVICE_SHARE] @ by_row)[:, 0])
        mixed = self._linear("mix", z)
        by_row = mixed.reshape(rows, columns, -1)
        by_row += among[:, None]
        np.maximum(mixed, 0.0, out=mixed)
        scored = self._linear("score", mixed).reshape(rows, columns)
        scored[~offered] = UNAVAILABLE
        return scored

    @without_warnings
    def take(self, t: int, devices: Indices) -> None:
        """Place the operators of a step on devices, (R',)."""
        rows = len(devices)
        self.place(t, devices.astype(np.int32))
        flat = self._sums.reshape(-1, self._sums.shape[2])
        flat[self._first_device[:rows] + devices] += self._added[self._numbers[t, :rows]]

    def keep(self, rows: Indices) -> None:
        """Continue with these rows, (R,), some of which may repeat."""
        self.keep_rows(rows)
        self._sums, self._numbers = self._sums[rows], self._numbers[:, rows]
