"""The check that the steps of trajectories agree with their placements."""

import numpy as np
import torch

from streamplace.policy.base import constructive
from streamplace.policy.decoding import Sampler
from streamplace.policy.trajectories import Trajectories
from streamplace.testing.case import PolicyCase, batch_of, generator
from streamplace.util.arrays import Ints

SAMPLES = 3


def check_actions(case: PolicyCase) -> None:
    """Check that every operator is placed in exactly one step, on the device of its action."""
    policy, problems = constructive(case.policy()), case.problems()
    with torch.no_grad():
        made = policy.rollout(batch_of(policy, *problems), SAMPLES, Sampler(generator()))
    sizes = np.array([len(problem.graph.names) for problem in problems])
    steps = made.mask.sum(dim=2).cpu().numpy()
    fault = f"mask has {steps[:, 0].tolist()} steps for {sizes.tolist()} operators"
    case.require(bool((steps == sizes[:, None]).all()), "actions", fault)
    for p, size in enumerate(sizes.tolist()):
        for s in range(SAMPLES):
            placed = _placed(made, p, s)
            fault = "the actions do not name every operator exactly once"
            case.require(sorted(placed[:, 0].tolist()) == list(range(size)), "actions", fault)
            devices = made.placements[p, s, placed[:, 0]]
            fault = "the devices of the actions differ from those of the placement"
            case.require(np.array_equal(devices, placed[:, 1]), "actions", fault)


def _placed(made: Trajectories, problem: int, sample: int) -> Ints:
    """Return the operator and the device of each step, (T, 2)."""
    actions = made.actions[problem, sample][made.mask[problem, sample]]
    placed: Ints = actions.cpu().numpy()
    return placed
