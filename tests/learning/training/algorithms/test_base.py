"""The memory of an algorithm, merged over processes with separate problems."""

from typing import Any

import numpy as np

from streamplace.learning.training.algorithms.reinforce import Reinforce
from streamplace.learning.training.distributed import Workers
from streamplace.learning.training.elite_buffer import EliteBuffer
from streamplace.learning.training.learner import Learner, Optimiser
from streamplace.learning.training.problems import encoded_by
from streamplace.learning.training.stages import OptimiserSection, ReinforceStage
from tests.support.stages import reinforce, small_policy, small_problems, stages_of

NOTHING: tuple[list[Any], np.ndarray] = ([], np.full(6, -np.inf))  # from an empty memory
PARTS: tuple[list[int], ...] = ([0, 2, 4], [1, 3, 5])


class Together(Workers):
    """One of two processes, which receives the value that the other gathered last."""

    def __init__(self, rank: int, values: list[Any]) -> None:
        super().__init__(rank, count=2)
        self._values = values

    def gathered(self, value: Any) -> list[Any]:
        """Return the values of both processes."""
        self._values[self.rank] = value
        return self._values


def process(rank: int, values: list[Any]) -> Reinforce:
    """Return the algorithm of one process."""
    policy = small_policy()
    encoded = encoded_by(policy, small_problems())
    own = np.array(PARTS[rank], dtype=np.int32)
    learner = Learner(policy, encoded, own, 0, Together(rank, values))
    (stage,) = stages_of(reinforce())
    assert isinstance(stage, ReinforceStage)
    return Reinforce(stage, learner, Optimiser(policy, OptimiserSection(), (0, 1)))


def add_placement(memory: EliteBuffer, number: int, reward: float, device: int) -> None:
    """Add a placement of everything on one device."""
    size = len(small_problems()[number].graph.names)
    memory.add(number, np.array([reward]), np.full((1, size), device, dtype=np.int32))


def entries_of(memory: EliteBuffer) -> list[tuple[int, float, int]]:
    """Return the stored entries: problem, reward and the first operator's device."""
    return [(number, reward, int(row[0])) for number, reward, row in memory.entries()]


def test_each_process_contributes_its_own_problems() -> None:
    """Entries of other processes' problems come from an older checkpoint and are ignored."""
    values: list[Any] = [NOTHING, NOTHING]
    both = [process(rank, values) for rank in range(2)]
    add_placement(both[0].memory, 0, 0.5, 0)
    add_placement(both[0].memory, 0, 0.75, 1)
    add_placement(both[0].memory, 1, 0.25, 0)  # not its own
    add_placement(both[1].memory, 1, 0.5, 2)
    add_placement(both[1].memory, 5, 1.0, 1)
    both[1].merge()  # so that the first process receives its value
    state = both[0].merge()
    assert entries_of(both[0].memory) == [(0, 0.75, 1), (0, 0.5, 0), (1, 0.25, 0)]
    for algorithm in both:
        algorithm.restore(state)
    expected = [(0, 0.75, 1), (0, 0.5, 0), (1, 0.5, 2), (5, 1.0, 1)]
    assert [entries_of(one.memory) for one in both] == [expected, expected]
    best = [0.75, 0.5, -np.inf, -np.inf, -np.inf, 1.0]
    assert both[0].memory.best.tolist() == both[1].memory.best.tolist() == best


def test_merging_with_an_empty_memory_changes_nothing() -> None:
    values: list[Any] = [NOTHING, NOTHING]
    one = process(1, values)
    add_placement(one.memory, 3, 0.5, 1)
    merged, own = one.merge(), one.state()
    assert merged.keys() == own.keys()
    assert all(bool((merged[name] == own[name]).all()) for name in own)
