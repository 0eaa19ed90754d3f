"""Tests of independent trainings, and of what they learn."""

import os

import numpy as np
import pytest

import streamplace as sp
from streamplace.errors import UsageError
from streamplace.learning.policy.registry import policy_section
from streamplace.learning.training import fit_each
from streamplace.learning.training.stages import StepReinforceStage
from streamplace.papers.placeto.trials import (
    PUBLISHED,
    Trial,
    at_checkpoints,
    run_trial,
    run_trials,
)
from streamplace.scoring.registry import evaluator
from streamplace.util.arrays import Floats
from tests.support.refiners import pass_problem

SHORT = PUBLISHED.model_copy(update={"epochs": 6})


def test_trials_do_not_depend_on_each_other() -> None:
    trials = [
        Trial(pass_problem(), order, seed) for order in ("bfs", "dfs-postorder") for seed in (0, 1)
    ]
    together = list(run_trials(trials, SHORT, jobs=1))
    for trial, losses in zip(reversed(trials), reversed(together), strict=True):
        np.testing.assert_array_equal(run_trial(trial, SHORT), losses)
    assert len({tuple(losses) for losses in together}) == len(trials)


def process_of(trial: Trial, stage: StepReinforceStage) -> Floats:
    """Return the number of the process that runs a trial."""
    return np.array([float(os.getpid())])


@pytest.mark.long
def test_a_few_trials_run_in_processes_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamplace.papers.placeto.trials.run_trial", process_of)
    found = run_trials([Trial(pass_problem(), seed=seed) for seed in range(4)], SHORT, jobs=2)
    assert float(os.getpid()) not in np.concatenate(list(found))


def test_losses_fall_from_that_of_one_device() -> None:
    problem = pass_problem()
    alone = evaluator(problem).loss(np.zeros(9, np.int32))[0]
    for uniform in (False, True):
        losses = run_trial(Trial(problem, uniform=uniform), SHORT)
        assert losses.shape == (6,)
        assert np.all(np.diff(losses) <= 0)
        assert losses[-1] < losses[0] <= alone * (1 + 1e-12)


def test_fit_each_trains_a_policy_per_problem_and_repeat() -> None:
    section = policy_section({"kind": "placeto", "sizes": {"devices": 3}})
    problems = [pass_problem(9, 1), pass_problem(6, 2)]
    rng = np.random.default_rng(0)
    fitted = fit_each(section, problems, [SHORT], rng, repeats=2)
    assert [len(repeats) for repeats in fitted] == [2, 2]
    for problem, repeats in zip(problems, fitted, strict=True):
        for one in repeats:
            (best,) = one.best
            assert best is not None
            reached = -np.log(evaluator(problem).loss(best.devices)[0])
            assert reached == pytest.approx(one.best_rewards[-1, 0], rel=1e-12)
            assert one.evaluations == (6 * (len(problem.graph.names) + 1),)


def test_checkpoints_count_sweeps_from_one() -> None:
    losses = np.array([5.0, 4.0, 3.0])
    assert at_checkpoints(losses, (1, 3)).tolist() == [5.0, 3.0]
    for wrong in (0, 4):
        with pytest.raises(UsageError, match="sweeps: must be 1 to 3"):
            at_checkpoints(losses, (wrong,))


def test_an_unknown_order_is_named() -> None:
    with pytest.raises(UsageError, match="unknown order 'bfss'; did you mean 'bfs'"):
        run_trial(Trial(pass_problem(), order="bfss"), SHORT)


def test_training_beats_random_devices_at_equal_evaluations() -> None:
    """On a chain whose transfers are slow, the best placement keeps everything together."""
    names = [f"o{v:02}" for v in range(16)]
    rows = [(name, 1e6, 4e6) for name in names]
    branches = [(names[0], name) for name in names[1:9]]
    graph = sp.StreamGraph(rows, [*branches, *zip(names[1:9], names[8:], strict=False)])
    network = sp.Network("free", bandwidth_mbps=1000.0)
    cluster = sp.Cluster.equal(3, mips=1000.0, network=network)
    problem = sp.Problem(graph, cluster, objective=sp.Makespan())
    learning = PUBLISHED.model_copy(
        update={"epochs": 60, "entropy": 0.05, "start": "round-robin", "restart": "start"}
    )
    learned, control = (
        np.mean(
            [
                np.log(run_trial(Trial(problem, seed=seed, uniform=uniform), learning)[-1])
                for seed in range(3)
            ]
        )
        for uniform in (False, True)
    )
    assert learned < control
