"""DOPPLER's view of a problem and of a partial placement, in plain Python."""

from dataclasses import dataclass

import numpy as np

from streamplace import Problem
from streamplace.makespan.compiled_pass import compiled_pass
from streamplace.problem.makespan import Makespan
from streamplace.scoring.flow import flow
from streamplace.util.arrays import Bools, Floats


@dataclass(frozen=True)
class Plain:
    """A problem whose devices have one core each.

    Attributes
    ----------
    is_pass
        Whether the objective is the makespan.
    seconds
        (V, D) times or utilisations.
    streams
        The two operators of each stream.
    sent
        (E, D, D) the cost of each stream between two devices.
    allowed
        (V, D) where operators may run.
    """

    is_pass: bool
    seconds: Floats
    streams: list[tuple[int, int]]
    sent: Floats
    allowed: Bools

    @classmethod
    def of(cls, problem: Problem) -> "Plain":
        """Return a problem with one core a device, and a network with one link per pair."""
        devices, feasibility = len(problem.cluster.devices), problem.feasibility
        apart = 1.0 - np.eye(devices)
        is_pass = isinstance(problem.objective, Makespan)
        if is_pass:
            tasks = compiled_pass(problem).tasks
            seconds, ends = tasks.seconds_by_device(), (tasks.source, tasks.target)
            per_bit = np.broadcast_to(1.0 / tasks.rate, devices**2).reshape(devices, devices)
            latency = np.broadcast_to(tasks.latency_s, devices**2).reshape(devices, devices)
            sent = [
                np.zeros_like(apart) if silent else (bits * per_bit + latency) * apart
                for bits, silent in zip(tasks.bits, tasks.silent, strict=True)
            ]
        else:
            arrays = flow(problem)
            work = arrays.operator_tuples * arrays.instructions
            seconds, ends = work[:, None] / arrays.capacity, (arrays.source, arrays.target)
            per_bit = np.broadcast_to(arrays.seconds_per_bit, devices**2).reshape(devices, devices)
            sent = [b * per_bit * apart for b in arrays.stream_bits]
        streams = [(int(v), int(w)) for v, w in zip(*ends, strict=True)]
        return cls(
            is_pass, seconds, streams, np.array(sent), feasibility.allowed[feasibility.unit_of]
        )

    @property
    def devices(self) -> int:
        """The number of devices."""
        return int(self.seconds.shape[1])

    @property
    def mean(self) -> Floats:
        """(V,) the mean cost of each operator."""
        means: Floats = self.seconds.mean(axis=1)
        return means

    @property
    def unit(self) -> float:
        """The mean cost of all operators."""
        return float(self.mean.mean())

    @property
    def messages(self) -> Floats:
        """(E,) the mean cost of each stream between different devices."""
        pairs = self.devices * (self.devices - 1)
        means: Floats = self.sent.sum(axis=(1, 2)) / pairs
        return means

    @property
    def after(self) -> list[int]:
        """The next operator on the longest path from each operator to an exit, or -1."""
        return self._longest(exits=True)[1]

    @property
    def before(self) -> list[int]:
        """The next operator on the longest path from each operator to an entry, or -1."""
        return self._longest(exits=False)[1]

    @property
    def features(self) -> Floats:
        """(V, 5) z-scores of costs, of inputs, of outputs, and of the two longest paths."""
        into, out = np.zeros((2, len(self.mean)))
        for (v, w), cost in zip(self.streams, self.messages, strict=True):
            into[w] += cost
            out[v] += cost
        paths = self._longest(exits=False)[0], self._longest(exits=True)[0]
        return np.stack([_scores(x) for x in (self.mean, into, out, *paths)], axis=1)

    @property
    def edges(self) -> Floats:
        """(E,) z-scores of the costs of streams."""
        return _scores(self.messages)

    def _longest(self, exits: bool) -> tuple[Floats, list[int]]:
        """Return the cost of each operator's longest path, and the next operator on it."""
        costs, following = self.mean.copy(), [-1] * len(self.mean)
        numbered = list(enumerate(self.streams))
        for e, (v, w) in reversed(numbered) if exits else numbered:
            near, far = (v, w) if exits else (w, v)
            length = self.mean[near] + self.messages[e] + costs[far]
            if following[near] < 0 or length > costs[near]:
                costs[near], following[near] = length, far
        return costs, following


class PlainState:
    """A partial placement."""

    def __init__(self, plain: Plain) -> None:
        self.plain = plain
        self._device: dict[int, int] = {}
        self._start: dict[int, float] = {}
        self._end: dict[int, float] = {}

    def candidates(self) -> list[int]:
        """Return the operators that are not placed, but whose inputs are."""
        waits = {w for v, w in self.plain.streams if v not in self._device}
        return [v for v in range(len(self.plain.mean)) if v not in self._device and v not in waits]

    def on(self, device: int) -> list[int]:
        """Return the operators on a device."""
        return [v for v, d in self._device.items() if d == device]

    def device_features(self, v: int) -> list[list[float]]:
        """Return the features of each device for an operator."""
        rows = []
        for d in range(self.plain.devices):
            inputs = {u for u, w in self.plain.streams if w == v and self._device[u] == d}
            load = sum(self.plain.seconds[u, d] for u in self.on(d))
            work = sum(self.plain.seconds[u, d] for u in inputs)
            if self.plain.is_pass:
                first = min((self._start[u] for u in inputs), default=0.0)
                last = max((self._end[u] for u in inputs), default=0.0)
                rows.append(
                    [load, work, first, last, self._earliest(v, d), self.plain.seconds[v, d]]
                )
            else:
                own, crossing = self.plain.seconds[v, d], [self._crossing(end, d) for end in (1, 0)]
                rows.append([load, work, *crossing, load + own, own])
        return rows

    def place(self, v: int, d: int) -> None:
        """Place an operator on a device."""
        start = sum(self.plain.seconds[u, d] for u in self.on(d))
        if self.plain.is_pass:
            start = self._earliest(v, d)
        self._device[v], self._start[v] = d, start
        self._end[v] = start + self.plain.seconds[v, d]

    def times(self) -> Floats:
        """Return whether each operator is placed, and its start and end over the latest, (V, 3)."""
        latest = max([1e-300, *self._end.values()])
        return np.array(
            [
                [
                    v in self._device,
                    self._start.get(v, 0.0) / latest,
                    self._end.get(v, 0.0) / latest,
                ]
                for v in range(len(self.plain.mean))
            ],
            np.float64,
        )

    def _earliest(self, v: int, d: int) -> float:
        """Return when a device is free and an operator's inputs are there."""
        moments = [self._end[u] for u in self.on(d)]
        for e, (u, w) in enumerate(self.plain.streams):
            if w == v:
                moments.append(self._end[u] + self.plain.sent[e, self._device[u], d])
        return float(max(moments, default=0.0))

    def _crossing(self, end: int, d: int) -> float:
        """Return the cost of the streams that enter (end 1) or leave (end 0) a device."""
        total = 0.0
        for e, stream in enumerate(self.plain.streams):
            if all(v in self._device for v in stream) and self._device[stream[end]] == d:
                total += self.plain.sent[e, self._device[stream[0]], self._device[stream[1]]]
        return total


def _scores(values: Floats) -> Floats:
    """Return z-scores."""
    tiny = 1e-6 * max(float(np.abs(values).max()), 1e-300)
    made: Floats = (values - values.mean()) / (values.std() + tiny)
    return made
