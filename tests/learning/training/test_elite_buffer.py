"""The buffer of the best placements per problem, compared with a plain list."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from streamplace.learning.training.elite_buffer import EliteBuffer

LEVELS = (-1.0, 0.0, 0.25, 0.5, 0.75, 1.0)
PROBLEMS = 2

Additions = list[tuple[int, list[tuple[int, ...]]]]  # problem, placements added together

placements = st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 2))
additions = st.lists(
    st.tuples(st.integers(0, PROBLEMS - 1), st.lists(placements, min_size=1, max_size=5)),
    max_size=8,
)


def reward_of(placement: tuple[int, ...]) -> float:
    """Return the reward of a placement; several placements share one."""
    return LEVELS[sum(placement) % len(LEVELS)]


def add_all(memory: EliteBuffer, added: Additions) -> None:
    """Add placements to the memory."""
    for problem, rows in added:
        rewards = np.array([reward_of(row) for row in rows])
        memory.add(problem, rewards, np.array(rows, dtype=np.int32))


def stored(memory: EliteBuffer, problem: int) -> list[tuple[int, ...]]:
    """Return the placements that the memory stores for a problem."""
    return [tuple(int(d) for d in row) for row in memory.of(problem)]


@given(additions, st.integers(0, 4), st.sampled_from([-np.inf, -2.0, 0.0, 0.25, 0.6, 2.0]))
def test_the_best_distinct_placements_are_kept(
    added: Additions, size: int, threshold: float
) -> None:
    """Which of several placements with the same reward is kept does not matter."""
    memory = EliteBuffer(PROBLEMS, size, threshold)
    add_all(memory, added)
    for problem in range(PROBLEMS):
        different = {row for number, rows in added if number == problem for row in rows}
        rewards = sorted((reward_of(row) for row in different), reverse=True)
        found = stored(memory, problem)
        assert len(set(found)) == len(found)
        assert set(found) <= different
        expected = [reward for reward in rewards if reward >= threshold][:size]
        assert [reward_of(row) for row in found] == expected
        assert memory.best[problem] == max(rewards, default=-np.inf)


@given(additions, additions, st.integers(0, 3))
def test_a_restored_buffer_behaves_like_the_original(
    added: Additions, later: Additions, size: int
) -> None:
    first, second = EliteBuffer(PROBLEMS, size, 0.0), EliteBuffer(PROBLEMS, size, 0.0)
    add_all(first, added)
    second.restore(first.state(), [(3, 3)] * PROBLEMS)
    for _ in range(2):
        assert [(p, r, list(row)) for p, r, row in first.entries()] == [
            (p, r, list(row)) for p, r, row in second.entries()
        ]
        assert list(first.best) == list(second.best)
        add_all(first, later)
        add_all(second, later)


def test_entries_are_ordered_by_problem_best_first() -> None:
    memory = EliteBuffer(PROBLEMS, 3, 0.0)
    add_all(memory, [(1, [(0, 0, 1), (0, 0, 2)]), (0, [(1, 1, 1)]), (1, [(2, 2, 1)])])
    assert [(p, r, row.tolist()) for p, r, row in memory.entries()] == [
        (0, 0.5, [1, 1, 1]),
        (1, 1.0, [2, 2, 1]),
        (1, 0.25, [0, 0, 2]),
        (1, 0.0, [0, 0, 1]),
    ]


def test_later_changes_of_an_added_array_have_no_effect() -> None:
    memory, rows = EliteBuffer(1, 1, 0.0), np.array([[0, 1, 2]], dtype=np.int32)
    memory.add(0, np.array([1.0]), rows)
    rows[:] = 0
    assert memory.of(0)[0].tolist() == [0, 1, 2]
