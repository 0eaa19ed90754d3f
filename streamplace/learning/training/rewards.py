"""Rewards that training maximises, also those made of measured running times."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from streamplace.execution.parallel import cpu_count
from streamplace.learning.training.elite_buffer import EliteBuffer
from streamplace.learning.training.learner import StageInterruptedError
from streamplace.learning.training.measuring.measurements import Measurements, MeasuringError
from streamplace.learning.training.stages import OF_LOSSES
from streamplace.problem.objective import Model
from streamplace.problem.problem import Problem
from streamplace.scoring.evaluator import LEAST_LOSS, OtherLoss, Placements
from streamplace.scoring.registry import evaluator, throughput_evaluator
from streamplace.scoring.throughput import ceiling, throughput
from streamplace.sim.engine import Settings
from streamplace.util.arrays import Bools, Floats, Ints

ENGINE_SETTINGS = Settings(duration_s=30.0, measure_from_s=20.0)  # half the length of a scoring run

LEAST = 1e-9  # smallest relative throughput whose logarithm is a reward
LARGEST = 1e300  # losses are infinite without throughput, and 0 without work (`LEAST_LOSS`)
MOST = 1e30  # largest loss that a reward is made of, for squares of gradients in 32-bit floats
PREFIX = "memory.measured."


class Rewards:
    """Rewards of placements of some problems, which are referred to by number.

    ``relative`` is relative throughput. ``log`` is log(throughput / bound), at most 0, with the
    upper bound from the devices' capacity. It still distinguishes placements when the source rate
    overloads all of them; under ``bottleneck`` it is then minus the logarithm of the largest
    utilisation, up to a constant. Under the makespan objective, both use the quality, which is the
    lower bound over the makespan. ``log-loss`` is minus the logarithm of the evaluator's loss: of
    the makespan in seconds, or of the largest utilisation. ``sqrt-loss`` is minus its square root,
    as in RNN placers (Mirhoseini et al. 2017), and ``loss`` is minus the loss itself.

    Parameters
    ----------
    kind
        ``relative``, ``log``, ``log-loss``, ``sqrt-loss`` or ``loss``.
    model
        Throughput model; None: each problem's own.
    evaluations
        (P,) int64; the number of placements scored for each problem is added to it.
    """

    def __init__(
        self,
        problems: Sequence[Problem],
        kind: str,
        model: Model | None = None,
        evaluations: NDArray[np.int64] | None = None,
    ) -> None:
        self.problems = [
            problem.with_objective(problem.objective.with_changes(model=model))
            for problem in problems
        ]
        self.kind = kind
        nothing = np.zeros(len(problems), dtype=np.int64)
        self._evaluations = nothing if evaluations is None else evaluations

    @property
    def total(self) -> int:
        """The number of placements scored, over all problems."""
        return int(self._evaluations.sum())

    def __call__(self, number: int, placements: Ints) -> Floats:
        """Return the reward of each placement, (S,), from device indices, (S, V).

        Raises
        ------
        SimulationError
            If a placement cannot be scored.
        """
        self._evaluations[number] += len(placements)
        return self._reward(self.problems[number], placements)

    def of_several(self, numbers: Sequence[int], placements: Sequence[Ints]) -> list[Floats]:
        """Return the rewards of placements, (·, V), of each of several problems."""
        for number, rows in zip(numbers, placements, strict=True):
            self._evaluations[number] += len(rows)
        problems = [self.problems[number] for number in numbers]
        if not any(map(_gains_from_threads, problems)):
            return list(map(self._reward, problems, placements))
        with ThreadPoolExecutor(cpu_count()) as threads:
            return list(threads.map(self._reward, problems, placements))

    def count(self, number: int, evaluations: int) -> None:
        """Count placements of a problem that were scored elsewhere."""
        self._evaluations[number] += evaluations

    @property
    def measured(self) -> int:
        """The number of placements whose running time was measured: none."""
        return 0

    def affordable(self, number: int, placements: Ints) -> Bools:
        """Return which placements of a problem, (S, V), may be scored: all of them."""
        return np.ones(len(placements), dtype=bool)

    def spent(self, numbers: Ints) -> Bools:
        """Return for which problems, (P,), no new placement may be scored: for none."""
        return np.zeros(len(numbers), dtype=bool)

    def state(self) -> dict[str, Tensor]:
        """Return what is needed to resume: nothing."""
        return {}

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Restore what `state` returned."""

    def _reward(self, problem: Problem, placements: Ints) -> Floats:
        if self.kind in OF_LOSSES:
            return of_losses(self.kind, evaluator(problem).loss(placements))
        if not problem.objective.has_rates:
            quality = evaluator(problem).quality(placements)
            return quality if self.kind == "relative" else np.log(np.maximum(quality, LEAST))
        reached = throughput(problem, placements)
        if self.kind == "relative":
            return reached / problem.source_rate
        quick = min(problem.source_rate, ceiling(problem))  # the printed bound takes longer
        return np.log(np.maximum(reached / quick, LEAST))


def log_of(losses: Floats) -> Floats:
    """Return the logarithms of losses, (…), which are finite."""
    return np.log(np.clip(losses, LEAST_LOSS, LARGEST))


def of_losses(kind: str, losses: Floats) -> Floats:
    """Return the rewards of losses, (S,), of a kind in `OF_LOSSES`."""
    if kind == "log-loss":
        return -log_of(losses)
    return -np.sqrt(np.minimum(losses, MOST)) if kind == "sqrt-loss" else -np.minimum(losses, MOST)


def _gains_from_threads(problem: Problem) -> bool:
    if not problem.objective.has_rates:
        return False
    return throughput_evaluator(problem).gains_from_threads


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
