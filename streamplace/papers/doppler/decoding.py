"""The state of DOPPLER's rollouts: partial placements, and a record of all decisions."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamplace.papers.doppler.features import DopplerBatch
from streamplace.sim.rules import nothing_placed_in, offer_each, put_each
from streamplace.util.arrays import Bools, Floats, Ints

FREE = -1
TINY = 1e-6  # differences that count as none, relative to the mean cost of an operator
OF_ACTIONS = 4  # dimensions of forced actions; devices have one less
Single = NDArray[np.float32]

OF_DEVICE = 6
"""Features of a device for an operator, those of partial placements."""

OF_STATE = 3
"""Features of an operator that change: whether it is placed, and when it starts and ends."""


class Forced:
    """Forced operators and devices of S samples of each of P problems.

    A placement without an order is made in the order of `DopplerProblem.order`.

    Parameters
    ----------
    choices
        None, devices, (P, S, V), or actions, (P, S, T, 2); -1 where the policy chooses.
    fixed_order
        Whether all samples place operators in that order.
    """

    def __init__(
        self, batch: DopplerBatch, samples: int, choices: Ints | None, fixed_order: bool
    ) -> None:
        shape = (len(batch), samples, int(batch.sizes[0]))
        self._operator: Ints = np.full(shape, FREE, np.int64)
        self._device: Ints = np.full(shape, FREE, np.int64)
        for p, one in enumerate(batch.encoded):
            order, devices = self._operator[p, :, : one.size], self._device[p, :, : one.size]
            if choices is not None and choices.ndim == OF_ACTIONS:
                order[:] = choices[p, :, : one.size, 0]
                known = order >= 0
                sample = np.nonzero(known)[0]
                devices[sample, order[known]] = choices[p, :, : one.size, 1][known]
            elif choices is not None:
                devices[:] = choices[p, :, : one.size]
                order[(devices >= 0).all(axis=1)] = one.order
            if fixed_order:
                order[:] = one.order

    def operators(self, step: int, rows: int) -> Ints:
        """Return the forced operators of a step, (R',)."""
        return self._operator[:, :, step].reshape(-1)[:rows]

    def devices(self, operators: Ints) -> Ints:
        """Return the forced devices of a step's operators, (R',)."""
        by_row = self._device.reshape(-1, self._device.shape[2])
        chosen: Ints = by_row[np.arange(len(operators)), operators]
        return chosen


@dataclass
class Step:
    """One step of R' rows: an operator and its device each; see `Decoding`.

    Attributes
    ----------
    candidates
        (R', V) bool, the operators that could be next, as indices within each row's problem.
    on
        (R', V) the device of each operator so far, or -1.
    times
        (V', S, 3) float32 `OF_STATE` of all operators of the batch; None if they are not read.
    operators
        (R',) the operators of the step.
    features
        (R', D, 6) float32 features of the devices; 0 for those that a problem lacks.
    offered
        (R', D) bool, the devices that the operators may go to.
    devices
        (R',) the devices of the step.
    """

    candidates: Bools
    on: Ints
    times: Single | None
    operators: Ints
    features: Single
    offered: Bools
    devices: Ints


class Decoding:
    """S partial placements of each of P problems: R = P·S rows, grouped by problem.

    Problems are sorted by size, largest first, so the rows that have an operator left at a step are
    the first R'.

    Parameters
    ----------
    reads_times
        `per_step` of the sizes.

    Attributes
    ----------
    steps
        The steps so far.
    """

    def __init__(self, batch: DopplerBatch, samples: int, reads_times: bool) -> None:
        self.batch, self.samples = batch, samples
        self.steps: list[Step] = []
        self._reads_times = reads_times
        self._partial = [one.costs.nothing_placed(samples) for one in batch.encoded]
        self._placed = [nothing_placed_in(one.rules, samples) for one in batch.encoded]

    def begin(self) -> Step:
        """Begin the next step; return it with what was there before."""
        now = self.batch.active(len(self.steps))
        shape = (now * self.samples, int(self.batch.sizes[0]))
        candidates, on = np.zeros(shape, np.bool_), np.full(shape, -1, np.int32)
        for p, partial in enumerate(self._partial[:now]):
            rows, size = self._rows(p), self.batch.encoded[p].size
            candidates[rows, :size], on[rows, :size] = partial.candidate, partial.device
        nothing = np.zeros(0, np.int32)
        step = Step(
            candidates=candidates,
            on=on,
            times=self._times() if self._reads_times else None,
            operators=nothing,
            features=np.zeros((shape[0], self.batch.devices, OF_DEVICE), np.float32),
            offered=np.zeros((shape[0], self.batch.devices), np.bool_),
            devices=nothing,
        )
        self.steps.append(step)
        return step

    def select(self, operators: Ints) -> Ints:
        """Select the step's operators, (R',); return the device of each by the rule, (R',).

        The rule takes the device of the earliest start or, under throughput, of the least
        utilisation; of equal ones the first.
        """
        step = self.steps[-1]
        step.operators = operators.astype(np.int32)
        preferred: Ints = np.zeros(len(operators), np.int32)
        for p in range(len(operators) // self.samples):
            rows, one = self._rows(p), self.batch.encoded[p]
            own, count = step.operators[rows], one.devices
            offered = np.empty((self.samples, count), np.bool_)
            features, best = self._partial[p].device_features(one.costs, own)
            offer_each(one.rules, self._placed[p], own, offered)
            step.features[rows, :count] = among_devices(features, one.costs.unit)
            step.offered[rows, :count] = offered
            best = np.where(offered, best, np.inf)
            least = best.min(axis=1, keepdims=True)
            preferred[rows] = (best <= least + TINY * one.costs.unit).argmax(axis=1)
        return preferred

    def place(self, devices: Ints) -> None:
        """Place the step's operators on devices, (R',)."""
        step = self.steps[-1]
        step.devices = devices.astype(np.int32)
        for p in range(len(devices) // self.samples):
            rows, one = self._rows(p), self.batch.encoded[p]
            own, chosen = step.operators[rows], step.devices[rows]
            put_each(one.rules, self._placed[p], own, chosen)
            self._partial[p].put(one.costs, own, chosen)

    @property
    def placements(self) -> Ints:
        """(P, S, V) the device of each operator; see `Trajectories`."""
        shape = (len(self.batch), self.samples, int(self.batch.sizes[0]))
        made = np.full(shape, -1, np.int32)
        for p, partial in enumerate(self._partial):
            made[p, :, : self.batch.encoded[p].size] = partial.device
        return made

    def _rows(self, p: int) -> slice:
        """Return the rows of a problem."""
        return slice(p * self.samples, (p + 1) * self.samples)

    def _times(self) -> Single:
        """Return `OF_STATE` of all operators, (V', S, 3); times are relative to the latest end."""
        parts = []
        for partial in self._partial:
            latest = np.maximum(partial.end.max(axis=1, keepdims=True), 1e-300)
            columns = (partial.device >= 0, partial.start / latest, partial.end / latest)
            parts.append(np.stack(columns, axis=2).transpose(1, 0, 2))
        return np.concatenate(parts).astype(np.float32)


def among_devices(features: Floats, unit: float) -> Single:
    """Return features, (S, D, F), relative to those of the other devices: their z-scores.

    Parameters
    ----------
    unit
        The size of the values; deviations that are tiny in comparison count as none.
    """
    above = features - features.mean(axis=1, keepdims=True)
    spread = np.sqrt((above**2).mean(axis=1, keepdims=True))
    scores: Single = (above / (spread + TINY * unit)).astype(np.float32)
    return scores
