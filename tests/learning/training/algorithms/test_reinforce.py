"""REINFORCE: its running baseline, and random placements that are only stored."""

from typing import Any

import numpy as np
import pytest

from streamplace import Problem
from streamplace.learning.policy.weights import parameter_hash
from streamplace.learning.training import fit
from streamplace.learning.training.algorithms.base import Step
from streamplace.learning.training.algorithms.reinforce import Reinforce
from tests.support.graphs import preset_graph
from tests.support.stages import loop_of, reinforce, small_policy, small_problems, stages_of

ONE_SAMPLE = {"samples": 1, "memory": {"size": 1, "samples": 0}}


def running(**keys: Any) -> Reinforce:
    """Return the algorithm at the start of a stage with a running baseline."""
    loop = loop_of([reinforce(baseline="running", **keys)])
    loop.begin()
    assert isinstance(loop.algorithm, Reinforce)
    return loop.algorithm


def baselines(algorithm: Reinforce, *steps: list[list[float | None]]) -> list[list[float]]:
    """Return the baselines after each step of rewards of problems 0, 1, …; None does not count."""
    found = []
    for rows in steps:
        counted = np.array([[value is not None for value in row] for row in rows])
        reward = np.array([[value or 0.0 for value in row] for row in rows])
        made = algorithm._baseline_of(np.arange(len(rows)), reward, counted)
        assert made is not None
        found.append(made.tolist())
    return found


def test_the_baseline_is_the_mean_of_the_means_of_steps() -> None:
    first, second, third = baselines(
        running(), [[1.0, 3.0], [8.0, None]], [[6.0, 6.0], [None, None]], [[1.0, 0.0], [4.0, 0.0]]
    )
    assert first == [2.0, 8.0]
    assert second == [(2 + 6) / 2, 0.0]  # nothing to learn from on the second problem
    assert third == [(2 + 6 + 0.5) / 3, (8 + 2) / 2]


def test_a_window_forgets_steps() -> None:
    steps: list[list[list[float | None]]] = [[[float(value)]] for value in (9, 1, 2)]
    assert baselines(running(window=2), *steps)[-1] == [1.5]


def test_the_mean_of_a_step_needs_no_state() -> None:
    loop = loop_of([reinforce()])
    loop.begin()
    assert not any("baseline" in name for name in loop.state())


def test_one_sample_per_step_is_enough() -> None:
    """Without a running baseline, the advantage of a single sample is 0."""
    with pytest.raises(ValueError, match="learning needs at least 2 placements per problem"):
        stages_of(reinforce(**ONE_SAMPLE))
    stages = stages_of(reinforce(**ONE_SAMPLE, baseline="running", epochs=2))
    policy = small_policy()
    before = parameter_hash(policy)
    fit(policy, small_problems(), stages, np.random.default_rng(0))
    assert parameter_hash(policy) != before


def test_random_placements_that_are_only_stored_are_named_as_the_policy_names_them() -> None:
    """Exchanging two equal devices leaves half of the 16 placements of four operators."""
    stage = reinforce(samples=2, random_samples=200.0, learns_from_random=False)
    stage |= {"memory": {"size": 100, "samples": 1, "threshold": -1e9}}
    problem = Problem(preset_graph("series-parallel", 4), "2x2500", source_rate=1e3)
    loop = loop_of([stage], small_policy(), [problem])
    loop.begin()
    assert isinstance(loop.algorithm, Reinforce)
    record: dict[str, float | int] = {}
    loop.algorithm.loss(Step(np.array([0]), [0], 0, 0.0), record)
    assert len({row.tobytes() for row in loop.algorithm.memory.of(0)}) == 8
    assert record["decisions"] == 4 * 2
