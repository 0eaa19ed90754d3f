"""The check that samples follow the policy's probabilities, and the settings of the sampler."""

import numpy as np
import torch

from streamplace.policy.base import AnyPolicy
from streamplace.policy.decoding import UNAVAILABLE, Sampler
from streamplace.problem.problem import Problem
from streamplace.testing.case import PolicyCase, copies_of, generator
from streamplace.testing.probabilities import placements_of, scored_placements, small_problems
from streamplace.util.arrays import Floats, Ints

DRAWS = 1000
DEVIATIONS = 5.0  # standard ones, beyond which a frequency is no chance
SPARE = 2.0  # draws: the counts of rare placements are not normal
HOT = 1e5  # a temperature at which every choice is uniform


def check_sampling(case: PolicyCase) -> None:
    """Check how often small problems are placed in each way, and that seeds matter.

    Samples occur as often as their log-probabilities say. Where all placements are offered, they
    are equally likely at a high temperature, and where the sampler explores all the time. Only the
    first decoding order counts.
    """
    policy = case.policy()
    for problem in small_problems(case):
        rows = placements_of(policy, problem)
        logs = scored_placements(policy, problem, rows).log_probability[:, 0].cpu().double()
        likely = logs.exp().numpy()
        _compare(case, policy, problem, rows, likely, Sampler(generator()), "samples")
        every = len(rows) == len(problem.cluster.devices) ** len(problem.graph.names)
        if every and float(logs.min()) > UNAVAILABLE / 2:
            even = np.full(len(rows), 1 / len(rows))
            hot = Sampler(generator(1), temperature=HOT)
            _compare(case, policy, problem, rows, even, hot, f"at temperature {HOT:g} samples")
            exploring = Sampler(generator(2), exploration=1.0)
            _compare(case, policy, problem, rows, even, exploring, "with exploration=1 samples")
        one, other = (
            _drawn(policy, problem, Sampler(generator(seed), temperature=HOT)) for seed in (3, 4)
        )
        fault = "samples of different seeds are the same"
        case.require(not np.array_equal(one, other), "sampling", fault)


def _compare(
    case: PolicyCase,
    policy: AnyPolicy,
    problem: Problem,
    rows: Ints,
    likely: Floats,
    sampler: Sampler,
    what: str,
) -> None:
    """Require samples and rollouts to make placements, (N, V), as often as is likely, (N,)."""
    wide = DEVIATIONS * np.sqrt(DRAWS * likely * (1 - likely)) + SPARE
    for drawn in (_drawn(policy, problem, sampler), _rolled_out(policy, problem, sampler)):
        found, counts = np.unique(np.concatenate([rows, drawn]), axis=0, return_counts=True)
        fault = f"{what} are placements that canonical() does not know"
        case.require(len(found) == len(rows), "sampling", fault)
        surprise = np.abs(counts - 1 - DRAWS * likely) / wide  # each row is there once by itself
        worst = int(surprise.argmax())
        fault = (
            f"{what} make a placement {counts[worst] - 1} times of {DRAWS}, and its probability is "
            f"{likely[worst]:.4f}"
        )
        case.require(bool(surprise[worst] <= 1), "sampling", fault)


def _drawn(policy: AnyPolicy, problem: Problem, sampler: Sampler) -> Ints:
    """Return samples of a problem, (DRAWS, V), each the first of its own copy."""
    made: Ints = policy.sample(copies_of(policy, problem, DRAWS), 1, sampler)[:, 0]
    return made


def _rolled_out(policy: AnyPolicy, problem: Problem, sampler: Sampler) -> Ints:
    """Return placements of rollouts, (DRAWS, V), each the first of its own copy."""
    with torch.no_grad():
        made = policy.rollout(copies_of(policy, problem, DRAWS), 1, sampler)
    return made.placements[:, 0]
