"""Placeto's training: a penalty for memory, and rewards of the wrong sign."""

from functools import partial
from typing import Any

import numpy as np
import pytest

import streamplace as sp
from streamplace.learning.training.loop import Loop
from streamplace.papers.placeto.algorithm import PlacetoReinforce
from streamplace.util.arrays import Ints
from tests.support.refiners import placeto
from tests.support.stages import loop_of
from tests.support.step_stages import advantages, looped, stage

stage = partial(stage, algorithm="placeto")


def heavy_problem() -> sp.Problem:
    """Return a graph that is fastest on one device, whose memory its outputs exceed."""
    rows = [sp.Operator("a", 1e6, 1e6), sp.Operator("z", 1e6, 0.0)]
    rows += [sp.Operator(name, 1e6, 2e9) for name in "bcde"]
    streams = [("a", name) for name in "bcde"] + [(name, "z") for name in "bcde"]
    graph = sp.StreamGraph(rows, streams, firing="all")
    cluster = sp.Cluster.equal(3, network=sp.Network(bandwidth_mbps=1e7))
    return sp.Problem(graph, cluster, objective=sp.Makespan())


def penalised_starts(loop: Loop) -> list[Ints]:
    """Return the start of the next episode if the stage has a penalty."""
    algorithm = loop.algorithm
    if isinstance(algorithm, PlacetoReinforce) and algorithm.stage.memory_penalty:
        return algorithm._starts.of(0)
    return []


@pytest.mark.parametrize(
    "first", [stage(epochs=1), {"algorithm": "imitation", "teacher": "single", "epochs": 0}]
)
def test_placements_of_earlier_stages_are_penalised_too(first: dict[str, Any]) -> None:
    """Their rewards and those of new placements are of one kind."""
    penalty = {"memory_penalty": 5.0, "memory_limit_gb": 4.5}
    loop = loop_of([first, stage(epochs=20, **penalty)], placeto(), [heavy_problem()])
    starts = [start for _ in loop.steps() for start in penalised_starts(loop)]
    algorithm = loop.algorithm
    assert isinstance(algorithm, PlacetoReinforce)
    scored = algorithm._evaluator(0)
    for memory in (algorithm.memory, algorithm._starts):
        ((_, reward, row),) = memory.entries()
        assert reward == pytest.approx(-np.log(scored.loss(row)[0]))
        assert reward > -5.0, "a placement that the memory holds was found"
    falls = [float(scored.loss(row)[0]) for row in starts]
    assert falls == sorted(falls, reverse=True)


def test_problems_without_work_are_penalised_without_a_warning() -> None:
    """Rewards and validation have the same limit."""
    graph = sp.StreamGraph([sp.Operator("a", 0.0, 0.0), sp.Operator("b", 0.0, 0.0)], [("a", "b")])
    problem = sp.Problem(graph, sp.Cluster.equal(3), objective=sp.Makespan())
    loop = loop_of(
        [stage(memory_penalty=1.0, start="single", evaluate_every=1, epochs=1)],
        placeto(),
        [problem],
    )
    loop = Loop(loop.learner, loop.stages, loop.learner.encoded)
    (record,) = loop.steps()
    assert record["reward"] == pytest.approx(record["validation"]) == pytest.approx(30 * np.log(10))


def test_reversed_rewards_change_the_sign() -> None:
    plain, changed = (
        advantages(looped(algorithm="placeto", reversed_rewards=wrong), [0.0, 1.0], [2.0, 5.0])[1]
        for wrong in (False, True)
    )
    assert plain == [-x for x in changed]
    assert any(plain)
