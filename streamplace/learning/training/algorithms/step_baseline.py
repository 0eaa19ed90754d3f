"""Baselines per step of an episode."""

from collections import deque
from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from streamplace.learning.training.distributed import Workers
from streamplace.util.arrays import Floats, Ints

PREFIX = "memory.baseline."


class StepBaseline:
    """The mean return from each step on over the last episodes of each problem.

    Parameters
    ----------
    window
        The number of episodes over which it is a mean.
    """

    def __init__(self, window: int) -> None:
        self.window = window
        self._returns: dict[int, deque[Floats]] = {}

    def add(self, problem: int, returns: Floats) -> Floats:
        """Add the returns of an episode, (T,), and return the mean, (T,), which includes it."""
        kept = self._returns.setdefault(problem, deque(maxlen=self.window))
        kept.append(returns)
        mean: Floats = np.mean(kept, axis=0)
        return mean

    def gathered(self, workers: Workers, own: Ints) -> "StepBaseline":
        """Return a baseline that joins those of all processes; every process must call it.

        Parameters
        ----------
        own
            Numbers of the problems of this process.
        """
        joined = StepBaseline(self.window)
        for part in workers.gathered(self.episodes(set(own.tolist()))):
            for problem, returns in part.items():
                joined._returns[problem] = deque(returns, maxlen=self.window)
        return joined

    def episodes(self, problems: set[int]) -> dict[int, list[Floats]]:
        """Return the returns of past episodes of some problems."""
        return {p: list(kept) for p, kept in self._returns.items() if p in problems}

    def state(self) -> dict[str, Tensor]:
        """Return the content as tensors by name."""
        rows = [(p, row) for p, kept in self._returns.items() for row in kept]
        columns = {
            "problem": np.array([p for p, _ in rows], np.int64),
            "length": np.array([len(row) for _, row in rows], np.int64),
            "returns": np.concatenate([*(row for _, row in rows), np.zeros(0)]),
        }
        return {PREFIX + name: torch.from_numpy(column) for name, column in columns.items()}

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Restore what `state` returned.

        Raises
        ------
        KeyError, ValueError
            If tensors are missing or do not fit together.
        """
        problem, length, returns = (
            state[PREFIX + name].numpy() for name in ("problem", "length", "returns")
        )
        if problem.shape != length.shape or np.any(length < 0) or length.sum() != len(returns):
            raise ValueError(f"{PREFIX}length: must add up to the length of {PREFIX}returns")
        self._returns = {}
        rows = np.split(returns, np.cumsum(length))[:-1]
        for p, row in zip(problem.tolist(), rows, strict=True):
            self._returns.setdefault(p, deque(maxlen=self.window)).append(row.astype(np.float64))
