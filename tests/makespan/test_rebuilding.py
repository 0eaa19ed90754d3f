"""Walks that build parts of a placement anew."""

import numpy as np

import streamplace as sp
from streamplace.makespan.rebuilding import COUNTS, PARTS, Lane, RebuildProblem, choice_of
from streamplace.scoring.registry import evaluator
from tests.support.graphs import preset_graph

STEPS = 12


def test_a_choice_has_the_values_of_its_numbers() -> None:
    choice = choice_of([PARTS.index("heavy"), 1, 1, 2, 3, 1, 2, 0])
    assert choice == ("heavy", 0.35, True, 1.0, 3.0, 1, 1.0, False)


def test_the_loss_of_a_walk_never_rises_and_is_that_of_its_placement() -> None:
    devices = [sp.Device(name, 1000.0) for name in "abc"]
    network = sp.Network("pair", bandwidth_mbps=1e5, latency_s=0.0, overhead_s=0.0)
    graph, cluster = preset_graph("layered", 20, 2), sp.Cluster(devices, network)
    problem = sp.Problem(graph, cluster, objective=sp.Makespan())
    scored, rng = evaluator(problem), np.random.default_rng(0)
    lane = Lane(RebuildProblem.of(problem), np.zeros(20, np.int32), STEPS, scored)
    for t in range(STEPS):
        lane.act(t, np.array([t, *(rng.integers(count) for count in COUNTS)]))
    losses = lane.walk.losses
    assert (np.diff(losses) <= 0).all()
    assert losses[-1] < losses[0]
    assert losses[-1] == scored.loss(lane.walk.devices)[0]
