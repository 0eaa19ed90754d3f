"""Checks of policies that refine placements."""

import numpy as np
import torch

from streamplace.learning.policy.base import Refiner
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.trajectories import Trajectories
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator
from streamplace.testing.case import PolicyCase, batch_of, generator, graph_of, rolled_out
from streamplace.util.arrays import Ints

SAMPLES = 3
TOLERANCE = 1e-3  # of log-probabilities in single precision
OPERATORS = 5
HOT = 1e5  # a temperature at which every choice is uniform


def check_episodes(case: PolicyCase) -> None:
    """Check that episodes are as long as announced, valid, and reproducible from a seed."""
    policy, problems = Refiner.of(case.policy()), case.problems()
    batch = batch_of(policy, *problems)
    made = _rolled_out(policy, problems, 0)
    announced = [policy.episode(one) for one in batch.encoded]
    steps = made.mask.sum(dim=2)[:, 0].tolist()
    fault = f"episodes have {steps} steps, but episode() returns {announced}"
    case.require(steps == announced, "episodes", fault)
    for p, problem in enumerate(problems):
        operators, devices = len(problem.graph.names), len(problem.cluster.devices)
        placed, beyond = made.placements[p, :, :operators], made.placements[p, :, operators:]
        within = bool(((placed >= 0) & (placed < devices)).all())
        case.require(within, "episodes", f"devices must be 0 to {devices - 1}")
        case.require(bool((beyond == -1).all()), "episodes", "entries beyond the last must be -1")
    again = _rolled_out(policy, problems, 0)
    same = np.array_equal(made.placements, again.placements)
    case.require(same, "episodes", "the same seed gives different episodes")
    with torch.no_grad():
        hot, other = (
            rolled_out(policy, problems, SAMPLES, Sampler(generator(seed), temperature=HOT))
            for seed in (0, 1)
        )
    differs = not np.array_equal(hot.placements, other.placements)
    case.require(differs, "episodes", "different seeds give the same episodes")


def check_losses(case: PolicyCase) -> None:
    """Check losses, rewards and best placements against the placements that actions lead to.

    If an action is no relocation, only the first, the last and the best placement are checked.
    """
    policy, problems = Refiner.of(case.policy()), case.problems()
    made = _rolled_out(policy, problems, 0)
    if made.losses is None or made.best is None:
        raise AssertionError(f"{case.kind}: losses: a rollout returns no losses or no best one")
    for p, problem in enumerate(problems):
        scored = evaluator(problem)
        for s in range(SAMPLES):
            operators, steps = len(problem.graph.names), int(made.mask[p, s].sum())
            visited = made.placements[p, s : s + 1, :operators]
            expected = made.losses[p, s, : steps + 1]
            if policy.relocates:
                visited = _placements_of_walk(made, problem, p, s)
                expected = scored.loss(visited)
            ends = np.append(scored.loss(np.zeros(operators, np.int32)), scored.loss(visited[-1]))
            close = np.allclose(made.losses[p, s, : steps + 1], expected, rtol=1e-9)
            close &= np.allclose(expected[[0, -1]], ends, rtol=1e-9)
            case.require(close, "losses", "a loss is not that of the placement that was reached")
            best = scored.loss(made.best[p, s, :operators])[0]
            fault = f"the best placement has a loss of {best:.6g}, not {expected.min():.6g}"
            case.require(bool(np.isclose(best, expected.min(), rtol=1e-9)), "losses", fault)
            last = np.array_equal(made.placements[p, s, :operators], visited[-1])
            case.require(last, "losses", "the final placement is not that of the actions")
            fall = np.log(expected[0] / expected[-1])
            total = float(made.rewards[p, s].sum())
            fault = f"rewards add up to {total:.6g}, but the log of the loss falls by {fall:.6g}"
            case.require(bool(np.isclose(total, fall, atol=1e-9)), "losses", fault)


def check_refiner_batches(case: PolicyCase) -> None:
    """Check that log-probabilities do not depend on the other problems of a batch."""
    policy, problems = Refiner.of(case.policy()), case.problems()
    together = _rolled_out(policy, problems, 0)
    for p, problem in enumerate(problems):
        steps = int(together.mask[p, 0].sum())
        forced = together.actions[p : p + 1, :, :steps].numpy()
        with torch.no_grad():
            alone = rolled_out(policy, [problem], SAMPLES, Sampler(), forced=forced)
        kept = torch.equal(alone.actions, together.actions[p : p + 1, :, :steps])
        case.require(kept, "batches", "a rollout does not take the forced actions")
        worst = float((alone.log_probability[0] - together.log_probability[p]).abs().max())
        fault = f"log-probabilities of a problem alone and in a batch differ by {worst:.2g}"
        case.require(worst <= TOLERANCE, "batches", fault)


def check_refiner_evaluate(case: PolicyCase) -> None:
    """Check that `evaluate` gives actions the same probabilities, and those of new parameters."""
    policy, problems = Refiner.of(case.policy()), case.problems()
    batch, made = batch_of(policy, *problems), _rolled_out(policy, problems, 0)
    with torch.no_grad():
        again = policy.evaluate(batch, made)
        case.require(torch.equal(made.actions, again.actions), "evaluate", "actions change")
        worst = float((made.log_prob - again.log_prob).abs().max())
        fault = f"log-probabilities differ by {worst:.2g} from those of the rollout"
        case.require(worst <= TOLERANCE, "evaluate", fault)
        for parameter in policy.parameters():
            parameter.mul_(0.5)
        changed = policy.evaluate(batch, made)
    differs = float((made.log_prob - changed.log_prob).abs().max()) > TOLERANCE
    case.require(differs, "evaluate", "new parameters do not change log-probabilities")


def check_steps(case: PolicyCase) -> None:
    """Check that the probabilities of the first step's actions add up to 1, and its entropy.

    The policy takes every pair of an operator and a device, or the pairs of its own operator.
    """
    policy = Refiner.of(case.policy())
    problem = case.problem(graph_of(OPERATORS, 0), case.cluster(1))
    devices = len(problem.cluster.devices)
    steps = policy.episode(policy.encode(problem))
    forced = np.full((1, OPERATORS * devices, steps, 2), -1)
    forced[0, :, 0, 0], forced[0, :, 0, 1] = np.divmod(np.arange(OPERATORS * devices), devices)
    with torch.no_grad():
        made = rolled_out(policy, [problem], OPERATORS * devices, Sampler(), forced=forced)
    actions = [tuple(action) for action in made.actions[0, :, 0].tolist()]
    different = [actions.index(action) for action in dict.fromkeys(actions)]
    of_actions = made.log_prob[0, different, 0].sum(dim=1).double()
    total = float(of_actions.exp().sum())
    fault = f"the probabilities of the first step's actions add up to {total:.6f}, not 1"
    case.require(abs(total - 1.0) <= TOLERANCE, "probabilities", fault)
    terms = torch.special.entr(of_actions.exp())
    expected, found = float(terms.sum()), float(made.entropy[0, 0, 0].sum())
    fault = f"the entropy of the first step is {found:.4f} nats, not {expected:.4f}"
    case.require(abs(found - expected) <= TOLERANCE, "probabilities", fault)


def _rolled_out(policy: Refiner, problems: list[Problem], seed: int) -> Trajectories:  # type: ignore[type-arg]
    """Return sampled episodes without gradients."""
    with torch.no_grad():
        return rolled_out(policy, problems, SAMPLES, Sampler(generator(seed)))


def _placements_of_walk(made: Trajectories, problem: Problem, p: int, s: int) -> Ints:
    """Return the placements before each step and at the end, (T + 1, V)."""
    actions = made.actions[p, s][made.mask[p, s]].numpy()
    unit_of = problem.feasibility.unit_of
    placements = np.zeros((len(actions) + 1, len(problem.graph.names)), dtype=np.int32)
    for t, (operator, device) in enumerate(actions.tolist()):
        placements[t + 1] = placements[t]
        placements[t + 1, unit_of == unit_of[operator]] = device
    return placements
