"""Checks of samples: validity, batches, and the probabilities that they follow."""

from collections.abc import Iterator
from itertools import permutations, product
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from streamplace.learning.policy.base import Constructive
from streamplace.learning.policy.decoding import UNAVAILABLE, Sampler
from streamplace.learning.policy.trajectories import Trajectories
from streamplace.problem.problem import Problem
from streamplace.testing.case import (
    PolicyCase,
    batch_of,
    copies_of,
    force_trajectories,
    generator,
    graph_of,
)
from streamplace.util.arrays import Floats, Ints

SAMPLES = 4
OPERATORS = 4  # of small problems
TOLERANCE = 1e-3  # of log-probabilities and sums of probabilities in single precision
DRAWS = 1000
CHANCE = 1e-4  # largest probability that a correct policy fails a comparison
HOT = 1e5  # a temperature at which every choice is uniform


def check_samples(case: PolicyCase) -> None:
    """Check that samples are valid, reproducible from a seed, and consistent with rollouts."""
    policy, problems = Constructive.of(case.policy()), case.problems()
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
    policy, problems = Constructive.of(case.policy()), case.problems()
    with torch.no_grad():
        together = policy.rollout(batch_of(policy, *problems), SAMPLES, Sampler(generator()))
        for p, problem in enumerate(problems):
            operators = len(problem.graph.names)
            rows = together.placements[p, :, :operators]
            forced = force_trajectories(policy, together)[p : p + 1, :, :operators]
            alone = policy.rollout(batch_of(policy, problem), SAMPLES, Sampler(), forced)
            kept = np.array_equal(alone.placements[0], rows)
            case.require(kept, "batches", "a rollout does not return the forced placement")
            difference = alone.log_probability[0] - together.log_probability[p]
            worst = float(difference.abs().max())
            fault = f"log-probabilities of a problem alone and in a batch differ by {worst:.2g}"
            case.require(worst <= TOLERANCE, "batches", fault)


def check_evaluate(case: PolicyCase) -> None:
    """Check that `evaluate` gives the actions of a rollout the same probabilities."""
    policy = Constructive.of(case.policy())
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


def check_probabilities(case: PolicyCase) -> None:
    """Check that the probabilities of all placements add up to 1, on equal and unequal devices.

    Only the first decoding order is checked if samples cycle through several. If the policy selects
    operators, every order of them counts.
    """
    policy = Constructive.of(case.policy())
    for problem in small_problems(case):
        rows = choices_of(policy, problem)
        scored = scored_choices(policy, problem, rows)
        total = float(scored.log_probability.double().exp().sum())
        what = "sequences of actions" if policy.selects else "placements"
        fault = f"the probabilities of all {len(rows)} {what} add up to {total:.6f}, not 1"
        case.require(abs(total - 1.0) <= TOLERANCE, "probabilities", fault)


def check_entropy(case: PolicyCase) -> None:
    """Check that the entropies of steps add up to the entropy of placements.

    By the chain rule, the entropy of a distribution over placements, or over sequences of actions,
    is the expectation of the sum of their step entropies. Only the first decoding order is checked.
    """
    policy = Constructive.of(case.policy())
    for problem in small_problems(case):
        scored = scored_choices(policy, problem, choices_of(policy, problem))
        probability = scored.log_probability.double().exp()
        total = float(torch.special.entr(probability).sum())
        steps = float((probability * scored.entropy.sum(dim=(2, 3))).sum())
        fault = (
            f"the entropies of steps add up to {steps:.4f} nats on average, but the placements "
            f"have {total:.4f} nats"
        )
        case.require(abs(steps - total) <= TOLERANCE * max(1.0, total), "entropy", fault)


def small_problems(case: PolicyCase) -> Iterator[Problem]:
    """Yield problems with few placements, on equal and unequal devices."""
    for seed in (None, 1):
        yield case.problem(graph_of(OPERATORS, 0), case.cluster(seed))


def choices_of(policy: Constructive[Any, Any], problem: Problem) -> Ints:
    """Return all that a policy can make of a small problem, as `forced` of its rollouts.

    These are placements, (N, V), or sequences of actions, (N, V, 2), if it selects operators. Their
    devices are -1 if it does not choose devices.
    """
    encoded = policy.encode(problem)
    operators, devices = len(problem.graph.names), len(problem.cluster.devices)
    every = np.array(list(product(range(devices), repeat=operators)), dtype=np.int32)
    if not policy.selects:
        return np.unique([policy.canonical(encoded, row, 0) for row in every], axis=0)
    if not policy.places:
        every = np.full((1, operators), -1, np.int32)
    sequences = [
        np.stack([np.broadcast_to(order, every.shape), every[:, order]], axis=2)
        for order in _orders(problem)
    ]
    return np.concatenate(sequences).astype(np.int32)


def _orders(problem: Problem) -> Iterator[Ints]:
    """Yield every order, (V,), in which no operator comes before one of its inputs."""
    graph = problem.graph
    for order in permutations(range(len(graph.names))):
        position = np.argsort(order)
        if (position[graph.stream_source] < position[graph.stream_target]).all():
            yield np.array(order, np.int32)


def scored_choices(policy: Constructive[Any, Any], problem: Problem, rows: Ints) -> Trajectories:
    """Return the trajectories, (N, 1, …), of `choices_of`, in the first decoding order."""
    batch = copies_of(policy, problem, len(rows))
    with torch.no_grad():
        return policy.rollout(batch, 1, Sampler(), rows[:, None])


def check_actions(case: PolicyCase) -> None:
    """Check that every operator is placed in exactly one step, on the device of its action."""
    policy, problems = Constructive.of(case.policy()), case.problems()
    with torch.no_grad():
        made = policy.rollout(batch_of(policy, *problems), SAMPLES, Sampler(generator()))
    sizes = np.array([len(problem.graph.names) for problem in problems])
    steps = made.mask.sum(dim=2).cpu().numpy()
    fault = f"mask has {steps[:, 0].tolist()} steps for {sizes.tolist()} operators"
    case.require(bool((steps == sizes[:, None]).all()), "actions", fault)
    for p, size in enumerate(sizes.tolist()):
        for s in range(SAMPLES):
            placed = _decisions(made, p, s)
            fault = "the actions do not name every operator exactly once"
            case.require(sorted(placed[:, 0].tolist()) == list(range(size)), "actions", fault)
            devices = made.placements[p, s, placed[:, 0]]
            fault = "the devices of the actions differ from those of the placement"
            case.require(np.array_equal(devices, placed[:, 1]), "actions", fault)


def _decisions(made: Trajectories, problem: int, sample: int) -> Ints:
    """Return the operator and the device of each step, (T, 2)."""
    actions = made.actions[problem, sample][made.mask[problem, sample]]
    placed: Ints = actions.cpu().numpy()
    return placed


def check_sampling(case: PolicyCase) -> None:
    """Check the frequencies of the placements of small problems, and that seeds matter.

    Frequencies must match the log-probabilities. If the policy offers all placements, they must be
    equally frequent at a high temperature, and with an exploration of 1. Only the first decoding
    order is checked.
    """
    policy = Constructive.of(case.policy())
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
            _first_samples(policy, problem, Sampler(generator(seed), temperature=HOT))
            for seed in (3, 4)
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
    for drawn in (_first_samples(policy, problem, sampler), _rolled_out(policy, problem, sampler)):
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


def _first_samples(policy: Constructive[Any, Any], problem: Problem, sampler: Sampler) -> Ints:
    """Return samples of a problem, (DRAWS, V): the first sample of each copy in a batch."""
    made: Ints = policy.sample(copies_of(policy, problem, DRAWS), 1, sampler)[:, 0]
    return made


def _rolled_out(policy: Constructive[Any, Any], problem: Problem, sampler: Sampler) -> Ints:
    """Return placements by rollouts, (DRAWS, V): the first sample of each copy in a batch."""
    with torch.no_grad():
        made = policy.rollout(copies_of(policy, problem, DRAWS), 1, sampler)
    return made.placements[:, 0]
