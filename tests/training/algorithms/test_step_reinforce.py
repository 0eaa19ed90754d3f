"""Tests of REINFORCE per step, for policies that refine placements."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch

import streamplace as sp
from streamplace.training.algorithms.step_reinforce import StepReinforce
from streamplace.training.loop import Loop
from tests.support.refiners import pass_problem, placeto
from tests.support.stages import loop_of


def stage(**keys: Any) -> dict[str, Any]:
    """Return a stage as a config has it."""
    return {"algorithm": "reinforce-steps", "epochs": 4, "evaluate_every": 0} | keys


def looped(*problems: sp.Problem, **keys: Any) -> Loop:
    """Return a loop over one stage."""
    return loop_of([stage(**keys)], policy=placeto(), problems=problems or [pass_problem()])


def parameters(loop: Loop) -> list[torch.Tensor]:
    return [p.detach().clone() for p in loop.learner.policy.parameters()]


def algorithm_of(loop: Loop) -> StepReinforce:
    loop.begin()
    assert isinstance(loop.algorithm, StepReinforce)
    return loop.algorithm


class Made:
    """Trajectories of one sample with known rewards."""

    def __init__(self, rewards: list[float]) -> None:
        self.rewards = np.array(rewards)[None, None]
        self.mask = torch.ones(1, 1, len(rewards), dtype=torch.bool)


def advantages(loop: Loop, *episodes: list[float]) -> list[list[float]]:
    algorithm = algorithm_of(loop)
    return [algorithm._advantages([0], Made(one))[0, 0].tolist() for one in episodes]  # type: ignore[arg-type]


def test_advantages_are_returns_to_go_less_their_mean_at_each_step() -> None:
    first, second = advantages(looped(), [1.0, 2.0, 4.0], [3.0, 0.0, 0.0])
    assert first == [0.0, 0.0, 0.0]  # the baseline includes the episode itself
    assert second == [3 - (7 + 3) / 2, 0 - (6 + 0) / 2, 0 - (4 + 0) / 2]


def test_the_baseline_forgets_episodes_beyond_its_window() -> None:
    *_, last = advantages(looped(window=2), [8.0], [2.0], [4.0])
    assert last == [4 - (2 + 4) / 2]


def test_rewards_are_discounted() -> None:
    _, second = advantages(looped(discount=0.5), [0.0, 0.0, 0.0], [1.0, 2.0, 4.0])
    assert second == [(1 + 1 + 1) / 2, (2 + 2) / 2, 4 / 2]


def test_reversed_rewards_change_the_sign() -> None:
    plain, changed = (
        advantages(looped(reversed_rewards=wrong), [0.0, 1.0], [2.0, 5.0])[1]
        for wrong in (False, True)
    )
    assert plain == [-x for x in changed]
    assert any(plain)


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


def test_the_baseline_of_steps_is_the_mean_reward_so_far() -> None:
    (only,) = advantages(looped(baseline="steps"), [1.0, 3.0, 8.0])
    assert only == [12.0 - 1.0, 11.0 - 2.0, 8.0 - 4.0]
    assert advantages(looped(baseline="none"), [1.0, 3.0]) == [[4.0, 3.0]]


def test_the_gradient_of_later_steps_is_discounted() -> None:
    settings = {"baseline": "none", "discount": 0.5, "discounts_gradient": True}
    assert advantages(looped(**settings), [0.0, 2.0, 4.0]) == [[2.0, 0.5 * 4.0, 0.25 * 4.0]]


def test_rewards_are_falls_of_the_loss_or_of_its_logarithm() -> None:
    class Walked(Made):
        falls = np.array([[[5.0, 1.0]]])

    walked = Walked([0.5, 0.1])
    found = [
        algorithm_of(looped(baseline="none", step_reward=reward))._advantages([0], walked)  # type: ignore[arg-type]
        for reward in ("log", "loss")
    ]
    assert [one[0, 0].tolist() for one in found] == [[0.6, 0.1], [6.0, 1.0]]
