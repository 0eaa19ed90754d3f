"""Tests of the choices of walks."""

import numpy as np
import torch

import streamplace as sp
from streamplace.learning.policy.decoding import Sampler
from streamplace.scoring.registry import evaluator
from tests.support.giph import giph
from tests.support.graphs import preset_graph

SAMPLES, STEPS = 8, 10


def test_a_problem_without_relocations_stays_beside_one_with_some() -> None:
    free = sp.Problem(preset_graph("layered", operators=9), sp.Cluster.equal(3), source_rate=1e4)
    pinned = sp.Problem(preset_graph("layered", operators=6), sp.Cluster.equal(3), source_rate=1e4)
    names = pinned.graph.names
    pinned = pinned.with_constraints(sp.Constraints(pins=dict.fromkeys(names, "d1")))
    problems = [free, pinned]
    policy = giph()
    start = np.ones((2, SAMPLES, 9), np.int32)
    hot = Sampler(torch.Generator().manual_seed(0), temperature=1e5)
    with torch.no_grad():
        made = policy.rollout(
            policy.batch([policy.encode(problem) for problem in problems]),
            start,
            [STEPS, STEPS],
            hot,
            [evaluator(problem) for problem in problems],
        )
    assert (made.placements[1, :, : len(names)] == 1).all()
    assert (made.log_prob[1] == 0.0).all()
    assert (made.placements[0] != 1).any()
