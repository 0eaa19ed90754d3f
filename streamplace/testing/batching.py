"""Checks of samples: the same from the same seed, alone or in a batch, forced or free."""

import numpy as np
import torch

from streamplace.policy.decoding import Sampler
from streamplace.testing.case import PolicyCase, batch_of, generator

SAMPLES = 4
TOLERANCE = 1e-3  # of log-probabilities in single precision


def check_samples(case: PolicyCase) -> None:
    """Check that samples are placements, and the same from the same seed and in rollouts."""
    policy, problems = case.policy(), case.problems()
    batch = batch_of(policy, *problems)
    made = policy.sample(batch, SAMPLES, Sampler(generator()))
    shape = (len(problems), SAMPLES, len(problems[0].graph.names))
    case.require(made.shape == shape, "samples", f"sample() has shape {made.shape}, not {shape}")
    for problem, rows in zip(problems, made, strict=True):
        operators, devices = len(problem.graph.names), len(problem.cluster.devices)
        placed, beyond = rows[:, :operators], rows[:, operators:]
        within = bool(((placed >= 0) & (placed < devices)).all())
        case.require(within, "samples", f"a device is not one of 0 to {devices - 1}")
        case.require(bool((beyond == -1).all()), "samples", "an operator beyond the last is placed")
    again = policy.sample(batch, SAMPLES, Sampler(generator()))
    case.require(np.array_equal(made, again), "samples", "the same seed gives other samples")
    greedy = policy.sample(batch, 1, Sampler())
    with torch.no_grad():
        rollout = policy.rollout(batch, 1, Sampler()).placements
    fault = "sample() and rollout() place otherwise, though both take the likeliest devices"
    case.require(np.array_equal(greedy, rollout), "samples", fault)


def check_batches(case: PolicyCase) -> None:
    """Check that placements are as likely alone as in a batch with others."""
    policy, problems = case.policy(), case.problems()
    with torch.no_grad():
        together = policy.rollout(batch_of(policy, *problems), SAMPLES, Sampler(generator()))
        for p, problem in enumerate(problems):
            rows = together.placements[p, :, : len(problem.graph.names)]
            alone = policy.rollout(batch_of(policy, problem), SAMPLES, Sampler(), rows[None])
            kept = np.array_equal(alone.placements[0], rows)
            case.require(kept, "batches", "a forced placement comes out as another")
            difference = alone.log_probability[0] - together.log_probability[p]
            worst = float(difference.abs().max())
            fault = f"log-probabilities differ by {worst:.2g} alone and in a batch"
            case.require(worst <= TOLERANCE, "batches", fault)


def check_evaluate(case: PolicyCase) -> None:
    """Check that `evaluate` scores the actions of a rollout as the rollout did."""
    policy = case.policy()
    batch = batch_of(policy, *case.problems())
    with torch.no_grad():
        made = policy.rollout(batch, SAMPLES, Sampler(generator()))
        again = policy.evaluate(batch, made)
    case.require(
        torch.equal(made.actions, again.actions), "evaluate", "the actions are not those of before"
    )
    worst = float((made.log_prob - again.log_prob).abs().max())
    fault = f"log-probabilities of steps differ by {worst:.2g} from those of the rollout"
    case.require(worst <= TOLERANCE, "evaluate", fault)
    case.require(bool((made.log_prob <= 0).all()), "evaluate", "a log-probability is above 0")
    sizes = made.mask.sum(dim=2)
    case.require(bool((sizes > 0).all()), "evaluate", "a trajectory has no step")
