"""Checks of samples, batches and the evaluation of actions."""

import numpy as np
import torch

from streamplace.policy.base import constructive
from streamplace.policy.decoding import Sampler
from streamplace.testing.case import PolicyCase, batch_of, generator, replayed

SAMPLES = 4
TOLERANCE = 1e-3  # of log-probabilities in single precision


def check_samples(case: PolicyCase) -> None:
    """Check that samples are valid, reproducible from a seed, and consistent with rollouts."""
    policy, problems = constructive(case.policy()), case.problems()
    batch = batch_of(policy, *problems)
    made = policy.sample(batch, SAMPLES, Sampler(generator()))
    shape = (len(problems), SAMPLES, len(problems[0].graph.names))
    fault = f"sample() must return shape {shape} (got {made.shape})"
    case.require(made.shape == shape, "samples", fault)
    for problem, rows in zip(problems, made, strict=True):
        operators, devices = len(problem.graph.names), len(problem.cluster.devices)
        placed, beyond = rows[:, :operators], rows[:, operators:]
        within = bool(((placed >= 0) & (placed < devices)).all())
        case.require(within, "samples", f"devices must be 0 to {devices - 1}")
        fault = "entries beyond the last operator must be -1"
        case.require(bool((beyond == -1).all()), "samples", fault)
    again = policy.sample(batch, SAMPLES, Sampler(generator()))
    case.require(np.array_equal(made, again), "samples", "the same seed gives different samples")
    greedy = policy.sample(batch, 1, Sampler())
    with torch.no_grad():
        rollout = policy.rollout(batch, 1, Sampler()).placements
    fault = "sample() and rollout() differ, though both must choose the most likely devices"
    case.require(np.array_equal(greedy, rollout), "samples", fault)


def check_batches(case: PolicyCase) -> None:
    """Check that log-probabilities do not depend on the other problems of a batch."""
    policy, problems = constructive(case.policy()), case.problems()
    with torch.no_grad():
        together = policy.rollout(batch_of(policy, *problems), SAMPLES, Sampler(generator()))
        for p, problem in enumerate(problems):
            operators = len(problem.graph.names)
            rows = together.placements[p, :, :operators]
            forced = replayed(policy, together)[p : p + 1, :, :operators]
            alone = policy.rollout(batch_of(policy, problem), SAMPLES, Sampler(), forced)
            kept = np.array_equal(alone.placements[0], rows)
            case.require(kept, "batches", "a rollout does not return the forced placement")
            difference = alone.log_probability[0] - together.log_probability[p]
            worst = float(difference.abs().max())
            fault = f"log-probabilities of a problem alone and in a batch differ by {worst:.2g}"
            case.require(worst <= TOLERANCE, "batches", fault)


def check_evaluate(case: PolicyCase) -> None:
    """Check that `evaluate` gives the actions of a rollout the same probabilities."""
    policy = constructive(case.policy())
    batch = batch_of(policy, *case.problems())
    with torch.no_grad():
        made = policy.rollout(batch, SAMPLES, Sampler(generator()))
        again = policy.evaluate(batch, made)
    same = torch.equal(made.actions, again.actions)
    case.require(same, "evaluate", "evaluate() changes the actions")
    worst = float((made.log_prob - again.log_prob).abs().max())
    fault = f"log-probabilities of steps differ by {worst:.2g} from those of the rollout"
    case.require(worst <= TOLERANCE, "evaluate", fault)
    case.require(bool((made.log_prob <= 0).all()), "evaluate", "a log-probability is above 0")
    sizes = made.mask.sum(dim=2)
    case.require(bool((sizes > 0).all()), "evaluate", "a trajectory has no steps")
