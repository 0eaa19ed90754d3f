"""The memory buffer: the best placements seen of every problem."""

from collections.abc import Iterable

import numpy as np

from streamplace.util.arrays import Ints

Entry = tuple[int, float, Ints]  # number of the problem, reward, (V,) devices


class EliteBuffer:
    """Up to `size` different placements of each problem, best first, of a reward from `threshold`.

    The best reward ever seen is remembered of every problem, whatever the size.
    """

    def __init__(self, problems: int, size: int, threshold: float) -> None:
        self.size, self.threshold = size, threshold
        self._kept: list[list[tuple[float, Ints]]] = [[] for _ in range(problems)]
        self.best = np.full(problems, -np.inf)

    def of(self, problem: int) -> list[Ints]:
        """Return the placements kept of a problem, best first."""
        return [row for _, row in self._kept[problem]]

    def add(
        self,
        problem: int,
        rewards: np.ndarray,
        placements: Ints,
        threshold: float | None = None,
    ) -> None:
        """Keep what is worth keeping of placements, (S, V), and rewards, (S,).

        Parameters
        ----------
        threshold
            Reward from which on they are; the memory's unless told.
        """
        least = self.threshold if threshold is None else threshold
        self.best[problem] = max(self.best[problem], rewards.max())
        kept = self._kept[problem]
        for s in np.argsort(-rewards, kind="stable"):
            reward = float(rewards[s])
            full = len(kept) == self.size
            if self.size == 0 or reward < least or (full and reward <= kept[-1][0]):
                return
            if not any(np.array_equal(placements[s], row) for _, row in kept):
                kept.append((reward, placements[s].astype(np.int32)))
                kept.sort(key=lambda entry: -entry[0])
                del kept[self.size :]

    def entries(self) -> Iterable[Entry]:
        """Yield everything kept, best first within a problem."""
        for problem, kept in enumerate(self._kept):
            for reward, row in kept:
                yield problem, reward, row

    def restore(self, entries: Iterable[Entry]) -> None:
        """Take back what `entries` gave."""
        for problem, reward, row in entries:
            self._kept[problem].append((reward, row))
