"""The environment of one placement, and maskable PPO in it."""

import re
import subprocess
import sys
import warnings
from itertools import product
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given

import streamplace as sp
from benchmarks.reference.changes import shares
from benchmarks.reference.strategies import problems
from streamplace.errors import FormatError, GraphError, ProblemError, UsageError
from streamplace.learning.env import ID, PlacementEnv
from streamplace.scoring.throughput import throughput
from tests.support.paths import ROOT
from tests.support.strategies import constrained_problems

FEW = sp.Recipe("series-parallel", 20, sizes=range(6, 9))


def env_of(problem: sp.Problem) -> PlacementEnv:
    """Return an environment of one problem."""
    graph = sp.StreamGraph(
        problem.graph.operators,
        problem.graph.streams,
        source_shares=shares(problem.graph),
        constraints=problem.constraints,
    )
    rate, model = problem.source_rate, problem.model
    return PlacementEnv([graph], problem.cluster, source_rate=rate, model=model)


def play(env: PlacementEnv, rng: np.random.Generator) -> tuple[float, dict[str, Any]]:
    """Play a random episode within the masks, and return its reward and last info."""
    over = False
    while not over:
        action = rng.choice(np.flatnonzero(env.action_masks()))
        observation, reward, over, truncated, info = env.step(action)
        assert not truncated
        assert env.observation_space.contains(observation)
        assert over or reward == 0
    return reward, info


@pytest.mark.parametrize(
    "options", [{}, {"cluster": "3x2500"}, {"graphs": FEW, "cluster": "1x5000,2x1000x2"}]
)
def test_gymnasium_accepts_the_environment(options: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(ID, **options).unwrapped)
        env = gymnasium.make(ID, **options)  # wrapped in Gymnasium's passive checker
        env.reset(seed=3)
        over = False
        while not over:
            mask = env.get_wrapper_attr("action_masks")()
            _, _, over, _, _ = env.step(env.action_space.sample(mask.astype(np.int8)))


def test_the_same_seed_gives_the_same_episode() -> None:
    def record(seed: int) -> list[Any]:
        env = PlacementEnv(FEW, "3x2500")
        observation, info = env.reset(seed=seed)
        steps, rng, over = (
            [info["number"], observation.tolist()],
            np.random.default_rng(seed),
            False,
        )
        while not over:
            action = rng.choice(np.flatnonzero(env.action_masks()))
            observation, reward, over, _, _ = env.step(action)
            steps += [observation.tolist(), reward]
        return steps

    first = [record(seed) for seed in range(5)]
    assert first == [record(seed) for seed in range(5)]
    assert len({episode[0] for episode in first}) > 1


@given(problem=problems())
def test_the_reward_is_the_score(problem: sp.Problem) -> None:
    env, rng = env_of(problem), np.random.default_rng(0)
    env.reset(seed=0)
    assert env.placement is None
    reward, info = play(env, rng)
    assert env.placement is not None
    achieved = throughput(problem, env.placement.devices)[0] / problem.source_rate
    assert reward == info["relative_throughput"] == pytest.approx(achieved, rel=1e-12)
    assert 0 <= reward <= 1


@given(problem=constrained_problems())
def test_masks_follow_the_constraints(problem: sp.Problem | None) -> None:
    """An episode within the masks is feasible, or ends in a dead end with reward 0."""
    if problem is None:
        return
    env, rng = (
        PlacementEnv([_constrained_graph(problem)], problem.cluster),
        np.random.default_rng(0),
    )
    for _ in range(5):
        env.reset(seed=0)
        reward, info = play(env, rng)
        if "infeasible" in info:
            assert reward == 0
            assert env.placement is None
        else:
            assert env.placement is not None
            assert problem.feasibility.violation(env.placement.devices) is None


def _constrained_graph(problem: sp.Problem) -> sp.StreamGraph:
    return sp.StreamGraph(
        problem.graph.operators,
        problem.graph.streams,
        source_rate=problem.source_rate,
        constraints=problem.constraints,
    )


def test_masks_exclude_only_equivalent_placements() -> None:
    """Every placement on equal devices can be played, up to renaming of devices."""
    graph = sp.StreamGraph(
        [(name, 1e5, 0) for name in "abcd"], [("a", "b"), ("a", "c"), ("b", "d")], source_rate=1
    )
    env, found = PlacementEnv([graph], "3x100"), set()
    for actions in product(range(3), repeat=4):
        env.reset(seed=0)
        for action in actions:
            if not env.action_masks()[action]:
                break
            env.step(np.int64(action))
        else:
            assert env.placement is not None
            found.add(tuple(env.placement.devices.tolist()))
    problem = sp.Problem(graph, "3x100")
    every = {
        tuple(sp.Placement(problem, list(devices)).canonical().devices.tolist())
        for devices in product(range(3), repeat=4)
    }
    assert {_groups(devices) for devices in found} == {_groups(devices) for devices in every}
    assert len(found) == len(every) == 14  # partitions of 4 operators into at most 3 groups


def _groups(devices: tuple[int, ...]) -> frozenset[frozenset[int]]:
    return frozenset(
        frozenset(v for v, d in enumerate(devices) if d == device) for device in devices
    )


def test_the_episode_ends_when_memory_runs_out() -> None:
    graph = sp.StreamGraph(
        [("a", 1, 0, 2.0), ("b", 1, 0, 2.0), ("c", 1, 0, 3.0)],
        [("a", "b"), ("b", "c")],
        source_rate=1,
    )
    cluster = sp.Cluster([sp.Device("x", 100, memory_bytes=4), sp.Device("y", 100, memory_bytes=4)])
    env = PlacementEnv([graph], cluster)
    env.reset(seed=0)
    assert env.action_masks().tolist() == [True, False]  # y is as good as x
    env.step(np.int64(0))
    assert env.action_masks().tolist() == [True, True]
    observation, reward, over, truncated, info = env.step(np.int64(1))
    assert (reward, over, truncated) == (0, True, False)
    assert info["infeasible"] == "no device is left for 'c'"
    assert not info["action_mask"].any()
    assert not observation.any()
    assert env.placement is None
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(np.int64(0))
    env.reset(seed=0)
    env.step(np.int64(0))
    env.step(np.int64(0))
    assert env.step(np.int64(1))[1] == 1.0


def test_an_action_that_breaks_a_rule_ends_the_episode() -> None:
    rules = sp.Constraints(pins={"a": "d1"}, exlocate=[["a", "c"]], colocate=[["a", "b"]])
    graph = sp.StreamGraph(
        [("a", 1, 0), ("b", 1, 0), ("c", 1, 0)], [("a", "b"), ("b", "c")], source_rate=1,
        constraints=rules,
    )  # fmt: skip
    env = PlacementEnv([graph], "3x100")
    env.reset(seed=0)
    assert env.action_masks().tolist() == [False, True, False]
    reason = "operator 'a' on device 'd0' violates a constraint, or exceeds its memory or resources"
    assert env.step(np.int64(0))[4]["infeasible"] == reason
    env.reset(seed=0)
    env.step(np.int64(1))
    assert env.action_masks().tolist() == [False, True, False]  # b must be with a
    env.step(np.int64(1))
    assert env.action_masks().tolist() == [
        True,
        False,
        False,
    ]  # c apart from them; d2 is as good as d0
    assert env.step(np.int64(2))[1] == 1.0


def test_graphs_come_from_datasets_recipes_and_lists(tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl"
    graphs = [FEW.graph(number) for number in range(3)]
    sp.write_dataset(path, graphs)
    starts = []
    for source in (path, str(path), graphs, sp.Recipe("series-parallel", 3, range(6, 9))):
        env = PlacementEnv(source, "3x2500")
        observation, info = env.reset(seed=0, options={"graph": 2})
        assert (info["number"], info["graph"]) == (2, "series-parallel_2")
        starts.append(observation.tolist())
    assert all(start == starts[0] for start in starts)


def test_errors_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="nowhere"):
        PlacementEnv(tmp_path / "nowhere.jsonl")
    with pytest.raises(UsageError, match="must be at least one StreamGraph"):
        PlacementEnv([])
    with pytest.raises(sp.StreamplaceError, match="must be COUNTxMIPS"):
        PlacementEnv(cluster="five")
    options: dict[str, Any]
    for options, message in (
        ({"model": "xx"}, "model: must be one of"),
        ({"target_utilisation": 2}, "target_utilisation: must be"),
        ({"graphs": 5}, "graphs: must be Iterable, not int"),
    ):
        with pytest.raises(sp.StreamplaceError, match=message):
            PlacementEnv(**options)
    env = PlacementEnv(FEW)
    with pytest.raises(UsageError, match="graph: must be a whole number"):
        env.reset(options={"graph": 0.5})
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(np.int64(0))
    with pytest.raises(UsageError, match="must be 0 to 19"):
        env.reset(options={"graph": 20})
    env.reset()
    with pytest.raises(gymnasium.error.InvalidAction):
        env.step(np.int64(5))
    without = sp.StreamGraph([("a", 1, 0)], name="lonely")
    with pytest.raises(ProblemError, match="lonely: source_rate"):
        PlacementEnv([without]).reset()
    heavy = sp.StreamGraph([("a", 1e300, 0)], source_rate=1)
    with pytest.raises(GraphError, match=r"graph 0: operators\[0\]: the load of 'a' overflows"):
        PlacementEnv(heavy).reset()


@pytest.mark.long
def test_a_trained_policy_beats_chance(tmp_path: Path) -> None:
    pytest.importorskip("sb3_contrib", reason="the extra rl is not installed")
    script = ROOT / "examples" / "maskable_ppo.py"
    done = subprocess.run(
        [sys.executable, str(script), "3000"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    chance, trained = map(float, re.findall(r"0\.\d{3}", done.stdout))
    assert trained > chance + 0.05
    assert "the trained policy is better" in done.stdout
