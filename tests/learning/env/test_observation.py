"""Names and ranges of the numbers of an observation."""

import numpy as np

import streamplace as sp
from streamplace.learning.env import PlacementEnv
from streamplace.learning.env.observation import HIGHEST, OF_OPERATOR, OF_PROBLEM, size_of
from streamplace.learning.policy.device_scorer import features
from streamplace.sim.lookahead import F

FEW = sp.Recipe("series-parallel", 20, sizes=range(6, 9))


def test_every_number_of_an_observation_is_named() -> None:
    assert len(OF_OPERATOR) == features.OF_OPERATOR
    assert len(OF_PROBLEM) == features.OF_PROBLEM
    assert size_of(5) == 26 + 5 * (1 + F) == 26 + 29 * 5
    env = PlacementEnv(FEW, "2x100")  # badly overloaded
    observation, _ = env.reset(seed=0)
    assert np.abs(observation).max() <= HIGHEST
    offered = observation[26 :: 1 + F]
    assert offered.tolist() == env.action_masks().tolist() == [1, 0]
