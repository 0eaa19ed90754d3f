"""Single episodes on problems of several sizes."""

import numpy as np

from streamplace.learning.policy.base import Refiner
from streamplace.learning.policy.registry import policy_section
from streamplace.learning.policy.weights import new_policy
from streamplace.papers.giph.study.episodes import episodes
from streamplace.scoring.registry import evaluator
from tests.support.refiners import pass_problem


def test_episodes_are_returned_in_the_order_of_the_problems() -> None:
    problems = [pass_problem(5, 0), pass_problem(9, 1), pass_problem(6, 2)]
    starts = [np.zeros(len(one.graph.names), np.int32) for one in problems]
    policy = Refiner.of(new_policy(policy_section({"kind": "giph"}), 0))
    found = episodes(policy, problems, starts, 2.0, 0)
    for problem, start, one in zip(problems, starts, found, strict=True):
        assert len(one.lowest) == 2 * len(start) + 1
        assert one.lowest[0] == evaluator(problem).loss(start)[0]
        assert one.lowest[-1] == evaluator(problem).loss(one.best)[0] <= one.lowest[0]
