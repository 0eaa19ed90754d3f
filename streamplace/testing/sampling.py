"""The check that samples follow the policy's probabilities and the sampler's settings."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from streamplace.policy.base import Constructive, constructive
from streamplace.policy.decoding import UNAVAILABLE, Sampler
from streamplace.problem.problem import Problem
from streamplace.testing.case import PolicyCase, copies_of, generator
from streamplace.testing.probabilities import choices_of, scored_choices, small_problems
from streamplace.util.arrays import Floats, Ints

DRAWS = 1000
CHANCE = 1e-4  # largest probability that a correct policy fails a comparison
HOT = 1e5  # a temperature at which every choice is uniform


def check_sampling(case: PolicyCase) -> None:
    """Check the frequencies of the placements of small problems, and that seeds matter.

    Frequencies must match the log-probabilities. If the policy offers all placements, they must be
    equally frequent at a high temperature, and with an exploration of 1. Only the first decoding
    order is checked.
    """
    policy = constructive(case.policy())
    for problem in small_problems(case):
        scored = scored_choices(policy, problem, choices_of(policy, problem))
        logs = scored.log_probability[:, 0].cpu().double()
        rows, which = np.unique(scored.placements[:, 0], axis=0, return_inverse=True)
        probability = np.minimum(np.bincount(which.reshape(-1), logs.exp().numpy()), 1.0)
        _compare(case, policy, problem, rows, probability, Sampler(generator()), "samples")
        every = len(rows) == len(problem.cluster.devices) ** len(problem.graph.names)
        if every and float(logs.min()) > UNAVAILABLE / 2:
            even = np.full(len(rows), 1 / len(rows))
            hot = Sampler(generator(1), temperature=HOT)
            _compare(case, policy, problem, rows, even, hot, f"samples at temperature {HOT:g}")
            exploring = Sampler(generator(2), exploration=1.0)
            _compare(case, policy, problem, rows, even, exploring, "samples with exploration=1")
        one, other = (
            _drawn(policy, problem, Sampler(generator(seed), temperature=HOT)) for seed in (3, 4)
        )
        fault = "different seeds give the same samples"
        case.require(len(rows) == 1 or not np.array_equal(one, other), "sampling", fault)


def _compare(
    case: PolicyCase,
    policy: Constructive[Any, Any],
    problem: Problem,
    rows: Ints,
    probability: Floats,
    sampler: Sampler,
    subject: str,
) -> None:
    """Require samples and rollouts to make placements, (N, V), with probabilities, (N,).

    Each of the N counts can be too large or too small; each of these 2N faults has an equal share
    of `CHANCE`.
    """
    allowed = np.log(2 * len(rows) / CHANCE)
    for drawn in (_drawn(policy, problem, sampler), _rolled_out(policy, problem, sampler)):
        distinct, counts = np.unique(np.concatenate([rows, drawn]), axis=0, return_counts=True)
        fault = f"{subject} include placements that canonical() does not return"
        case.require(len(distinct) == len(rows), "sampling", fault)
        exponents = chernoff_exponents(counts - 1, probability)  # `rows` adds 1
        worst = int(exponents.argmax())
        fault = (
            f"{subject} make a placement {counts[worst] - 1} times in {DRAWS} draws, but its "
            f"probability is {probability[worst]:.4f}"
        )
        case.require(bool(exponents[worst] <= allowed), "sampling", fault)


def chernoff_exponents(counts: NDArray[np.integer], probability: Floats) -> Floats:
    """Return x for each count, (N,).

    By Chernoff's bound, a count at least as far above its mean, or below it, has a probability of
    at most e^-x. x is DRAWS times the Kullback-Leibler divergence of the frequency from the
    probability. The bound also holds for rare placements, whose counts are not normal.
    """
    frequency = counts / DRAWS
    terms = _divergence(frequency, probability) + _divergence(1 - frequency, 1 - probability)
    return DRAWS * terms


def _divergence(frequency: Floats, probability: Floats) -> Floats:
    """Return f log(f / p), which is 0 where f is 0, and infinite where only p is."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = frequency * (np.log(frequency) - np.log(probability))
    return np.where(frequency > 0.0, terms, 0.0)


def _drawn(policy: Constructive[Any, Any], problem: Problem, sampler: Sampler) -> Ints:
    """Return samples of a problem, (DRAWS, V): the first sample of each copy in a batch."""
    made: Ints = policy.sample(copies_of(policy, problem, DRAWS), 1, sampler)[:, 0]
    return made


def _rolled_out(policy: Constructive[Any, Any], problem: Problem, sampler: Sampler) -> Ints:
    """Return placements by rollouts, (DRAWS, V): the first sample of each copy in a batch."""
    with torch.no_grad():
        made = policy.rollout(copies_of(policy, problem, DRAWS), 1, sampler)
    return made.placements[:, 0]
