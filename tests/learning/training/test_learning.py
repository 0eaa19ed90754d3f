"""Learning: training improves the placements of a tiny network, and it imitates its teacher."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.reference.trainings import config, graphs, of_kind, opened
from streamplace import Cluster, Constraints, Operator, Problem, Stream, StreamGraph
from streamplace.families import Recipe
from streamplace.learning.training import train
from tests.support.training_runs import log_of

OPTIMISER = {"rate": 1e-2, "final_rate": 1e-3}
KINDS = ["device-scorer", "encoder-decoder"]


def rewards_of(seed: int, folder: Path) -> list[float]:
    """Return the mean reward of every step of a run; each step uses all six graphs."""
    stage = {"epochs": 50, "problems_per_step": 6, "samples": 8, "random_samples": 0.0}
    stage["entropy"] = 0.0
    run = {"held_out": 0, "checkpoint_every": 100, "seed": seed}
    train(graphs(), config(stage=stage, optimiser=OPTIMISER, run=run), folder)
    return [line["reward"] for line in log_of(folder)]


@pytest.mark.parametrize("seed", [0, 1])
def test_the_reward_rises(seed: int, tmp_path: Path) -> None:
    """The rise is 0.2 to 0.45 of the source rate, whatever the seed."""
    found = rewards_of(seed, tmp_path / "run")
    assert np.mean(found[-5:]) > np.mean(found[:5]) + 0.15


@pytest.mark.parametrize("kind", KINDS)
def test_a_teacher_is_imitated(kind: str, tmp_path: Path) -> None:
    """The loss is the negative log-likelihood of the teacher's decisions, in nats."""
    cfg = config(
        of_kind(kind),
        teacher={"placer": "greedy", "epochs": 25},
        stage={"epochs": 1, "problems_per_step": 6, "entropy": 0.0},
        optimiser=OPTIMISER,
        run={"held_out": 0, "checkpoint_every": 100},
    )
    train(graphs(), cfg, tmp_path / "run")
    losses = [line["loss"] for line in log_of(tmp_path / "run") if "reward" not in line]
    assert len(losses) == 25
    assert all(loss > 0 for loss in losses)
    assert losses[-1] < 0.8 * losses[0]


@pytest.mark.parametrize("orders", [[0], [1], [0, 1]], ids=str)
def test_remembered_placements_could_have_been_sampled(orders: list[int], tmp_path: Path) -> None:
    """The loss of a device that was never a candidate would be huge."""
    recipe = Recipe("series-parallel", 4, range(12, 20), seed=1)
    cfg = config(
        {"policy": {"sizes": {"hidden": 8, "hops": 1, "orders": orders}}},
        problems={"devices": ["4x2500"]},
        run={"held_out": 0},
    )
    train([recipe.graph(i) for i in range(4)], cfg, tmp_path / "run")
    assert max(abs(line["loss"]) for line in log_of(tmp_path / "run")) < 1e3


def pinned_chain() -> StreamGraph:
    """Return a chain with three pinned operators."""
    return StreamGraph(
        [Operator(name, 1e5, 100.0) for name in "abcd"],
        [Stream("a", "b"), Stream("b", "c"), Stream("c", "d")],
        source_rate=1e4,
        constraints=Constraints(pins={"a": "d0", "b": "d0", "c": "d1"}),
    )


@pytest.mark.parametrize("random_samples", [0.0, 3.0])
def test_only_feasible_placements_are_remembered(random_samples: float, tmp_path: Path) -> None:
    """Training never learns from a placement that violates constraints, not even a random one."""
    cfg = config(
        problems={"devices": ["3x2500"], "networks": ["pair"], "bandwidth_mbps": [1000.0]},
        stage={"epochs": 6, "random_samples": random_samples},
        run={"held_out": 0},
    )
    graph = pinned_chain()
    train([graph], cfg, tmp_path / "run")
    assert max(abs(line["loss"]) for line in log_of(tmp_path / "run")) < 1e3
    tensors, _ = opened(tmp_path / "run" / "checkpoint.safetensors")
    rows = tensors["memory.devices"].numpy().astype(np.int32).reshape(-1, len(graph.names))
    feasibility = Problem(graph, Cluster.parse("3x2500")).feasibility
    assert len(rows) > 0
    assert [row for row in rows if feasibility.violation(row) is not None] == []


def test_random_placements_are_never_imitated(tmp_path: Path) -> None:
    """The imitation term has no effect while the memory is empty."""
    cfg = config(
        stage={"epochs": 1, "random_samples": 2.0, "entropy": 0.0},
        memory={"imitate": 1000.0, "threshold": 1e9},
    )
    train(graphs(), cfg, tmp_path / "run")
    assert max(abs(line["loss"]) for line in log_of(tmp_path / "run")) < 10.0


def test_validation_uses_feasible_placements(tmp_path: Path) -> None:
    """Operators that must be on different devices are, however slow the links."""
    names = ("a", "b", "c")
    graph = StreamGraph(
        [Operator(name, 1e4, 1e6) for name in names],
        [Stream("a", "b"), Stream("b", "c")],
        source_rate=1000.0,
        constraints=Constraints(exlocate=(names,)),
    )
    cfg = config(
        problems={"devices": ["3x2500"], "bandwidth_mbps": [1.0], "networks": ["pair"]},
        stage={"epochs": 1},
        memory={"threshold": -1e9},
    )
    train([graph, graph], cfg, tmp_path / "run")
    (validation,) = [
        line["validation"] for line in log_of(tmp_path / "run") if "validation" in line
    ]
    assert validation < 0.01
