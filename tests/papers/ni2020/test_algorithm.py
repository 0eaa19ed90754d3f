"""REINFORCE with replayed placements: what is learnt from, and how rewards become a loss."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.reference.trainings import config, graphs, of_kind
from streamplace.files.training_logs import POLICY
from streamplace.learning.policy.base import Constructive
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.training import TrainConfig, train
from streamplace.learning.training.algorithms.base import Step
from streamplace.papers.ni2020.algorithm import LEAST, Replay
from tests.support.stages import loop_of, replay, small_policy
from tests.support.training_runs import ctrl_c_at

KIND = "encoder-decoder-released"


def begun(**keys: Any) -> Replay:
    """Return the algorithm at the start of its stage."""
    loop = loop_of([replay(**keys)], small_policy(KIND))
    loop.begin()
    assert isinstance(loop.algorithm, Replay)
    return loop.algorithm


def remember(algorithm: Replay, *rewards: float) -> None:
    """Store distinct placements of problem 0 with some rewards."""
    if not rewards:
        return
    size = algorithm.learner.encoded[0].size
    rows = np.zeros((len(rewards), size), dtype=np.int32)
    rows[np.arange(len(rewards)), np.arange(len(rewards)) % size] = (
        1 + np.arange(len(rewards)) // size
    )
    algorithm.memory.add(0, np.array(rewards), rows)


@pytest.mark.parametrize(
    ("rewards", "replayed"),
    [((0.5, 0.9, 0.85, 0.95), (0.95, 0.9)), ((0.9, 0.1), (0.9,)), ((0.1, 0.5), (0.5,)), ((), ())],
)
def test_good_placements_are_replayed_or_the_best_one(
    rewards: tuple[float, ...], replayed: tuple[float, ...]
) -> None:
    algorithm = begun()
    remember(algorithm, *rewards)
    assert tuple(reward for _, reward in algorithm._replayed(0)) == replayed


def test_the_baseline_is_of_the_samples_at_first_and_then_of_the_best() -> None:
    """Two are replayed, so the baseline is the mean of the best three."""
    algorithm = begun()
    remember(algorithm, 0.2, 0.9, 0.6, 0.3)
    own = np.array([0.1, 0.4])
    assert algorithm._baseline(0, own, 2, epoch=0) == pytest.approx(0.25)
    assert algorithm._baseline(0, own, 2, epoch=1) == pytest.approx((0.9 + 0.6 + 0.3) / 3)
    assert algorithm._baseline(0, own, 1, epoch=1) == pytest.approx((0.9 + 0.6) / 2)


@pytest.mark.parametrize(
    ("best", "epoch", "count"), [(0.98, 3, 20), (0.99, 0, 20), (0.99, 1, 7), (0.99, 3, 0)]
)
def test_random_placements_are_drawn_until_a_problem_is_solved(
    best: float, epoch: int, count: int
) -> None:
    """20 / e is 7.4, and 20 / e^3 is 0.996."""
    algorithm = begun(random_samples=20)
    algorithm.memory.best[0] = best
    assert algorithm._random_count(0, epoch) == count


def test_the_loss_raises_what_is_above_the_baseline_by_ten() -> None:
    loss, logs = loss_of(begun(), 0.9, 0.4)
    assert loss == pytest.approx(-(10 * 0.3 * logs[0] - 0.2 * logs[1]) / 2, rel=1e-5)


def test_what_is_worse_than_the_baseline_is_not_learnt_from_where_it_is_all_but_impossible(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The released code leaves it out where its probability is 0 in 32 bits."""
    assert np.exp(np.float32(1.001 * LEAST)) == 0.0 < np.exp(np.float32(0.999 * LEAST))
    algorithm = begun()
    _, logs = loss_of(algorithm, 0.9, 0.4)
    monkeypatch.setattr("streamplace.papers.ni2020.algorithm.LEAST", max(logs) + 1.0)
    loss, _ = loss_of(algorithm, 0.9, 0.4)
    assert loss == pytest.approx(-10 * 0.3 * logs[0] / 2, rel=1e-5)


def loss_of(algorithm: Replay, *rewards: float) -> tuple[float, list[float]]:
    """Return the loss of two placements of problem 0, and their log-probabilities.

    The baseline is 0.6.
    """
    batch = algorithm.learner.batch(np.array([0]))
    size = batch.encoded[0].size
    rows = np.array([[0] * size, [0] * (size - 1) + [1]], dtype=np.int32)
    made = Constructive.of(algorithm.learner.policy).rollout(batch, 2, Sampler(), rows[None])
    loss = algorithm._loss(made, np.array([rewards]), np.ones((1, 2)), np.array([0.6]))
    return loss.item(), made.log_probability[0].tolist()


def test_the_logged_reward_is_that_of_the_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """A remembered placement is replayed and counts in the loss, but not in the log."""
    algorithm = begun(random_samples=0)
    remember(algorithm, 0.9)
    monkeypatch.setattr(algorithm, "rewards", lambda number, rows: np.full(len(rows), 0.25))
    algorithm.rewards.total = 0  # type: ignore[misc]
    record: dict[str, float | int] = {}
    algorithm.loss(Step(np.array([0]), [0], 1, 0.0), record)
    assert record["reward"] == pytest.approx(0.25)
    assert record["best"] == pytest.approx(0.9)


def test_a_resumed_run_equals_an_uninterrupted_one(tmp_path: Path) -> None:
    stage = replay(epochs=2, threshold=0.0) | {"problems_per_step": 1}
    values = config(of_kind(KIND)).model_dump(mode="json") | {"stage": [stage]}
    settings = TrainConfig.model_validate(values)
    train(graphs(), settings, tmp_path / "whole")
    done = train(graphs(), settings, tmp_path / "parts", on_step=ctrl_c_at(7))
    assert done.interrupted
    train(graphs(), settings, tmp_path / "parts", resume=True)
    whole, parts = ((tmp_path / name / POLICY).read_bytes() for name in ("whole", "parts"))
    assert whole == parts
