"""Rewards made of measured running times."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from streamplace.problem.problem import Problem
from streamplace.scoring.evaluator import OtherLoss, Placements
from streamplace.training.elite_buffer import EliteBuffer
from streamplace.training.learner import StageInterruptedError
from streamplace.training.measuring.measurements import Measurements, MeasuringError
from streamplace.training.rewards import Rewards, of_losses
from streamplace.util.arrays import Bools, Floats, Ints

PREFIX = "memory.measured."


class MeasuredRewards(Rewards):
    """Rewards of placements of which a stage may measure a limited number.

    A placement counts towards the limit once, also if an earlier stage or an interrupted run
    measured it, so that a resumed run takes the same steps.

    Parameters
    ----------
    kind
        ``log-loss``, ``sqrt-loss`` or ``loss``, where the loss is the time in seconds.
    limit
        Largest number of different placements of each problem.
    is_stopped
        Whether the run is interrupted, asked before each call of the measure.
    """

    def __init__(
        self,
        problems: Sequence[Problem],
        kind: str,
        measurements: Measurements,
        limit: int,
        evaluations: NDArray[np.int64] | None = None,
        is_stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        super().__init__(problems, kind, None, evaluations)
        self._measurements, self._limit, self._is_stopped = measurements, limit, is_stopped
        self._chosen = EliteBuffer(len(problems), limit, -np.inf)  # rewards are minus seconds
        self._uncounted: list[tuple[int, Floats, Ints]] = []
        self._shapes = [(len(p.graph.names), len(p.cluster.devices)) for p in problems]

    @property
    def measured(self) -> int:
        """The number of placements that count towards the limits, over all problems."""
        return sum(1 for _ in self._chosen.entries())

    def __call__(self, number: int, placements: Ints) -> Floats:
        """Return the reward of each placement, (S,), from device indices, (S, V).

        Raises
        ------
        MeasuringError
            If a placement cannot be measured.
        StageInterruptedError
            If the run is interrupted. Nothing has changed then, but what has been measured is kept.
        """
        return self.of_several([number], [placements])[0]

    def of_several(self, numbers: Sequence[int], placements: Sequence[Ints]) -> list[Floats]:
        """Return the rewards of placements, (·, V), of each of several problems."""
        seconds = [self._timed(*pair) for pair in zip(numbers, placements, strict=True)]
        for number, rows, times in zip(numbers, placements, seconds, strict=True):
            self._evaluations[number] += len(rows)
            if len(rows):
                self._chosen.add(number, -times, rows)
        return [of_losses(self.kind, times) for times in seconds]

    def seconds(self, number: int, placements: Ints) -> Floats:
        """Return the seconds of placements, (S,), which are counted by the next call of `count`."""
        times = self._timed(number, placements)
        self._uncounted.append((number, times, placements))
        return times

    def count(self, number: int, evaluations: int) -> None:
        """Count placements of a problem whose `seconds` were asked, and evaluations."""
        super().count(number, evaluations)
        for other, times, rows in self._uncounted:
            if other == number:
                self._chosen.add(number, -times, rows)
        self._uncounted = [one for one in self._uncounted if one[0] != number]

    def _timed(self, number: int, rows: Ints) -> Floats:
        """Return measured seconds, (S,), unless the run is interrupted."""
        if self._is_stopped() and self._measurements.unknown(number, rows):
            raise StageInterruptedError
        try:
            return self._measurements(number, rows)
        except MeasuringError:
            if self._is_stopped():  # Ctrl-C also ends the programs that a measure has started
                raise StageInterruptedError from None
            raise

    def affordable(self, number: int, placements: Ints) -> Bools:
        """Return which placements, (S, V), the limit allows: the first new ones, and all others."""
        chosen = {row.tobytes() for row in self._chosen.of(number)}
        allowed = np.zeros(len(placements), dtype=bool)
        for s, row in enumerate(placements.astype(np.int32)):
            key = row.tobytes()
            if key in chosen or len(chosen) < self._limit:
                chosen.add(key)
                allowed[s] = True
        return allowed

    def spent(self, numbers: Ints) -> Bools:
        """Return for which problems, (P,), no new placement may be measured."""
        return np.array([len(self._chosen.of(int(i))) >= self._limit for i in numbers], dtype=bool)

    def state(self) -> dict[str, Tensor]:
        """Return the placements that count towards the limits, with their times."""
        return self._chosen.state(PREFIX)

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Restore what `state` returned; see `EliteBuffer.restore`."""
        self._chosen.restore(state, self._shapes, PREFIX)
        self._measurements.add((i, -reward, row) for i, reward, row in self._chosen.entries())


@dataclass(frozen=True)
class MeasuredEvaluator(OtherLoss):
    """An evaluator whose loss is measured, in seconds.

    Parameters
    ----------
    of
        The evaluator in simulation.
    rewards
        What measures.
    number
        The number of the problem.
    """

    rewards: MeasuredRewards
    number: int

    def loss(self, devices: Placements) -> Floats:
        """Return the seconds of each placement, (K,)."""
        return self.rewards.seconds(self.number, np.atleast_2d(devices))
