"""Rewards of placements compared with their scores."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reference.strategies import batches, problems
from streamplace import simulate
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator
from streamplace.scoring.throughput import bound
from streamplace.training.rewards import Rewards


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
    expected = [math.log(max(score.throughput / bound(problem), 1e-9)) for score in scores]
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
