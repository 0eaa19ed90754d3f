"""Memory buffer of the best placements found for each problem."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from streamplace.util.arrays import Ints

Entry = tuple[int, float, Ints]  # number of the problem, reward, (V,) devices

PREFIX = "memory."
COLUMNS = {
    "problem": np.int64,
    "reward": np.float64,
    "length": np.int64,
    "devices": np.int16,
    "best": np.float64,
}
"""Columns of a buffer's state, name -> type; the entries are concatenated."""


class EliteBuffer:
    """Up to `size` distinct placements per problem, best first, with rewards from `threshold` up.

    The best reward of each problem is always recorded, even with size 0.

    Attributes
    ----------
    best
        (P,) best reward of each problem; -inf while no placement has been scored.
    """

    def __init__(self, problems: int, size: int, threshold: float) -> None:
        self.size, self.threshold = size, threshold
        self._kept: list[list[tuple[float, Ints]]] = [[] for _ in range(problems)]
        self.best = np.full(problems, -np.inf)

    def of(self, problem: int) -> list[Ints]:
        """Return the stored placements of a problem, (V,) each, best first."""
        return [row for row, _ in self.best_of(problem)]

    def best_of(self, problem: int) -> list[tuple[Ints, float]]:
        """Return the stored placements of a problem, (V,) each, with rewards, best first."""
        return [(row, reward) for reward, row in self._kept[problem]]

    def add(
        self,
        problem: int,
        rewards: np.ndarray,
        placements: Ints,
        threshold: float | None = None,
    ) -> None:
        """Store the best of some placements, (S, V), with rewards, (S,).

        Parameters
        ----------
        threshold
            Smallest reward of a placement to store; None: the buffer's own threshold.
        """
        smallest = self.threshold if threshold is None else threshold
        self.best[problem] = max(self.best[problem], rewards.max())
        kept = self._kept[problem]
        for s in np.argsort(-rewards, kind="stable"):
            reward = float(rewards[s])
            full = len(kept) == self.size
            if self.size == 0 or reward < smallest or (full and reward <= kept[-1][0]):
                return
            if not any(np.array_equal(placements[s], row) for _, row in kept):
                kept.append((reward, placements[s].astype(np.int32)))
                kept.sort(key=lambda entry: -entry[0])
                del kept[self.size :]

    def entries(self) -> Iterable[Entry]:
        """Yield all stored placements by problem, best first."""
        for problem, kept in enumerate(self._kept):
            for reward, row in kept:
                yield problem, reward, row

    def merged(self, parts: Sequence[tuple[list[Entry], np.ndarray]]) -> "EliteBuffer":
        """Return a buffer that joins the entries and best rewards of several processes."""
        joined = EliteBuffer(len(self.best), self.size, self.threshold)
        for entries, best in parts:
            for problem, reward, row in entries:
                joined._kept[problem].append((reward, row))
            joined.best = np.maximum(joined.best, best)
        return joined

    def state(self, prefix: str = PREFIX) -> dict[str, Tensor]:
        """Return the content as tensors by name, which begin with a prefix."""
        entries = list(self.entries())
        rows = [row for _, _, row in entries]
        columns = {
            "problem": np.array([p for p, _, _ in entries], COLUMNS["problem"]),
            "reward": np.array([reward for _, reward, _ in entries], COLUMNS["reward"]),
            "length": np.array([len(row) for row in rows], COLUMNS["length"]),
            "devices": np.concatenate([*rows, np.empty(0, np.int32)]).astype(COLUMNS["devices"]),
            "best": self.best,
        }
        return {prefix + name: torch.from_numpy(column) for name, column in columns.items()}

    def restore(
        self,
        state: Mapping[str, Tensor],
        shapes: Sequence[tuple[int, int]],
        prefix: str = PREFIX,
    ) -> None:
        """Restore what `state` returned.

        Parameters
        ----------
        shapes
            Numbers of operators and devices of each problem.

        Raises
        ------
        KeyError, ValueError
            If tensors are missing, or do not describe placements of these problems.
        """
        columns = {name: state[prefix + name].numpy() for name in COLUMNS}
        for name, kind in COLUMNS.items():
            if columns[name].dtype != kind:
                raise ValueError(f"{prefix}{name}: must be of type {np.dtype(kind)}")
        lengths = columns["length"]
        if lengths.sum() != len(columns["devices"]):
            raise ValueError(f"{prefix}length: must add up to the length of {prefix}devices")
        rows = np.split(columns["devices"].astype(np.int32), np.cumsum(lengths)[:-1])
        problems, rewards = columns["problem"].tolist(), columns["reward"].tolist()
        for problem, row in zip(problems, rows, strict=len(lengths) > 0):
            operators, devices = shapes[problem] if 0 <= problem < len(shapes) else (0, 0)
            if len(row) != operators or not 0 <= row.min() <= row.max() < devices:
                raise ValueError(f"{prefix}devices: not a placement of problem {problem}")
        self._kept = [[] for _ in self.best]
        for problem, reward, row in zip(
            problems, rewards, rows if len(lengths) else [], strict=True
        ):
            self._kept[problem].append((reward, row))
        self.best[:] = columns["best"]
