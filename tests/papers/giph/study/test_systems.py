"""Tests for the trainings of the study of GiPH."""

import numpy as np
import pytest
import torch

from streamplace.learning.policy.base import Refiner
from streamplace.learning.policy.weights import new_policy
from streamplace.papers.giph.study.episodes import episodes
from streamplace.papers.giph.study.registered import (
    CODE_TRAINED,
    GIPH,
    PAPER_TRAINED,
    PLACETO,
    SYSTEMS,
    UNIFORM,
    Cases,
)
from streamplace.papers.giph.study.systems import (
    LowestHeldOut,
    episodes_of_paper,
    random_starts,
    trained,
)
from streamplace.problem.makespan import Makespan


@pytest.mark.parametrize("system", [GIPH, PAPER_TRAINED, CODE_TRAINED, PLACETO])
def test_one_pass_over_the_cases_changes_the_policy(system: str) -> None:
    """Placeto's published baseline and its first epoch without updates would leave it as it is."""
    problems = Cases("giph-code:cases=single:split=train", 1).problems(Makespan())
    policy = trained(system, problems, epochs=1, samples=2, seed=3)
    fresh = new_policy(SYSTEMS[system], 3)
    pairs = zip(policy.parameters(), fresh.parameters(), strict=True)
    assert not all(torch.equal(after, before) for after, before in pairs)


@pytest.mark.parametrize(("cases", "epochs", "count"), [(300, 1, 200), (120, 3, 200), (4, 1, 4)])
def test_the_papers_training_has_200_episodes(cases: int, epochs: int, count: int) -> None:
    case = Cases("giph-code:cases=single:split=train", 1).problems(Makespan())
    assert len(episodes_of_paper(case * cases, epochs)) == count


def test_the_control_of_placeto_prefers_no_device() -> None:
    (problem,) = Cases("giph-code:cases=single:split=train", 1).problems(Makespan())
    policy = trained(UNIFORM, [problem], epochs=1, samples=2, seed=3)
    assert all(not weight.any() for weight in policy.parameters())
    (start,) = random_starts([problem], 0)
    first, second = (episodes(policy, [problem], [start], 1, seed)[0].best for seed in range(2))
    assert not np.array_equal(first, second)


def test_the_weights_of_the_lowest_held_out_makespan_are_kept() -> None:
    """Tests are before the training and after every fifth episode; others are not looked at."""
    problems = Cases("giph-code:cases=single:split=test", 2).problems(Makespan())
    starts = random_starts(problems, 0)
    policies = [Refiner.of(new_policy(SYSTEMS[GIPH], seed)) for seed in range(4)]
    losses = [
        np.mean(
            [
                one.lowest[-1] / lowest
                for one, lowest in zip(
                    episodes(policy, problems, starts, 2, 0),
                    LowestHeldOut(problems, starts, 0).longest_s,
                    strict=True,
                )
            ]
        )
        for policy in policies
    ]
    kept = LowestHeldOut(problems, starts, 0)
    for number, policy in enumerate(policies):
        kept(policy, 5 * number)
    best = policies[int(np.argmin(losses))]
    other = Refiner.of(new_policy(SYSTEMS[GIPH], 9))
    kept.restore(other)
    pairs = zip(other.parameters(), best.parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)

    unseen = LowestHeldOut(problems, starts, 0)
    worst = policies[int(np.argmax(losses))]
    unseen(worst, 0)
    unseen(best, 3)
    unseen.restore(other)
    pairs = zip(other.parameters(), worst.parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)
