"""Training in memory: determinism, results, and the count of scored placements."""

import numpy as np
import pytest

from streamplace import Problem, simulate
from streamplace.errors import UnsuitableError
from streamplace.learning.policy.weights import parameter_hash
from streamplace.learning.training import Fitted, fit
from streamplace.learning.training.algorithms.base import Record
from streamplace.testing.evaluations import counted_evaluations
from tests.support.policies import cluster_of, layered_problem
from tests.support.stages import (
    KINDS,
    Value,
    dagger,
    imitation,
    reinforce,
    small_policy,
    small_problems,
    stages_of,
)

of_kinds = pytest.mark.parametrize("kind", KINDS)
STEPS_PER_EPOCH = 3  # 6 problems, 2 per step


def fitted(*values: Value, kind: str = "device-scorer", seed: int = 0) -> Fitted:
    """Train a small policy on the small problems."""
    rng = np.random.default_rng(seed)
    return fit(small_policy(kind), small_problems(), stages_of(*values), rng)


@of_kinds
def test_the_same_seed_trains_the_same_policy(kind: str) -> None:
    hashes = [
        parameter_hash(fitted(dagger(), reinforce(), kind=kind, seed=seed).policy)
        for seed in (0, 1, 0)
    ]
    assert hashes[0] == hashes[2]
    assert hashes[0] != hashes[1]


def test_trainings_in_one_process_are_independent() -> None:
    """Neither global random state nor an earlier training has an effect."""
    first = fitted(imitation(), reinforce())
    np.random.seed(7)  # noqa: NPY002 - global state that must have no effect
    fitted(reinforce(epochs=2), kind="encoder-decoder", seed=3)
    again = fitted(imitation(), reinforce())
    assert parameter_hash(again.policy) == parameter_hash(first.policy)
    assert again.records == first.records
    assert [p and p.devices.tolist() for p in again.best] == [
        p and p.devices.tolist() for p in first.best
    ]


def test_the_policy_is_changed_in_place() -> None:
    policy = small_policy()
    before = parameter_hash(policy)
    found = fit(policy, small_problems(), stages_of(dagger()), np.random.default_rng(0))
    assert found.policy is policy
    assert parameter_hash(policy) != before


def test_every_step_has_a_record() -> None:
    records: list[Record] = []
    stages = stages_of(imitation(), reinforce(epochs=2))
    rng = np.random.default_rng(0)
    found = fit(small_policy(), small_problems(), stages, rng, on_step=records.append)
    assert list(found.records) == records
    steps = 3 * STEPS_PER_EPOCH
    assert [record["step"] for record in records] == [*range(1, steps + 1)]
    assert [record["epoch"] for record in records] == [i // STEPS_PER_EPOCH for i in range(steps)]
    expected = [(i + 1) / steps for i in range(steps)]
    assert [record["progress"] for record in records] == pytest.approx(expected)


@pytest.mark.long
@of_kinds
def test_rewards_rise(kind: str) -> None:
    optimiser = {"rate": 1e-2, "final_rate": 1e-3}
    stage = reinforce(epochs=40, samples=8, problems_per_step=6, optimiser=optimiser)
    rewards = [record["reward"] for record in fitted(stage, kind=kind).records]
    assert np.mean(rewards[-5:]) > np.mean(rewards[:5]) + 0.05


def test_held_out_problems_are_validated_after_each_epoch() -> None:
    problems = small_problems()
    rng, stages = np.random.default_rng(0), stages_of(dagger(epochs=2))
    found = fit(small_policy(), problems[1:], stages, rng, held_out=problems[:1])
    validated = [record["step"] for record in found.records if "validation" in record]
    assert validated == [STEPS_PER_EPOCH, 2 * STEPS_PER_EPOCH]


def test_the_best_placements_are_feasible_and_have_the_best_rewards() -> None:
    found = fitted(reinforce(epochs=2))
    for i, (problem, best) in enumerate(zip(small_problems(), found.best, strict=True)):
        assert best is not None
        assert best.problem is problem
        assert problem.feasibility.violation(best.devices) is None
        reward = simulate(best).relative_throughput
        assert reward == pytest.approx(found.best_rewards[-1, i], rel=1e-12)


def test_best_rewards_never_fall() -> None:
    found = fitted(reinforce(epochs=3))
    assert found.best_rewards.shape == (3 * STEPS_PER_EPOCH, len(small_problems()))
    assert (np.diff(found.best_rewards[STEPS_PER_EPOCH:], axis=0) >= 0).all()
    assert np.isfinite(found.best_rewards[STEPS_PER_EPOCH:]).all()


def test_an_algorithm_without_rewards_has_no_best_placement() -> None:
    found = fitted(dagger())
    assert set(found.best) == {None}
    assert (found.best_rewards == -np.inf).all()


@pytest.mark.parametrize(
    "values",
    [
        (reinforce(epochs=2, random_samples=1.5),),
        (reinforce(reward="log"), reinforce(model="path-average")),
        (dagger(),),
    ],
    ids=["with random placements", "two stages", "no rewards"],
)
def test_evaluations_count_scored_placements(values: tuple[Value, ...]) -> None:
    with counted_evaluations() as count:
        found = fitted(*values)
    assert sum(found.evaluations) == count.placements
    assert (count.placements > 0) == (values[0]["algorithm"] == "reinforce")
    assert len(found.evaluations) == len(small_problems())


def test_evaluations_per_step_by_hand() -> None:
    """3 samples for each of 2 problems, and nothing remembered in the first epoch."""
    found = fitted(reinforce(epochs=2, samples=3))
    made = [record["evaluations"] for record in found.records]
    assert made[:STEPS_PER_EPOCH] == [2 * 3] * STEPS_PER_EPOCH
    assert made[STEPS_PER_EPOCH:] == [2 * (3 + 1)] * STEPS_PER_EPOCH, (
        "one remembered placement as well"
    )


def test_a_problem_that_the_policy_cannot_place_is_named() -> None:
    problem = layered_problem(6, cluster_of(2))
    named = Problem(
        type(problem.graph)(problem.graph.operators, problem.graph.streams, name="lonely"),
        problem.cluster,
        source_rate=1e4,
    )
    policy, stages = small_policy("encoder-decoder"), stages_of(dagger())
    with pytest.raises(UnsuitableError, match=r"^lonely: this policy requires 3 devices"):
        fit(policy, [named], stages, np.random.default_rng(0))
