"""The choices that a rollout of DOPPLER does not make itself."""

import numpy as np

from streamplace.policy.doppler.batch import DopplerBatch
from streamplace.util.arrays import Ints

FREE = -1
OF_ACTIONS = 4  # dimensions of forced actions; devices have one less


class Forced:
    """Forced operators and devices of S samples of each of P problems.

    A placement without an order is made in the order of `EncodedProblem.order`.

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
