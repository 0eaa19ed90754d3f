"""Rewards of placements compared with their scores."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reference.strategies import batches, problems
from streamplace import simulate
from streamplace.learning.training.learner import StageInterruptedError
from streamplace.learning.training.rewards import MeasuredRewards, Rewards
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator
from streamplace.scoring.throughput import ceiling
from tests.support.measures import Modelled, measurements_of, modelled_s, rows_of
from tests.support.stages import small_problems


@pytest.mark.parametrize("model", ["bottleneck", "path-average"])
@given(data=st.data())
def test_rewards_are_scores(model: str, data: st.DataObject) -> None:
    problem: Problem = data.draw(
        problems("bottleneck" if model == "bottleneck" else "path-average")
    )
    rows = data.draw(batches(problem, max_size=4))
    scores = [simulate(Placement(problem, row)) for row in rows]
    relative = Rewards([problem], "relative")
    assert relative(0, rows) == pytest.approx([s.relative_throughput for s in scores], rel=1e-12)
    logs = Rewards([problem], "log")(0, rows)
    quick = min(problem.source_rate, ceiling(problem))
    expected = [math.log(max(score.throughput / quick, 1e-9)) for score in scores]
    assert logs == pytest.approx(expected, abs=1e-9)
    assert (logs <= 1e-9).all()
    assert relative.total == len(rows)


@given(data=st.data())
def test_rewards_of_losses_are_their_logarithm_root_and_value(data: st.DataObject) -> None:
    problem: Problem = data.draw(problems())
    rows = data.draw(batches(problem, max_size=4))
    losses = evaluator(problem).loss(rows).tolist()
    logs, roots, values = (
        Rewards([problem], kind)(0, rows) for kind in ("log-loss", "sqrt-loss", "loss")
    )
    assert values == pytest.approx([-loss for loss in losses], rel=1e-12)
    assert logs == pytest.approx([-math.log(max(loss, 1e-30)) for loss in losses], rel=1e-12)
    assert roots == pytest.approx([-math.sqrt(loss) for loss in losses], rel=1e-12)


SIZES = [len(problem.graph.names) for problem in small_problems()]
ASKED = st.lists(st.tuples(st.integers(0, 2), st.lists(st.integers(0, 12), max_size=6)), max_size=8)


def rewards_of(
    measure: Modelled,
    limit: int,
    kind: str = "loss",
    is_stopped: Callable[[], bool] = lambda: False,
) -> MeasuredRewards:
    """Return rewards of the small problems."""
    problems = small_problems()
    measurements = measurements_of(problems, measure)
    return MeasuredRewards(problems, kind, measurements, limit, is_stopped=is_stopped)


@given(limit=st.integers(1, 8), asked=ASKED, cut=st.integers(0, 8))
def test_a_limit_is_never_exceeded_also_by_a_resumed_run(
    limit: int, asked: list[tuple[int, list[int]]], cut: int
) -> None:
    """Placements that are allowed are those that a plain list of sets allows."""
    measure = Modelled()
    rewards = rewards_of(measure, limit)
    plain: dict[int, set[int]] = {number: set() for number in range(3)}
    for i, (number, numbers) in enumerate(asked):
        if i == cut:  # the state goes into a checkpoint, and the process ends
            state = rewards.state()
            rewards = rewards_of(measure, limit)
            rewards.restore(state)
        expected = []
        for k in numbers:
            expected.append(k in plain[number] or len(plain[number]) < limit)
            plain[number] |= {k} if expected[-1] else set()
        rows = rows_of(numbers, SIZES[number])
        allowed = rewards.affordable(number, rows)
        assert allowed.tolist() == expected
        assert rewards(number, rows[allowed]).tolist() == (-modelled_s(rows[allowed])).tolist()
        assert rewards.measured == sum(map(len, plain.values()))
        spent = [len(kept) == limit for kept in plain.values()]
        assert rewards.spent(np.arange(3, dtype=np.int32)).tolist() == spent
    assert len(measure.rows) == len(set(measure.rows)) == sum(map(len, plain.values()))


@pytest.mark.parametrize(
    ("kind", "function"),
    [("log-loss", lambda s: -math.log(s)), ("sqrt-loss", lambda s: -math.sqrt(s))],
)
def test_rewards_are_those_of_the_seconds(kind: str, function: Callable[[float], float]) -> None:
    rows = rows_of([0, 5, 80], SIZES[0])
    expected = [function(seconds) for seconds in modelled_s(rows).tolist()]
    rewards = rewards_of(Modelled(), 3, kind)
    assert rewards(0, rows).tolist() == pytest.approx(expected, rel=1e-12)
    assert rewards.total == 3


def test_an_interruption_between_problems_leaves_no_trace_but_the_measurements() -> None:
    """The first problem was measured, the second is not, and the first is not measured again."""
    measure = Modelled()
    rewards = rewards_of(measure, 4, is_stopped=lambda: measure.calls == 1)
    both = [rows_of([1, 2], SIZES[0]), rows_of([3], SIZES[1])]
    with pytest.raises(StageInterruptedError):
        rewards.of_several([0, 1], both)
    assert (rewards.measured, rewards.total, len(measure.rows)) == (0, 0, 2)
    assert rewards(0, both[0]).tolist() == (-modelled_s(both[0])).tolist()
    assert len(measure.rows) == 2
