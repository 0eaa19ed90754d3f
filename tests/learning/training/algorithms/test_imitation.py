"""Imitation: the loss is the teacher's likelihood, and training raises it."""

import math

import numpy as np
import pytest
import torch

from streamplace.errors import UnsuitableError
from streamplace.learning.policy.base import Constructive
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.registry import policy_section
from streamplace.learning.policy.weights import new_policy
from streamplace.learning.training import fit
from streamplace.learning.training.algorithms.imitation import Imitation
from streamplace.learning.training.loop import Loop
from streamplace.placers.registry import make_placer
from streamplace.util.arrays import Ints
from tests.support.refiners import episode, pass_problem, placeto
from tests.support.stages import (
    KINDS,
    imitation,
    loop_of,
    small_policy,
    small_problems,
    stages_of,
)

of_kinds = pytest.mark.parametrize("kind", KINDS)


def teacher_placement(number: int) -> Ints:
    """Return the teacher's placement of a problem."""
    return make_placer("greedy")(small_problems()[number], np.random.default_rng(0)).devices


def begun(loop: Loop) -> Imitation:
    """Begin the first stage of a loop, and return its algorithm."""
    loop.begin()
    assert isinstance(loop.algorithm, Imitation)
    return loop.algorithm


@of_kinds
def test_the_loss_is_the_likelihood_of_the_teacher_s_decisions(kind: str) -> None:
    """The loss is in nats per decision."""
    loop = loop_of([imitation(problems_per_step=6)], small_policy(kind))
    policy, encoded = Constructive.of(loop.learner.policy), loop.learner.encoded
    total, decisions = 0.0, 0
    for number, one in enumerate(encoded):
        row = policy.canonical(one, teacher_placement(number), 0)
        with torch.no_grad():
            found = policy.rollout(policy.batch([one]), 1, Sampler(), row[None, None])
        total, decisions = total - float(found.log_probability), decisions + one.size
    record = next(loop.steps())
    assert record["loss"] == pytest.approx(total / decisions, rel=1e-5)
    assert record["decisions"] == decisions


@of_kinds
def test_the_teacher_s_placement_becomes_the_most_probable(kind: str) -> None:
    optimiser = {"rate": 2e-2, "final_rate": 1e-3}
    stage = imitation(epochs=150, problems_per_step=6, optimiser=optimiser)
    policy = small_policy(kind)
    found = fit(policy, small_problems(), stages_of(stage), np.random.default_rng(0))
    losses = [record["loss"] for record in found.records]
    assert losses[0] > 0.3
    assert losses[-1] < 0.5 * losses[0]
    agreed = decisions = 0
    for number, problem in enumerate(small_problems()):
        one = policy.encode(problem)
        row = policy.sample(policy.batch([one]), 1, Sampler())[0, 0]
        expected = policy.canonical(one, teacher_placement(number), 0)
        agreed, decisions = agreed + int((row == expected).sum()), decisions + one.size
    assert agreed > 0.8 * decisions


def test_the_teacher_places_each_problem_once() -> None:
    loop = loop_of([imitation(epochs=3)])
    algorithm = begun(loop)
    rows = algorithm.known()
    for _ in loop.steps():
        pass
    assert loop.algorithm is algorithm
    assert rows.keys() == set(range(6))
    for number, kept in rows.items():
        assert [row.tolist() for row in kept] == [teacher_placement(number).tolist()]
    assert loop.learner.evaluations.tolist() == [1] * 6


def test_a_random_teacher_depends_only_on_the_seed() -> None:
    found = [
        [
            row.tolist()
            for (row,) in begun(loop_of([imitation(teacher="random")], seed=seed)).known().values()
        ]
        for seed in (0, 0, 1)
    ]
    assert found[0] == found[1]
    assert found[0] != found[2]


def test_a_poor_teacher_is_imitated_too() -> None:
    """The low reward of placing everything on one device has no effect."""
    loop = loop_of([imitation(teacher="single")])
    losses = [record["loss"] for record in loop.steps()]
    assert all(0 < loss < math.inf for loss in losses)


@pytest.mark.long
def test_a_policy_that_refines_placements_learns_to_reach_the_teacher_s() -> None:
    problem, policy = pass_problem(), placeto()
    stage = imitation(epochs=300, teacher="heft", optimiser={"rate": 3e-3})
    record = fit(policy, [problem], stages_of(stage), np.random.default_rng(0)).records
    assert record[-1]["loss"] < 0.1 * record[0]["loss"]
    assert record[0]["decisions"] == len(problem.graph.names)
    reached = episode(policy, problem, seed=None).placements[0, 0]
    expected = make_placer("heft")(problem, np.random.default_rng(0)).devices
    assert (reached == expected).mean() > 0.7  # a start that training has not seen


def test_evaluations_of_the_sweeps_are_counted() -> None:
    problem = pass_problem()
    stages = stages_of(imitation(epochs=3, teacher="heft"))
    fitted = fit(placeto(), [problem], stages, np.random.default_rng(0))
    assert fitted.evaluations == (1 + 3 * (len(problem.graph.names) + 1),)


def test_a_policy_that_chooses_operators_itself_cannot_imitate() -> None:
    policy = new_policy(policy_section({"kind": "giph"}), 0)
    message = "Giph cannot imitate placements: it chooses what to revise itself"
    with pytest.raises(UnsuitableError, match=message):
        fit(
            policy, [pass_problem()], stages_of(imitation(teacher="heft")), np.random.default_rng(0)
        )
