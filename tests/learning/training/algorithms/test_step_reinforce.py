"""Tests of REINFORCE per step, for policies that refine placements."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch

import streamplace as sp
from streamplace.learning.training.algorithms.step_reinforce import FALLING, StepReinforce
from streamplace.learning.training.distributed import Workers
from streamplace.learning.training.in_memory import fit
from streamplace.learning.training.loop import Loop
from tests.support.measures import Modelled, modelled_s
from tests.support.refiners import pass_problem, placeto
from tests.support.stages import stages_of
from tests.support.step_stages import Made, advantages, algorithm_of, looped, parameters, stage


def test_advantages_are_returns_to_go_less_their_mean_at_each_step() -> None:
    first, second = advantages(looped(), [1.0, 2.0, 4.0], [3.0, 0.0, 0.0])
    assert first == [0.0, 0.0, 0.0]  # the baseline includes the episode itself
    assert second == [3 - (7 + 3) / 2, 0 - (6 + 0) / 2, 0 - (4 + 0) / 2]


def test_a_measured_stage_ends_once_as_many_placements_are_measured() -> None:
    """Rewards are those of measured seconds, and a placement is measured once."""
    measure, problem = Modelled(), pass_problem()
    stages = stages_of(stage(epochs=50, measurements=20, samples=2))
    fitted = fit(placeto(), [problem], stages, np.random.default_rng(0), measure=measure)
    assert len(measure.rows) == len({*measure.rows})
    assert 20 <= len(measure.rows) < 20 + 2 * len(problem.graph.names)
    assert fitted.records[-1]["measurements"] == 20
    assert len(fitted.records) < 50
    assert fitted.evaluations[0] == sum(record["evaluations"] for record in fitted.records)
    best = fitted.best[0]
    assert best is not None
    seconds = [modelled_s(np.frombuffer(row, np.int32)[None])[0] for _, row in measure.rows]
    assert modelled_s(best.devices[None])[0] == min(seconds)
    assert fitted.best_rewards[-1, 0] == pytest.approx(-np.log(min(seconds)))


def test_problems_without_work_have_rewards() -> None:
    graph = sp.StreamGraph(
        [sp.Operator("a", 0.0, 0.0), sp.Operator("b", 0.0, 0.0)], [sp.Stream("a", "b")]
    )
    problem = sp.Problem(graph, sp.Cluster.equal(3), objective=sp.Makespan())
    for kind in ("log", "best"):
        loop = looped(problem, step_reward=kind, restart="start")
        assert all(np.isfinite(float(record["reward"])) for record in loop.steps())


def test_the_baseline_of_other_samples_is_their_mean_return_at_each_step() -> None:
    algorithm = algorithm_of(looped(baseline="samples", samples=3))
    rows = [1.0, 2.0], [3.0, 0.0], [0.0, 6.0]  # returns to go: 3 2, 3 0, 6 6
    found = algorithm.advantages([0], Made(*rows))[0].tolist()  # type: ignore[arg-type]
    assert found == [[-1.5, -1.0], [-1.5, -4.0], [3.0, 5.0]]


def test_with_that_baseline_all_new_episodes_of_a_problem_start_from_one_placement() -> None:
    for baseline, distinct in (("samples", 1), ("episodes", 4)):
        loop = looped(baseline=baseline, samples=4, restart="anew", start="random")
        algorithm = algorithm_of(loop)
        batch = loop.learner.batch(np.array([0]))
        start = algorithm._start_of(batch, [0], np.random.default_rng(1))
        assert len(np.unique(start[0], axis=0)) == distinct


def test_that_baseline_needs_several_samples() -> None:
    with pytest.raises(ValueError, match="baseline: 'samples' needs samples of 2 or more"):
        looped(baseline="samples", samples=1)


def test_the_reward_best_is_the_fall_of_the_lowest_loss_so_far() -> None:
    losses = np.array([8.0, 4.0, 16.0, 2.0, 2.0])[None, None]
    lowest = FALLING["best"](losses)
    np.testing.assert_allclose(-np.diff(lowest)[0, 0], np.log([2.0, 1.0, 2.0, 1.0]))


def test_the_baseline_forgets_episodes_beyond_its_window() -> None:
    *_, last = advantages(looped(window=2), [8.0], [2.0], [4.0])
    assert last == [4 - (2 + 4) / 2]


def test_rewards_are_discounted() -> None:
    _, second = advantages(looped(discount=0.5), [0.0, 0.0, 0.0], [1.0, 2.0, 4.0])
    assert second == [(1 + 1 + 1) / 2, (2 + 2) / 2, 4 / 2]


class Alike(Workers):
    """One of two processes, of which the other has the same values and gradients."""

    def __init__(self) -> None:
        super().__init__(count=2)

    def gathered(self, value: Any) -> list[Any]:
        """Return the values of both processes."""
        return [value, value]

    def mean_gradients(self, network: torch.nn.Module) -> None:
        """Fill in gradients as a process does that has nothing to learn from."""
        for parameter in network.parameters():
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)


def test_evaluation_moves_no_parameters_in_several_processes() -> None:
    """Zero gradients would, by Adam's momentum."""
    alone = looped(evaluate_every=2, epochs=3)
    loop = Loop(replace(alone.learner, workers=Alike()), alone.stages)
    after = [parameters(loop) for _ in loop.steps()]
    assert any(not torch.equal(a, b) for a, b in zip(after[0], after[1], strict=True))
    assert all(torch.equal(a, b) for a, b in zip(after[1], after[2], strict=True))


def test_the_first_update_only_raises_entropy() -> None:
    """The advantages of the first episode are zero, so without an entropy bonus nothing moves."""
    loop = looped(entropy=0.0, epochs=1)
    before = parameters(loop)
    list(loop.steps())
    assert all(torch.equal(a, b) for a, b in zip(before, parameters(loop), strict=True))
    loop = looped(entropy=1.0, epochs=1)
    list(loop.steps())
    assert not all(torch.equal(a, b) for a, b in zip(before, parameters(loop), strict=True))


def test_every_fifth_epoch_only_evaluates() -> None:
    loop = looped(evaluate_every=5, epochs=7)
    states = [parameters(loop)]
    states.extend(parameters(loop) for _ in loop.steps())
    changed = [
        not all(torch.equal(a, b) for a, b in zip(one, other, strict=True))
        for one, other in pairwise(states)
    ]
    assert changed == [False, True, True, True, True, False, True]


def test_evaluated_episodes_do_not_set_the_start() -> None:
    loop = looped(evaluate_every=1, epochs=1)
    list(loop.steps())
    algorithm = loop.algorithm
    assert isinstance(algorithm, StepReinforce)
    assert np.isfinite(algorithm.best_rewards[0])
    assert not algorithm._starts.of(0)


def test_episodes_start_anew_from_the_placer_of_starts() -> None:
    loop = looped(restart="anew", start="random", samples=2, epochs=2)
    list(loop.steps())
    algorithm = loop.algorithm
    assert isinstance(algorithm, StepReinforce)
    batch = loop.learner.batch(np.array([0]))
    starts = [algorithm._start_of(batch, [0], np.random.default_rng(seed))[0] for seed in (0, 0, 1)]
    assert np.array_equal(starts[0], starts[1])
    assert len({row.tobytes() for pair in starts for row in pair}) == 4


@pytest.mark.parametrize("restart", ["best", "start"])
def test_episodes_start_from_the_best_placement_or_from_the_first_start(restart: str) -> None:
    loop = looped(restart=restart, epochs=6)
    starts, rewards = [], []
    for _ in loop.steps():
        algorithm = loop.algorithm
        assert isinstance(algorithm, StepReinforce)
        batch = loop.learner.batch(np.array([0]))
        starts.append(algorithm._start_of(batch, [0], np.random.default_rng(0))[0, 0])
        rewards.append(algorithm.best_rewards[0])
    assert rewards == sorted(rewards)
    assert rewards[-1] > rewards[0]
    algorithm = loop.algorithm
    assert isinstance(algorithm, StepReinforce)
    reached = algorithm.rewards(0, starts[-1][None])[0]
    if restart == "best":
        assert reached == pytest.approx(rewards[-1], rel=1e-12)
    else:
        assert len(np.unique(starts[-1])) == 1


def test_problems_of_a_step_have_their_own_starts_and_baselines() -> None:
    problems = [pass_problem(9, 1), pass_problem(6, 2)]
    together = looped(*problems, problems_per_step=2, entropy=0.0)
    assert all(np.isfinite(record["loss"]) for record in together.steps())
    algorithm = together.algorithm
    assert isinstance(algorithm, StepReinforce)
    assert {len(rows[0]) for rows in algorithm._baseline.episodes({0, 1}).values()} == {9, 6}
    assert [len(algorithm._starts.of(p)[0]) for p in (0, 1)] == [9, 6]


def test_evaluations_are_counted_by_step_and_start() -> None:
    loop = looped(epochs=3, evaluate_every=2, samples=2)
    list(loop.steps())
    assert loop.learner.evaluations.tolist() == [3 * 2 * (9 + 1)]


def test_without_a_baseline_advantages_are_returns() -> None:
    assert advantages(looped(baseline="none"), [1.0, 3.0]) == [[4.0, 3.0]]


def test_rewards_are_falls_of_the_loss_or_of_its_logarithm() -> None:
    losses = np.array([8.0, 4.0, 2.0])[None, None]
    for reward, expected in (("log", [np.log(2.0)] * 2), ("loss", [4.0, 2.0])):
        np.testing.assert_allclose(-np.diff(FALLING[reward](losses))[0, 0], expected)
